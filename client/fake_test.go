package client_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// script dials servers that do what a test says: serve plays the n-th, counted
// from 1, until it returns, which closes the connection.
type script struct {
	serve func(f *fake, n int)

	mu    sync.Mutex
	dials int
	heard []jsonrpc.Message
}

func (s *script) Dial(context.Context) (peer.Transport, error) {
	near, far := peer.Pipe()
	s.mu.Lock()
	s.dials++
	n := s.dials
	s.mu.Unlock()
	go func() { // ends with the connection; goleak waits for it
		defer func() { _ = far.Close() }()
		s.serve(&fake{far: far, script: s}, n)
	}()
	return near, nil
}

// count returns how often the server was dialled.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

// requests returns what the servers heard of a method, cancellations included.
func (s *script) requests(method string) []jsonrpc.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []jsonrpc.Message
	for _, m := range s.heard {
		if m.Method == method {
			found = append(found, m)
		}
	}
	return found
}

// methods returns everything that was heard, in order.
func (s *script) methods() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, m := range s.heard {
		all = append(all, m.Method)
	}
	return all
}

// fake is one server of a script.
type fake struct {
	far    peer.Transport
	script *script
}

// next returns the next message, false at the end.
func (f *fake) next() (jsonrpc.Message, bool) {
	text, err := f.far.Receive(context.Background())
	if err != nil {
		return jsonrpc.Message{}, false
	}
	m, err := jsonrpc.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("the client sent %s: %v", text, err))
	}
	f.script.mu.Lock()
	f.script.heard = append(f.script.heard, m)
	f.script.mu.Unlock()
	return m, true
}

// say sends text as it is.
func (f *fake) say(format string, args ...any) {
	_ = f.far.Send(context.Background(), fmt.Appendf(nil, format, args...)) // a client that is gone shows in the test
}

func (f *fake) reply(m jsonrpc.Message, result string) {
	f.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (f *fake) refuse(m jsonrpc.Message, code int, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	f.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"%s}}`, m.ID, code, data)
}

// modern plays a server of the stateless era: handle answers what is not about
// the greeting.
func (f *fake) modern(handle func(m jsonrpc.Message)) {
	for {
		m, ok := f.next()
		switch {
		case !ok:
			return
		case m.Method == mcp.MethodDiscover:
			f.reply(m, discovery())
		default:
			handle(m)
		}
	}
}

// legacy plays a server of the handshake era that refuses a probe.
func (f *fake) legacy(handle func(m jsonrpc.Message)) {
	for {
		m, ok := f.next()
		switch {
		case !ok:
			return
		case m.Method == mcp.MethodDiscover:
			f.refuse(m, jsonrpc.CodeMethodNotFound, "")
		case m.Method == mcp.MethodInitialize:
			f.reply(m, introduction())
		case m.Method == mcp.NotificationInitialized:
		default:
			handle(m)
		}
	}
}

const capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}`

func discovery() string {
	return fmt.Sprintf(`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private","_meta":{%q:{"name":"fake","version":"1"}}}`,
		revision.Newest().Name, capabilities, mcp.MetaServerInfo)
}

func introduction() string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}}`,
		revision.NewestHandshake().Name, capabilities)
}

// text is the result of a tool that says something.
func text(said string) string {
	return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%q}],"isError":false}`, said)
}

// both runs a test against a fake of each era.
func both(t *testing.T, test func(t *testing.T, era string, play func(f *fake, handle func(m jsonrpc.Message)))) {
	t.Run("stateless", func(t *testing.T) { test(t, "stateless", (*fake).modern) })
	t.Run("handshake", func(t *testing.T) { test(t, "handshake", (*fake).legacy) })
}
