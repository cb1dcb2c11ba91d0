package lifecycle

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// desk is a server that asks two questions, one after the other, and counts how
// often state was good enough to get it to the second.
type desk struct {
	name     string
	accepted int
}

func (d *desk) Handle(_ context.Context, c *mcp.Call) (any, error) {
	if c.Method == mcp.MethodDiscover {
		return &mcp.DiscoverResult{Meta: mcp.Meta(`{"` + mcp.MetaServerInfo + `":{"name":"` + d.name + `","version":"1"}}`)}, nil
	}
	if c.State() != nil || len(c.Input.Answers) > 1 {
		d.accepted++
	}
	if _, err := form(c, "first"); err != nil {
		return nil, err
	}
	_, err := form(c, "second")
	return struct{}{}, err
}

// asked is a request of ada's, with or without state.
func asked(method, arguments, state string, who *mcp.Principal) *Incoming {
	params := `{"name":"x","arguments":` + arguments + `,"inputResponses":{"first":{"action":"cancel"}}}`
	if state != "" {
		quoted := string(jsonscan.AppendQuote(nil, state))
		params = `{"name":"x","arguments":` + arguments + `,"inputResponses":{"second":{"action":"cancel"}},"requestState":` + quoted + `}`
	}
	in := modern(method, params)
	in.Principal = who
	return in
}

