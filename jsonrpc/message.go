package jsonrpc

import (
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
	e := envelopes.Get().(*envelope)
	defer e.release()
	if err := jsonscan.CheckMembers(text, MaxDepth, e.visit); err != nil {
		return Message{}, ParseError(err)
	}
	if jsonscan.KindOf(jsonscan.Trim(text)) != jsonscan.Object {
		return Message{}, InvalidRequest("a message must be an object")
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

	visit func(name, value []byte) // take, bound once and not for each message
}

var envelopes = sync.Pool{New: func() any {
	e := new(envelope)
	e.visit = e.take
	return e
}}

// release gives the envelope back without the text it pointed to.
func (e *envelope) release() {
	*e = envelope{visit: e.visit}
	envelopes.Put(e)
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
	if m.Method = jsonscan.Unquote(e.method); m.Method == "" {
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
