package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// canned holds the answers that never change.
type canned struct {
	list []byte // the result of tools/list
}

// A tool in the list is about as long as those of the others.
const oneTool = `{"name":%q,"description":"Search the archive for documents that match, newest first","inputSchema":{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words that the documents must hold"},` +
	`"limit":{"type":"integer","description":"How many documents to return at most"},` +
	`"tags":{"type":"array","items":{"type":"string"},"description":"Tags that the documents must all have"},` +
	`"since":{"type":"string","description":"The oldest date to look at, such as 2026-01-31"},` +
	`"author":{"type":"object","properties":{"name":{"type":"string","description":"Full name"},"email":{"type":"string","description":"Address"}},"required":["name"],"additionalProperties":false,"description":"Who wrote the documents"}},` +
	`"required":["query"],"additionalProperties":false}}`

func newCanned(tools int) *canned {
	names := []string{"add", "echo", "slow", "count"}
	for i := range tools {
		names = append(names, fmt.Sprintf("search_%03d", i))
	}
	for i, name := range names {
		names[i] = fmt.Sprintf(oneTool, name)
	}
	return &canned{list: []byte(`{"tools":[` + strings.Join(names, ",") + `],"ttlMs":0,"cacheScope":"public","resultType":"complete"}`)}
}

// reply is what to write for a request.
type reply struct {
	delay  time.Duration // before the answer
	events int           // notifications of progress before the answer
}

const initializeResult = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1.0.0"}}`

// answer appends the answer to a request; nothing for a notification.
func (c *canned) answer(dst, request []byte) ([]byte, reply) {
	id := between(request, `"id":`, ",")
	if id == nil {
		return dst, reply{}
	}
	dst = append(append(append(dst, `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
	var r reply
	switch {
	case has(request, `"name":"add"`):
		a, _ := strconv.Atoi(string(between(request, `"a":`, ",")))
		b, _ := strconv.Atoi(string(between(request, `"b":`, "}")))
		dst = append(dst, `{"content":[{"type":"text","text":"`...)
		dst = strconv.AppendInt(dst, int64(a+b), 10)
		dst = append(dst, `"}],"structuredContent":{"sum":`...)
		dst = append(strconv.AppendInt(dst, int64(a+b), 10), `},"resultType":"complete"}`...)
	case has(request, `"name":"echo"`):
		at := bytes.Index(request, []byte(`"text":"`)) + len(`"text":"`)
		text := request[at:bytes.LastIndex(request, []byte(`"}}}`))]
		dst = append(append(append(dst, `{"content":[{"type":"text","text":"`...), text...), `"}],"resultType":"complete"}`...)
	case has(request, `"name":"slow"`):
		ms, _ := strconv.Atoi(string(between(request, `"ms":`, "}")))
		r.delay = time.Duration(ms) * time.Millisecond
		dst = append(dst, done...)
	case has(request, `"name":"count"`):
		r.events, _ = strconv.Atoi(string(between(request, `"n":`, "}")))
		dst = append(dst, done...)
	case has(request, `"method":"tools/list"`):
		dst = append(dst, c.list...)
	default:
		dst = append(dst, initializeResult...)
	}
	return append(dst, '}'), r
}

const (
	done     = `{"content":[{"type":"text","text":"done"}],"resultType":"complete"}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"steps","progress":%d}}`
	acked    = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`
)

// The head of a request, up to this many bytes, says which it is.
const headBytes = 512

func has(request []byte, part string) bool {
	return bytes.Contains(request[:min(len(request), headBytes)], []byte(part))
}

// between returns what lies between two texts, or nil.
func between(request []byte, before, after string) []byte {
	i := bytes.Index(request[:min(len(request), headBytes)], []byte(before))
	if i < 0 {
		return nil
	}
	rest := request[i+len(before):]
	end := bytes.Index(rest, []byte(after))
	if end < 0 {
		return nil
	}
	return rest[:end]
}
