package lifecycle

import (
	"context"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

var later = time.Now().Add(time.Hour)

func sealed(t testing.TB, s *Sealer, in *Incoming) string {
	t.Helper()
	r := &round{
		Answers: mcp.InputResponses{"name": jsontext.Value(`{"action":"accept","content":{"n":12345678901234567890}}`)},
		State:   jsontext.Value(`{"step":1}`), Expires: later.UnixMilli(),
	}
	text, err := s.seal(r, bindingOf("x", in))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSealedStateOpensForItsOwnRequest(t *testing.T) {
	s := NewSealer([]byte("secret"))
	in := &Incoming{Method: "tools/call", Params: jsontext.Value(`{"name":"x","arguments":{"a":1,"b":[2]}}`)}
	text := sealed(t, s, in)
	same := []*Incoming{
		in,
		{Method: "tools/call", Params: jsontext.Value(`{ "arguments" : {"b":[2], "a":1}, "name":"\u0078" }`)},
		{Method: "tools/call", Params: jsontext.Value(`{"name":"x","_meta":{"m":1},"inputResponses":{},"arguments":{"a":1,"b":[2]},"requestState":"…"}`)},
	}
	for _, in := range same {
		got, err := NewSealer([]byte("secret")).open(text, bindingOf("x", in), time.Now())
		if err != nil {
			t.Fatalf("%s: %v", in.Params, err)
		}
		if string(got.State) != `{"step":1}` || string(got.Answers["name"]) != `{"action":"accept","content":{"n":12345678901234567890}}` {
			t.Errorf("%s: got %s and %s", in.Params, got.State, got.Answers)
		}
	}
	if again := sealed(t, s, in); again == text {
		t.Error("two seals of one round are equal: the nonce is not random")
	}
	if strings.Contains(text, "step") {
		t.Error("the client can read the state")
	}
}

// TestR074MutantsOfStateAreRefused makes 10,000 mutants of a sealed state.
func TestR074MutantsOfStateAreRefused(t *testing.T) {
	s := NewSealer([]byte("secret"))
	in := &Incoming{Method: "tools/call", Params: jsontext.Value(`{"name":"x"}`)}
	text, other := sealed(t, s, in), sealed(t, s, in)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 4))
	mutations := []func() string{
		func() string { // a flipped bit
			b := append([]byte(nil), raw...)
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			return base64.RawURLEncoding.EncodeToString(b)
		},
		func() string { return text[:random.IntN(len(text))] },
		func() string { return text[1+random.IntN(len(text)-1):] },
		func() string { return text + text[:1+random.IntN(len(text))] },
		func() string { // another character
			const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=\n "
			b := []byte(text)
			b[random.IntN(len(b))] = alphabet[random.IntN(len(alphabet))]
			return string(b)
		},
		func() string { at := random.IntN(len(text)); return text[:at] + other[at:] },
		func() string { at := random.IntN(len(text)); return text[:at] + "\n" + text[at:] },
		func() string { at := 1 + random.IntN(len(text)-1); return text[at:] + text[:at] },
	}
	refused := 0
	for i := 0; refused < 10_000; i++ {
		mutant := mutations[i%len(mutations)]()
		if mutant == text || mutant == other {
			continue
		}
		if _, err := s.open(mutant, bindingOf("x", in), time.Now()); err == nil {
			t.Fatalf("mutant %d was accepted: %q of %q", i, mutant, text)
		}
		refused++
	}
	if _, err := s.open(text, bindingOf("x", in), time.Now()); err != nil {
		t.Errorf("the state itself is refused: %v", err)
	}
}

