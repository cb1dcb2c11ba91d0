package load

import (
	"fmt"
	"strconv"
)

// Era is one of the two ways in which clients and servers get to know each other.
type Era string

const (
	// Legacy opens with initialize and, over HTTP, has a session.
	Legacy Era = "legacy"
	// Modern sends requests that describe themselves.
	Modern Era = "modern"
)

// The driver is a black box to the toolkit, so it writes the dates itself.
const (
	legacyDate = "2025-06-18"
	modernDate = "2026-07-28"
)

const (
	firstID = 1_000_000 // all ids have seven digits, so requests keep their length
	idWidth = 7
)

const (
	initializeParams = `{"protocolVersion":"` + legacyDate + `","capabilities":{},"clientInfo":{"name":"load","version":"1.0.0"}}`
	initialized      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta       = `"io.modelcontextprotocol/protocolVersion":"` + modernDate + `",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}`
)

// head is how every request begins; its id follows.
const head = `{"jsonrpc":"2.0","id":`

// body returns a whole request with the given id. Members are the params without
// braces, such as `"name":"add"`.
func (e Era) body(id int, method, members, progressToken string) []byte {
	meta := ""
	if e == Modern {
		meta = modernMeta
	}
	if progressToken != "" {
		if meta != "" {
			meta += ","
		}
		meta += `"progressToken":` + strconv.Quote(progressToken)
	}
	if meta != "" {
		meta = `"_meta":{` + meta + `}`
		if members != "" {
			meta += ","
		}
	}
	return fmt.Appendf(nil, `%s%d,"method":%q,"params":{%s%s}}`, head, id, method, meta, members)
}

// putID writes an id of seven digits at the start of p.
func putID(p []byte, id int) {
	for i := idWidth - 1; i >= 0; i-- {
		p[i] = byte('0' + id%10)
		id /= 10
	}
}

// getID reads an id of seven digits at the start of p.
func getID(p []byte) (id int, ok bool) {
	if len(p) < idWidth {
		return 0, false
	}
	for _, c := range p[:idWidth] {
		if c < '0' || c > '9' {
			return 0, false
		}
		id = id*10 + int(c-'0')
	}
	return id, true
}
