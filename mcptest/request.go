package mcptest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// client is how connections introduce themselves.
var client = mcp.Implementation{Name: "mcptest", Version: "1.0.0"}

// Handshake opens a session: initialize for the revision with that name, empty
// for the newest that has a handshake, and the notification that follows. It
// returns the result of initialize, and fails the test if there is none. From
// then on [Conn.Request] belongs to the session.
func (c *Conn) Handshake(name string) jsontext.Value {
	c.t.Helper()
	if name == "" {
		name = revision.NewestHandshake().Name
	}
	c.handshake = true
	result, err := c.Request(mcp.MethodInitialize, &mcp.InitializeParams{
		ProtocolVersion: name, Capabilities: c.opts.Capabilities, ClientInfo: client,
	})
	if err != nil {
		c.t.Fatalf("handshake for %s: %v", name, err)
	}
	c.Notify(mcp.NotificationInitialized, nil)
	return result
}

// Request sends a request and waits for its result. Params are nil or anything
// that is a JSON object. After [Conn.Handshake] the request is one of that
// session; else it is one of the newest revision, which describes itself, and
// what its _meta must hold is added where it is missing. Other lines that come
// in the meantime wait for [Conn.Receive], but for questions that
// [Options.Answer] answers.
//
// The error is the server's, a [*jsonrpc.Error]. Anything else fails the test.
func (c *Conn) Request(method string, params any) (jsontext.Value, error) {
	c.t.Helper()
	raw := c.params(method, params)
	if c.handshake {
		return c.roundTrip(method, raw)
	}
	raw = withMeta(raw, requestMeta(&mcp.Client{Info: client, Capabilities: c.opts.Capabilities}, ""))
	const mostRounds = 16
	for range mostRounds {
		result, err := c.roundTrip(method, raw)
		if err != nil || c.opts.Answer == nil || jsonscan.Unquote(jsonscan.Get(result, "resultType")) != mcp.ResultInputRequired {
			return result, err
		}
		raw = c.answerRound(raw, result)
	}
	c.t.Fatalf("%s asked for input %d times", method, mostRounds)
	return nil, nil
}

// Notify sends a notification. Params are as those of [Conn.Request].
func (c *Conn) Notify(method string, params any) {
	c.t.Helper()
	raw := c.params(method, params)
	c.Send(message(jsonrpc.ID{}, method, raw))
}

func (c *Conn) params(method string, params any) jsontext.Value {
	c.t.Helper()
	if params == nil {
		return nil
	}
	raw, err := jsonrpc.AppendValue(nil, params)
	if err == nil && jsonscan.KindOf(jsonscan.Trim(raw)) != jsonscan.Object {
		err = errors.New("not an object")
	}
	if err != nil {
		c.t.Fatalf("params of %s: %v", method, err)
	}
	return raw
}

// roundTrip sends one request and waits for its response.
func (c *Conn) roundTrip(method string, params jsontext.Value) (jsontext.Value, error) {
	c.t.Helper()
	id := jsonrpc.StringID("mcptest-" + strconv.FormatInt(c.lastID.Add(1), 10))
	c.Send(message(id, method, params))
	for {
		line, err := c.inbox.take(c.opts.Wait, func(line string) bool {
			m, err := jsonrpc.Parse([]byte(line))
			return err == nil && (m.IsResponse() && m.ID == id || m.IsRequest() && c.opts.Answer != nil)
		})
		if err != nil {
			c.t.Fatalf("%s: %v; what came instead: %s", method, err, shorten(fmt.Sprint(c.Unread())))
		}
		m, _ := jsonrpc.Parse([]byte(line)) // it was read before
		switch {
		case m.IsRequest():
			c.Send(c.answer(&m))
		case m.Error != nil:
			return nil, m.Error
		default:
			return m.Result, nil
		}
	}
}

// answer is the response to a question of the server.
func (c *Conn) answer(m *jsonrpc.Message) string {
	c.t.Helper()
	result, err := c.opts.Answer(m.Method, m.Params)
	if err == nil {
		text, err := jsonrpc.AppendResult(nil, m.ID, result)
		if err != nil {
			c.t.Fatalf("answer to %s: %v", m.Method, err)
		}
		return string(text)
	}
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		wire = jsonrpc.InternalError(err.Error())
	}
	return string(jsonrpc.AppendError(nil, m.ID, wire))
}

// answerRound answers the questions of a result that requires input, and returns
// the params of the next round.
func (c *Conn) answerRound(params, result jsontext.Value) jsontext.Value {
	c.t.Helper()
	var asked mcp.InputRequiredResult
	if err := json.Unmarshal(result, &asked); err != nil {
		c.t.Fatalf("read %s: %v", shorten(string(result)), err)
	}
	answers := make(mcp.InputResponses)
	for _, question := range asked.InputRequests {
		answer, err := c.opts.Answer(question.Method, question.Params)
		if err == nil {
			answers[question.Key], err = jsonrpc.AppendValue(nil, answer)
		}
		if err != nil {
			c.t.Fatalf("answer to %s: %v", question.Method, err)
		}
	}
	next := object{}
	for name, value := range jsonscan.Members(params) {
		if s := string(name); s != "inputResponses" && s != "requestState" {
			next.set(s, value)
		}
	}
	if len(answers) > 0 {
		next.marshal("inputResponses", answers)
	}
	if asked.RequestState != nil {
		next.marshal("requestState", *asked.RequestState)
	}
	return next.JSON()
}

// message writes a request or a notification.
func message(id jsonrpc.ID, method string, params jsontext.Value) string {
	var given any
	if params != nil {
		given = params
	}
	text, err := jsonrpc.AppendRequest(nil, id, method, given)
	if err != nil {
		panic("mcptest: write a request: " + err.Error()) // its parts were JSON before
	}
	return string(text)
}

// requestMeta is what a request of the newest revision says of its client.
func requestMeta(by *mcp.Client, level mcp.LoggingLevel) jsontext.Value {
	meta := object{}
	meta.marshal(mcp.MetaProtocolVersion, revision.Newest().Name)
	if by.Info.Name != "" {
		meta.marshal(mcp.MetaClientInfo, &by.Info)
	}
	meta.marshal(mcp.MetaClientCapabilities, &by.Capabilities)
	if level != "" {
		meta.marshal(mcp.MetaLogLevel, level)
	}
	return meta.JSON()
}

// withMeta returns params whose _meta has, beside its own members, those of meta.
func withMeta(params, meta jsontext.Value) jsontext.Value {
	merged, all := object{}, object{}
	for name, value := range jsonscan.Members(params) {
		if string(name) != "_meta" {
			all.set(string(name), value)
			continue
		}
		for name, value := range jsonscan.Members(value) {
			merged.set(string(name), value)
		}
	}
	for name, value := range jsonscan.Members(meta) {
		if merged.get(string(name)) == nil {
			merged.set(string(name), value)
		}
	}
	all.set("_meta", merged.JSON())
	return all.JSON()
}