func TestR074StateOfAnotherRequestIsRefused(t *testing.T) {
	s := NewSealer([]byte("secret"))
	ada := &mcp.Principal{Name: "ada"}
	own := Incoming{Method: "tools/call", Principal: ada, Params: jsontext.Value(`{"name":"x","arguments":{"a":1}}`)}
	text := sealed(t, s, &own)
	with := func(change func(in *Incoming)) *Incoming {
		in := own
		change(&in)
		return &in
	}
	params := func(text string) *Incoming { return with(func(in *Incoming) { in.Params = jsontext.Value(text) }) }
	for name, in := range map[string]*Incoming{
		"nobody":                with(func(in *Incoming) { in.Principal = nil }),
		"somebody else":         with(func(in *Incoming) { in.Principal = &mcp.Principal{Name: "bob"} }),
		"a longer name":         with(func(in *Incoming) { in.Principal = &mcp.Principal{Name: "adatools/call"}; in.Method = "" }),
		"another method":        with(func(in *Incoming) { in.Method = "prompts/get" }),
		"another tool":          params(`{"name":"y","arguments":{"a":1}}`),
		"another argument":      params(`{"name":"x","arguments":{"a":2}}`),
		"an argument more":      params(`{"name":"x","arguments":{"a":1,"b":1}}`),
		"no arguments":          params(`{"name":"x"}`),
		"a member more":         params(`{"name":"x","arguments":{"a":1},"extra":null}`),
		"no params":             with(func(in *Incoming) { in.Params = nil }),
		"arguments as a string": params(`{"name":"x","arguments":"{\"a\":1}"}`),
	} {
		if _, err := s.open(text, bindingOf("x", in), time.Now()); err == nil {
			t.Errorf("%s: the state is accepted", name)
		}
	}
	for name, key := range map[string]*Sealer{
		"another key": NewSealer([]byte("secret2")), "an empty key": NewSealer([]byte{}), "a random key": NewSealer(nil),
	} {
		if _, err := key.open(text, bindingOf("x", &own), time.Now()); err == nil {
			t.Errorf("%s: the state is accepted", name)
		}
	}
	if _, err := s.open(text, bindingOf("x", &own), time.Now()); err != nil {
		t.Errorf("the request itself: %v", err)
	}
}

func TestR074StateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := NewStateless(introduced(func(_ context.Context, c *mcp.Call) (any, error) {
			if _, err := form(c, "name"); err != nil {
				return nil, err
			}
			_, err := form(c, "colour")
			return struct{}{}, err
		}), &Options{StateTTL: time.Minute})
		first, err := answer(t, door, modern("tools/call", `{"name":"x","inputResponses":{"name":{"action":"cancel"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		retry := modern("tools/call", `{"name":"x","inputResponses":{"colour":{"action":"cancel"}},"requestState":"`+stateOf(t, first)+`"}`)
		time.Sleep(time.Minute)
		if _, err := answer(t, door, retry); err != nil {
			t.Errorf("in time: %v", err)
		}
		time.Sleep(time.Millisecond)
		if _, err := answer(t, door, retry); code(err) != jsonrpc.CodeInvalidParams {
			t.Errorf("too late: got %v, want invalid params", err)
		}
	})
}

// FuzzSealedState puts something else into the place of a part of a state. Each
// process of a fuzz run has a state of its own.
func FuzzSealedState(f *testing.F) {
	s := NewSealer(nil)
	in := &Incoming{Method: "tools/call", Params: jsontext.Value(`{"name":"x"}`)}
	text := sealed(f, s, in)
	f.Add(uint(0), uint(0), "")
	f.Add(uint(3), uint(1), "A")
	f.Add(uint(0), uint(1000), "bWFkZSB1cA")
	f.Add(uint(40), uint(0), "\n")
	f.Add(uint(len(text)), uint(0), "=")
	f.Fuzz(func(t *testing.T, at, drop uint, put string) {
		at = min(at, uint(len(text)))
		state := text[:at] + put + text[min(at+min(drop, uint(len(text))), uint(len(text))):]
		if got, err := s.open(state, bindingOf("x", in), time.Now()); (err == nil) != (state == text) {
			t.Fatalf("%q: got %v, %v", state, got, err)
		}
		if put != text {
			if _, err := s.open(put, bindingOf("x", in), time.Now()); err == nil {
				t.Fatalf("%q is accepted", put)
			}
		}
	})
}