// TestR074NoMutantOfStateIsAccepted makes 10,000 mutants in sixteen ways and
// sends them through the door. Each gets the same refusal.
func TestR074NoMutantOfStateIsAccepted(t *testing.T) {
	const arguments, many = `{"a":1}`, 10_000
	ada := &mcp.Principal{Name: "ada"}
	random := rand.New(rand.NewPCG(7, 4))
	ours := &desk{name: "ours"}
	door := NewStateless(ours, &Options{Sealer: NewSealer([]byte("new"), []byte("last"))})
	state := func(h mcp.Handler, sealer *Sealer, in *Incoming) string {
		result, err := answer(t, NewStateless(h, &Options{Sealer: sealer}), in)
		if err != nil {
			t.Fatal(err)
		}
		return stateOf(t, result)
	}
	fresh := func() string { return state(ours, NewSealer([]byte("new")), asked("tools/call", arguments, "", ada)) }
	one, other := fresh(), fresh()
	raw, err := base64.RawURLEncoding.DecodeString(one)
	if err != nil {
		t.Fatal(err)
	}
	resend := func(text string) *Incoming { return asked("tools/call", arguments, text, ada) }
	at := func() int { return 1 + random.IntN(len(one)-1) }
	mutations := []func() *Incoming{
		func() *Incoming { // a flipped bit
			b := slices.Clone(raw)
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			return resend(base64.RawURLEncoding.EncodeToString(b))
		},
		func() *Incoming { // another byte, in the nonce, the text or the tag
			b := slices.Clone(raw)
			i := random.IntN(len(b))
			b[i] += byte(1 + random.IntN(255))
			return resend(base64.RawURLEncoding.EncodeToString(b))
		},
		func() *Incoming { return resend(one[:at()]) },                   // cut at the end
		func() *Incoming { return resend(one[at():]) },                   // cut at the start
		func() *Incoming { return resend(one + one[:at()]) },             // longer
		func() *Incoming { i := at(); return resend(one[i:] + one[:i]) }, // turned
		func() *Incoming { // put together from two
			for {
				i := at()
				if mutant := one[:i] + other[i:]; mutant != one && mutant != other {
					return resend(mutant)
				}
			}
		},
		func() *Incoming { i := at(); return resend(one[:i] + "\n" + one[i:]) },           // with a line break
		func() *Incoming { return resend(one + strings.Repeat("=", 1+random.IntN(3))) },   // padded
		func() *Incoming { return resend(fmt.Sprintf("%x", random.Uint64())) },            // made up
		func() *Incoming { return asked("tools/call", arguments, one, stranger(random)) }, // another user's
		func() *Incoming { return asked(otherMethod(random), arguments, one, ada) },       // another method's
		func() *Incoming { return asked("tools/call", otherArguments(random), one, ada) }, // other arguments'
		func() *Incoming { return resend(elsewhere(t, random, arguments, ada)) },          // another server's
		func() *Incoming { return resend(outdated(t, random, ours, arguments, ada)) },     // of an old key
		func() *Incoming { return resend(expired(t, random, "ours", resend(""))) },        // too late
	}
	refused := make([]int, len(mutations))
	messages := map[string]int{}
	before := ours.accepted
	for i := range many {
		in := mutations[i%len(mutations)]()
		_, err := answer(t, door, in)
		if code(err) != jsonrpc.CodeInvalidParams {
			t.Fatalf("mutant %d (way %d) got %v: %s", i, i%len(mutations), err, in.Params)
		}
		refused[i%len(mutations)]++
		messages[err.Error()]++
	}
	if ours.accepted != before {
		t.Errorf("%d mutants reached the handler", ours.accepted-before)
	}
	if len(messages) != 1 {
		t.Errorf("refusals differ, and so tell what is wrong: %v", messages)
	}
	t.Logf("refused, by way: %v", refused)
	for name, good := range map[string]string{"the state itself": one, "state of the last secret": state(ours, NewSealer([]byte("last")), resend(""))} {
		if _, err := answer(t, door, resend(good)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func stranger(random *rand.Rand) *mcp.Principal {
	if random.IntN(10) == 0 {
		return nil
	}
	return &mcp.Principal{Name: fmt.Sprint("ada", random.IntN(1000))}
}

func otherMethod(random *rand.Rand) string {
	return []string{"prompts/get", "resources/read", "tools/Call", "tools/call ", "custom/method"}[random.IntN(5)]
}

func otherArguments(random *rand.Rand) string {
	return []string{`{}`, `{"a":"1"}`, `{"a":1,"b":null}`, `{"A":1}`, fmt.Sprintf(`{"a":%d}`, 2+random.IntN(1000))}[random.IntN(5)]
}

// elsewhere is state of a server that shares the secret by mistake, or of ours
// with another secret.
func elsewhere(t *testing.T, random *rand.Rand, arguments string, who *mcp.Principal) string {
	t.Helper()
	secret, name := []byte("new"), fmt.Sprint("ours", random.IntN(1000))
	if random.IntN(2) == 0 {
		secret, name = fmt.Append(nil, "new", random.IntN(1000)), "ours"
	}
	result, err := answer(t, NewStateless(&desk{name: name}, &Options{Sealer: NewSealer(secret)}), asked("tools/call", arguments, "", who))
	if err != nil {
		t.Fatal(err)
	}
	return stateOf(t, result)
}

// outdated is state that was sealed with a secret which is no longer in use.
func outdated(t *testing.T, random *rand.Rand, h mcp.Handler, arguments string, who *mcp.Principal) string {
	t.Helper()
	secret := [][]byte{[]byte("older"), []byte("oldest"), {}, nil}[random.IntN(4)]
	result, err := answer(t, NewStateless(h, &Options{Sealer: NewSealer(secret)}), asked("tools/call", arguments, "", who))
	if err != nil {
		t.Fatal(err)
	}
	return stateOf(t, result)
}

// expired is state that is good but for its time.
func expired(t *testing.T, random *rand.Rand, server string, in *Incoming) string {
	t.Helper()
	ago := time.Duration(1+random.IntN(3_600_000)) * time.Millisecond
	r := &round{State: jsontext.Value(`{}`), Expires: time.Now().Add(-ago).UnixMilli()}
	text, err := NewSealer([]byte("new")).seal(r, bindingOf(server, in))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestR074RefusalsTakeTheSameTime compares mutants whose first and whose last byte
// of the tag is wrong: a comparison that stops early would tell them apart.
func TestR074RefusalsTakeTheSameTime(t *testing.T) {
	s := NewSealer([]byte("secret"))
	in := &Incoming{Method: "tools/call", Params: jsontext.Value(`{"name":"x"}`)}
	raw, err := base64.RawURLEncoding.DecodeString(sealed(t, s, in))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(i int) string {
		b := slices.Clone(raw)
		b[i] ^= 1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	mutants := [2]string{flip(len(raw) - 16), flip(len(raw) - 1)}
	binding := bindingOf("x", in)
	var took [2][]time.Duration
	for range 3_000 {
		for i, mutant := range mutants {
			start := time.Now()
			_, err := s.open(mutant, binding, start)
			took[i] = append(took[i], time.Since(start))
			if err == nil {
				t.Fatal("a mutant was accepted")
			}
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	first, last := took[0][len(took[0])/2], took[1][len(took[1])/2]
	if first > last*3/2 || last > first*3/2 {
		t.Errorf("a wrong first byte takes %v, a wrong last byte %v", first, last)
	}
}

func TestSecretsCanBeChanged(t *testing.T) {
	in := &Incoming{Method: "tools/call", Params: jsontext.Value(`{"name":"x"}`)}
	next, last := []byte("next"), []byte("last")
	for _, test := range []struct {
		name         string
		seals, opens *Sealer
		ok           bool
	}{
		{"the last secret opens after a change", NewSealer(last), NewSealer(next, last), true},
		{"the next secret opens before it", NewSealer(next, last), NewSealer(last, next), true},
		{"another never seals", NewSealer(next, last), NewSealer(last), false},
		{"one that was taken out opens nothing", NewSealer(last), NewSealer(next), false},
		{"nor beside others", NewSealer([]byte("leaked")), NewSealer(next, last), false},
		{"a random secret is nobody else's", NewSealer(nil), NewSealer(nil, nil), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := sealed(t, test.seals, in)
			if _, err := test.opens.open(text, bindingOf("x", in), time.Now()); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
