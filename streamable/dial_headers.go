package streamable

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// toolHeaders says which parameters of which tool headers repeat.
type toolHeaders struct {
	mu     sync.RWMutex
	byTool map[string][]toolHeader
}

type toolHeader struct {
	name string   // of the header
	path []string // to the parameter
}

// SetToolHeaders says which parameters the calls of a tool repeat in headers from
// now on. The keys are JSON pointers to parameters within the arguments, the
// values what follows Mcp-Param- in the header's name. None forgets the tool.
func (c *conn) SetToolHeaders(tool string, headers map[string]string) {
	var repeated []toolHeader
	for pointer, name := range headers {
		h := toolHeader{name: http.CanonicalHeaderKey(headerParam + name)}
		for property := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			h.path = append(h.path, unescapePointer.Replace(property))
		}
		repeated = append(repeated, h)
	}
	c.tools.mu.Lock()
	defer c.tools.mu.Unlock()
	switch {
	case repeated == nil:
		delete(c.tools.byTool, tool)
	case c.tools.byTool == nil:
		c.tools.byTool = map[string][]toolHeader{tool: repeated}
	default:
		c.tools.byTool[tool] = repeated
	}
}

// unescapePointer undoes the escapes in a part of a JSON pointer.
var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func (t *toolHeaders) of(tool string) []toolHeader {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byTool[tool]
}

// statelessHeader returns the headers of a message of the stateless era; see the
// spec's Request Metadata.
func (c *conn) statelessHeader(o *outline) http.Header {
	h := make(http.Header, 8)
	h["Content-Type"], h["Accept"] = typeJSON, acceptBoth
	values := []string{o.version, o.method, ""}
	if o.version != "" {
		h[headerVersion] = values[0:1:1]
	}
	h[headerMethod] = values[1:2:2]
	member := namedBy(o.method)
	if member == "" {
		return h
	}
	raw := jsonscan.Get(o.params, member)
	if jsonscan.KindOf(raw) != jsonscan.String {
		return h
	}
	name := jsonscan.Unquote(raw)
	values[2] = encodeValue(name)
	h[headerName] = values[2:3:3]
	if o.method == mcp.MethodCallTool {
		c.repeatParams(h, name, o.params)
	}
	return h
}

// repeatParams adds the headers that a tool's call has besides.
func (c *conn) repeatParams(h http.Header, tool string, params []byte) {
	headers := c.tools.of(tool)
	if len(headers) == 0 {
		return
	}
	arguments := jsonscan.Get(params, "arguments")
	for _, header := range headers {
		value := arguments
		for _, property := range header.path {
			value = jsonscan.Get(value, property)
		}
		if text, ok := headerText(value); ok {
			h[header.name] = []string{encodeValue(text)}
		}
	}
}

// headerText returns what a header says for a raw JSON value. Null, what is not
// there and what is no primitive have no header.
func headerText(raw []byte) (string, bool) {
	switch jsonscan.KindOf(raw) {
	case jsonscan.String:
		return jsonscan.Unquote(raw), true
	case jsonscan.Bool:
		return string(raw), true
	case jsonscan.Number:
		return decimal(string(raw)), true
	}
	return "", false
}

// decimal returns a JSON number without fraction and exponent if it is an integer
// that every reader can hold, else as it is.
func decimal(number string) string {
	if !strings.ContainsAny(number, ".eE") {
		return number
	}
	const most = 1<<53 - 1
	if n, err := strconv.ParseFloat(number, 64); err == nil && n >= -most && n <= most && n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return number
}

// encodeValue returns a text as a header can carry it; see the spec's Value
// Encoding.
func encodeValue(text string) string {
	if isPlainValue(text) {
		return text
	}
	return base64Prefix + base64.StdEncoding.EncodeToString([]byte(text)) + base64Suffix
}

// isPlainValue reports whether a text is a header's value as it is: it has only
// visible characters and blanks within, and does not look encoded.
func isPlainValue(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return strings.Trim(text, " ") == text &&
		!(strings.HasPrefix(text, base64Prefix) && strings.HasSuffix(text, base64Suffix))
}
