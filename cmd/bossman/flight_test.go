package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// gated starts a bossman whose answers to questions come when the gate opens.
func gated(t *testing.T) (p *process, open func()) {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	p = start(t, "--answer-command", "oracle gate", gateVariable+"="+gate)
	return p, func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func question(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"askQuestion","params":{"question":"when?"}}`
}

// R014: an id that is in flight is taken; the first call is undisturbed.
func TestR014SecondRequestWithTheSameID(t *testing.T) {
	p, open := gated(t)
	p.handshake(revision.NewestHandshake().Name)
	p.send(question(`7`))
	p.send(question(`"é"`))
	p.send(question(`0`))
	for _, tc := range []struct{ line, id string }{
		{question(`7`), `7`},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `7`},
		{`{"jsonrpc":"2.0","id":7,"method":"none"}`, `7`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + creation + `}}`, `7`},
		{modern(`7`, "tools/call", creation), `7`},
		{question(`"é"`), `"é"`},
		{question(`"\u00e9"`), `"\u00e9"`}, // the same text, written otherwise
		{question(`-0`), `-0`},
	} {
		m := p.ask(tc.line)
		m.refused(t, invalidRequest, tc.id)
		p.alive()
	}
	for _, other := range []string{`"7"`, `70`, `"e\u0301"`} { // ids of their own
		m := p.ask(`{"jsonrpc":"2.0","id":` + other + `,"method":"ping"}`)
		m.refused(t, 0, other)
	}
	if n := p.tasks(); n != 0 {
		t.Errorf("%d refused calls were carried out", n)
	}
	open()
	got := verdicts([]message{p.receive(), p.receive(), p.receive()})
	if want := `"é":0 0:0 7:0`; got != want {
		t.Errorf("the first calls ended as %s, want %s", got, want)
	}
	m := p.ask(question(`7`)) // answered ids are free again
	m.refused(t, 0, "7")
	if rest := p.end(); rest != "" {
		t.Errorf("came besides: %s", rest)
	}
}

// R014: answers that nobody asked for are dropped, whatever they look like.
func TestR014AnswersNobodyAskedFor(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":"x","result":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":"both"}}`,
		`{"jsonrpc":"2.0","id":1,"error":"text"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":1}}`,
		`{"jsonrpc":"2.0","id":1,"error":null}`,
		`{"jsonrpc":"2.0","id":1.5,"result":{}}`,
		`{"jsonrpc":"2.0","id":{},"result":{}}`,
		`{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"1.0","id":1,"result":{}}`,
		`{"id":1,"result":{}}`,
	} {
		p.send(line)
		p.alive()
	}
	if rest := p.end(); rest != "" {
		t.Errorf("came besides: %s", rest)
	}
}

// R014: cancellations that make no sense are ignored; one that does ends the
// call, and nothing more is said about it.
func TestR014Cancellations(t *testing.T) {
	p, open := gated(t)
	p.handshake(revision.NewestHandshake().Name)
	for id := range 4 {
		p.send(question(fmt.Sprint(id)))
	}
	cancel := func(params string) {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"` + params + `}`)
		p.alive()
	}
	for _, params := range []string{
		``, `,"params":{}`, `,"params":null`, `,"params":[]`, `,"params":[1]`, `,"params":"1"`,
		`,"params":{"requestId":null}`, `,"params":{"requestId":true}`, `,"params":{"requestId":{}}`, `,"params":{"requestId":[1]}`,
		`,"params":{"requestId":1.0}`, `,"params":{"requestId":1e0}`, `,"params":{"requestId":"1"}`, `,"params":{"requestId":99}`,
		`,"params":{"requestId":"` + strings.Repeat("1", 2000) + `"}`, `,"params":{"RequestId":1}`, `,"params":{"requestid":1}`, `,"params":{"id":1}`,
		`,"params":{"reason":1}`,
	} {
		cancel(params)
	}
	m := p.ask(`{"jsonrpc":"2.0","id":50,"method":"notifications/cancelled","params":{"requestId":1}}`) // as a request it is none
	m.refused(t, methodNotFound, "50")
	cancel(`,"params":{"requestId":2,"reason":"changed my mind"}`)
	cancel(`,"params":{"requestId":2}`)
	cancel(`,"params":{"requestId":-0,"reason":7}`)
	m = p.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // the id is free again
	m.refused(t, 0, "2")
	open()
	if got := verdicts([]message{p.receive(), p.receive()}); got != "1:0 3:0" {
		t.Errorf("what was not cancelled ended as %s", got)
	}
	if rest := p.end(); rest != "" {
		t.Errorf("came besides: %s", rest)
	}
}

// R014: nothing is kept of requests that are over, cancelled or answered twice.
func TestR014NothingIsKept(t *testing.T) {
	p := start(t)
	p.handshake(revision.NewestHandshake().Name)
	round := func(id int) {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"getNextTask"}`, id))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
		for done := false; !done; { // the first may have been answered before
			m := p.receive()
			done = m.Result != nil && string(m.Result) == "{}"
		}
	}
	const some, many = 1000, 5000
	for id := range some {
		round(id)
	}
	before := p.memory()
	for id := range many {
		round(some + id)
	}
	p.flat(before, 16<<10)
	p.end()
}
