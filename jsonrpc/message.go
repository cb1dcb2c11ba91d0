package jsonrpc

import (
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Message is one request, notification or response. Its raw parts are slices of
// the text it was parsed from.
type Message struct {
	ID     ID             // zero in a notification, and in an error that answers no readable id
	Method string         // empty in a response
	Params jsontext.Value // an object, or nil
	Result jsontext.Value // of a response that succeeded
	Error  *Error         // of a response that failed
}

// IsRequest reports whether the message wants an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && !m.ID.IsZero() }

// IsNotification reports whether the message wants none.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID.IsZero() }

// IsResponse reports whether the message answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" }

// MaxDepth is how deep JSON may nest in a message.
const MaxDepth = 1000

// IsBatch reports whether text, which may be anything, would be a batch.
func IsBatch(text []byte) bool {
	return jsonscan.KindOf(jsonscan.Trim(text)) == jsonscan.Array
}

// Parse reads one message. The JSON must be strict: exact member names, no
// duplicates, valid UTF-8, nested at most [MaxDepth] deep. The error is an
// [*Error] to answer with; the message then still carries the id, if it could
// be read, the method, if only the params are wrong, and Result or Error if it
// was meant as a response, which nobody must answer.
func Parse(text []byte) (Message, error) {
	p := parsers.Get().(*Parser)
	m, err := p.Parse(text)
	p.Forget()
	parsers.Put(p)
	return m, err
}

var parsers = sync.Pool{New: func() any { return new(Parser) }}

// Parser is [Parse] for many messages, one at a time: it keeps what it needs from
// one to the next. The zero Parser is ready.
type Parser struct {
	// Deep is how many levels of Params [Parser.Members] tells of. 0: none.
	Deep int

	checker jsonscan.Checker
	members []Member // nil: they are not known
	method  string   // of the last request: mostly the next has the same
}

// Member is a member of a request's params, or of an object in them.
type Member = jsonscan.Part

// Members returns the members of the last message's Params, which have the depth 2,
// and of objects in them, each object's before the member that it is. It is nil if
// they are not known, since there are too many or the parser was not told to look.
// The slice holds until the next message, or until Forget.
func (p *Parser) Members() []Member { return p.members }

// Forget lets go of the last message.
func (p *Parser) Forget() {
	p.members = nil
	p.checker.Forget()
}

// Parse is [Parse].
func (p *Parser) Parse(text []byte) (Message, error) {
	p.members = nil
	parts, err := p.checker.Parts(text, MaxDepth, 1+p.Deep)
	if err != nil {
		return Message{}, ParseError(err)
	}
	if jsonscan.KindOf(jsonscan.Trim(text)) != jsonscan.Object {
		return Message{}, InvalidRequest("a message must be an object")
	}
	e := envelope{lastMethod: &p.method}
	if parts == nil {
		for name, value := range jsonscan.Members(text) {
			e.take(name, value)
		}
		return e.message()
	}
	from := 0 // where the parts of the next member begin
	for i := range parts {
		if parts[i].Depth > 1 {
			continue
		}
		e.take(parts[i].Name, parts[i].Value)
		if p.Deep > 0 && string(parts[i].Name) == "params" {
			p.members = parts[from:i]
		}
		from = i + 1
	}
	return e.message()
}

// ParseBatch splits a batch into the texts of its messages, at most most of
// them, to be given to [Parse] one by one. The error is an [*Error].
func ParseBatch(text []byte, most int) ([]jsontext.Value, error) {
	if err := jsonscan.Check(text, MaxDepth+1); err != nil {
		return nil, ParseError(err)
	}
	if !IsBatch(text) {
		return nil, InvalidRequest("a batch must be an array")
	}
	var all []jsontext.Value
	for element := range jsonscan.Elements(text) {
		if len(all) >= most {
			return nil, InvalidRequest("a batch may hold at most %d messages", most)
		}
		all = append(all, element)
	}
	if len(all) == 0 {
		return nil, InvalidRequest("a batch must not be empty")
	}
	return all, nil
}

// envelope holds the raw members of one message.
type envelope struct {
	version, id, method, params, result, error []byte

	lastMethod *string
}

func (e *envelope) take(name, value []byte) {
	switch string(name) {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.error = value
	}
}

func (e *envelope) message() (m Message, err error) {
	answers := e.method == nil && (e.result != nil || e.error != nil)
	if answers {
		m.Result = e.result
		if e.error != nil {
			m.Error = new(Error)
		}
	}
	if e.id != nil && (e.method != nil || jsonscan.KindOf(e.id) != jsonscan.Null) {
		if m.ID, err = ParseID(e.id); err != nil {
			return m, err
		}
	}
	switch {
	case string(e.version) != `"2.0"` && jsonscan.Unquote(e.version) != "2.0":
		return m, InvalidRequest(`jsonrpc must be "2.0"`)
	case answers:
		return m, e.response(m)
	case e.result != nil || e.error != nil:
		return m, InvalidRequest("a message has a method or a result, not both")
	case jsonscan.KindOf(e.method) != jsonscan.String:
		return m, InvalidRequest("method must be a string")
	}
	if m.Method = e.readMethod(); m.Method == "" {
		return m, InvalidRequest("method must not be empty")
	}
	switch jsonscan.KindOf(e.params) {
	case jsonscan.Object:
		m.Params = e.params
	case jsonscan.Invalid, jsonscan.Null:
	default:
		return m, InvalidParams("params must be an object")
	}
	return m, nil
}

// readMethod reads the method, which is a string, without making a new one if it
// is the last message's.
func (e *envelope) readMethod() string {
	if string(e.method[1:len(e.method)-1]) == *e.lastMethod {
		return *e.lastMethod
	}
	method := jsonscan.Unquote(e.method)
	if len(method) <= maxID && strings.IndexByte(method, '\\') < 0 { // or it could be mistaken for an escape
		*e.lastMethod = method
	}
	return method
}

// response reads the rest of a message that has a result or an error and no
// method.
func (e *envelope) response(m Message) error {
	switch {
	case e.result != nil && e.error != nil:
		return InvalidRequest("a response has a result or an error, not both")
	case e.result != nil && m.ID.IsZero():
		return InvalidRequest("a result needs the id it answers")
	case e.error != nil && !m.Error.read(e.error):
		return InvalidRequest("error must be an object with an integer code and a message")
	}
	return nil
}
