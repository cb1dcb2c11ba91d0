package streamable

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// The protocol's headers, in the form that http.Header keys have.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerParam     = "Mcp-Param-"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-Id"
)

func mismatch(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "Header mismatch: " + fmt.Sprintf(format, args...)}
}

// only returns the value of a header that must be sent exactly once.
func only(h http.Header, name string) (string, *jsonrpc.Error) {
	switch values := h[name]; len(values) {
	case 0:
		return "", mismatch("%s is missing", name)
	case 1:
		return trim(values[0]), nil
	default:
		return "", mismatch("%s is sent %d times", name, len(values))
	}
}

// trim drops spaces and tabs around a value, of which net/http has left none.
func trim(value string) string {
	if value == "" || value[0] > ' ' && value[len(value)-1] > ' ' {
		return value
	}
	return strings.Trim(value, " \t")
}

// checkHeaders compares the headers of a modern request with its body: what
// routes requests by the headers must have seen the request that runs. See the
// spec's Server Validation.
func checkHeaders(h http.Header, in *lifecycle.Incoming, mirrors mirroring) *jsonrpc.Error {
	version, err := only(h, headerVersion)
	if err != nil {
		return err
	}
	inBody := in.Version()
	if jsonscan.KindOf(inBody) == jsonscan.String && !equalsJSON(version, inBody) {
		return mismatch("%s is %q, the body says %s", headerVersion, version, inBody)
	}
	if rev := revision.Lookup(version); rev == nil || !rev.RoutingHeaders {
		return nil // a version that is not spoken: the door says so
	}
	method, err := only(h, headerMethod)
	if err != nil {
		return err
	}
	if method != in.Method {
		return mismatch("%s is %q, the body says %q", headerMethod, method, in.Method)
	}
	name, err := checkName(h, in)
	if err != nil || mirrors == nil || in.Method != mcp.MethodCallTool {
		return err
	}
	return checkParams(h, in.Params, mirrors.HeaderParams(name))
}

// namedBy returns the member of a method's params that Mcp-Name repeats, empty
// for methods without one. The last three belong to the extension for deferred
// results.
func namedBy(method string) string {
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		return "name"
	case mcp.MethodReadResource:
		return "uri"
	case mcp.MethodGetDeferred, mcp.MethodUpdateDeferred, mcp.MethodCancelDeferred:
		return "taskId"
	}
	return ""
}

// checkName compares Mcp-Name with the member that it repeats and returns what
// they agree on, empty for methods without one.
func checkName(h http.Header, in *lifecycle.Incoming) (string, *jsonrpc.Error) {
	var inBody []byte
	switch member := namedBy(in.Method); member {
	case "":
		return "", nil
	case "name":
		inBody = in.Name()
	default:
		inBody = jsonscan.Get(in.Params, member)
	}
	if inBody == nil && len(h[headerName]) == 0 {
		return "", nil // the handler will miss it
	}
	text, err := only(h, headerName)
	if err != nil {
		return "", err
	}
	name, ok := decodeValue(text)
	if !ok {
		return "", mismatch("%s has a value that cannot be decoded", headerName)
	}
	if jsonscan.KindOf(inBody) != jsonscan.String || !equalsJSON(name, inBody) {
		return "", mismatch("%s is %q, the body says %s", headerName, name, orNothing(inBody))
	}
	return name, nil
}

// checkParams compares the Mcp-Param headers of a tool's call with its arguments.
// Headers that the tool does not know are nobody's business.
func checkParams(h http.Header, params []byte, mirrored []mcp.HeaderParam) *jsonrpc.Error {
	if len(mirrored) == 0 {
		return nil
	}
	arguments := jsonscan.Get(params, "arguments")
	for _, p := range mirrored {
		value := arguments
		for _, property := range p.Path {
			value = jsonscan.Get(value, property)
		}
		if err := checkParam(h, &p, value); err != nil {
			return err
		}
	}
	return nil
}

func checkParam(h http.Header, p *mcp.HeaderParam, value []byte) *jsonrpc.Error {
	key := http.CanonicalHeaderKey(headerParam + p.Name)
	if kind := jsonscan.KindOf(value); kind == jsonscan.Invalid || kind == jsonscan.Null {
		if len(h[key]) > 0 {
			return mismatch("%s is sent, and the body has no value for it", key)
		}
		return nil
	}
	text, err := only(h, key)
	if err != nil {
		return err
	}
	decoded, ok := decodeValue(text)
	if !ok {
		return mismatch("%s has a value that cannot be decoded", key)
	}
	if !equalsParam(decoded, value, p.Type) {
		return mismatch("%s is %q, the body says %s", key, decoded, value)
	}
	return nil
}

// equalsParam compares a header's value with a raw JSON value of the given type.
func equalsParam(text string, value []byte, kind string) bool {
	switch kind {
	case "string":
		return jsonscan.KindOf(value) == jsonscan.String && equalsJSON(text, value)
	case "boolean":
		return jsonscan.KindOf(value) == jsonscan.Bool && text == string(value)
	case "integer":
		a, okA := safeInteger([]byte(text))
		b, okB := safeInteger(value)
		return okA && okB && a == b
	}
	return false
}

// safeInteger reads a JSON number that is an integer, 42.0 included, in the range
// where every reader agrees on it.
func safeInteger(raw []byte) (float64, bool) {
	if jsonscan.KindOf(raw) != jsonscan.Number || jsonscan.Check(raw, 0) != nil {
		return 0, false
	}
	const most = 1<<53 - 1
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil && n == float64(int64(n)) && n >= -most && n <= most
}

// equalsJSON compares text with a raw JSON string.
func equalsJSON(text string, raw []byte) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return text == jsonscan.Unquote(raw)
	}
	return len(raw) >= 2 && text == string(raw[1:len(raw)-1])
}

// orNothing is a raw value for people.
func orNothing(raw []byte) string {
	if raw == nil {
		return "nothing"
	}
	return string(raw)
}

// The marks around a value that is base64 because a header cannot carry it as it
// is.
const (
	base64Prefix = "=?base64?"
	base64Suffix = "?="
)

// decodeValue undoes the encoding of a header's value; see the spec's Value
// Encoding. It reports false for base64 that is none or hides no UTF-8, and for
// characters that have no place in a header.
func decodeValue(text string) (string, bool) {
	if inner, ok := strings.CutPrefix(text, base64Prefix); ok && strings.HasSuffix(inner, base64Suffix) {
		plain, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, base64Suffix))
		return string(plain), err == nil && utf8.Valid(plain)
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c >= 0x7f {
			return "", false
		}
	}
	return text, true
}
