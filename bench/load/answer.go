package load

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is any JSON-RPC message that a server sends.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// result is what tools/call and tools/list answer, as far as it is checked.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured *struct {
		Sum jsontext.Value `json:"sum"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`
	Tools   []struct {
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"inputSchema"`
	} `json:"tools"`
	NextCursor string `json:"nextCursor"`
}

func (w *want) check(raw jsontext.Value) error {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	if w.tools != nil {
		return w.checkTools(&r)
	}
	switch {
	case r.IsError:
		return fmt.Errorf("the tool failed: %s", abridged(raw))
	case len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text != w.text:
		return fmt.Errorf("content is %s, want the text %s", abridged(raw), abridged([]byte(w.text)))
	case w.sum != "" && (r.Structured == nil || string(r.Structured.Sum) != w.sum):
		return fmt.Errorf("structured content is %s, want the sum %s", abridged(raw), w.sum)
	}
	return nil
}

func (w *want) checkTools(r *result) error {
	if len(r.Tools) != w.count || r.NextCursor != "" {
		return fmt.Errorf("%d tools and the cursor %q, want %d on one page", len(r.Tools), r.NextCursor, w.count)
	}
	names := make(map[string]bool, len(r.Tools))
	for _, t := range r.Tools {
		if t.Name == "" || names[t.Name] || len(t.Schema) == 0 {
			return fmt.Errorf("the tool %q is listed twice or has no schema", t.Name)
		}
		names[t.Name] = true
	}
	if i := slices.IndexFunc(w.tools, func(name string) bool { return !names[name] }); i >= 0 {
		return fmt.Errorf("the tool %q is not listed", w.tools[i])
	}
	return nil
}

// judge checks answers. One that is the same, byte for byte, as an answer that was
// decoded and found right, except for its id, is right without decoding.
type judge struct {
	work  *Work
	known []known // a case each
	fromStart,
	fromEnd int // where the id was found last; negative: not known
}

// known is what surrounds the id in an answer that is right.
type known struct{ before, after []byte }

// verdict is what a judge found a message to be.
type verdict struct {
	id    int
	event bool // a notification of progress
	other bool // another notification
}

// errNotOut says that an answer names a request that is not in flight: it was
// never sent, or it was answered before.
var errNotOut = errors.New("answer to a request that is not out")

func newJudge(w *Work) *judge {
	return &judge{work: w, known: make([]known, len(w.cases)), fromStart: -1, fromEnd: -1}
}

// check reads a message. caseOf returns the case of a request that is out, or
// a negative number.
func (j *judge) check(msg []byte, caseOf func(id int) int) (verdict, error) {
	for _, at := range [2]int{j.fromStart, len(msg) - j.fromEnd} {
		if at < 0 || at+idWidth > len(msg) {
			continue
		}
		id, ok := getID(msg[at:])
		if !ok {
			continue
		}
		c := caseOf(id)
		if c < 0 || j.known[c].before == nil {
			continue
		}
		if k := j.known[c]; bytes.Equal(k.before, msg[:at]) && bytes.Equal(k.after, msg[at+idWidth:]) {
			return verdict{id: id}, nil
		}
	}
	return j.decode(msg, caseOf)
}

func (j *judge) decode(msg []byte, caseOf func(id int) int) (verdict, error) {
	var m message
	if err := json.Unmarshal(msg, &m); err != nil {
		return verdict{}, fmt.Errorf("read message %s: %w", abridged(msg), err)
	}
	if m.JSONRPC != "2.0" {
		return verdict{}, fmt.Errorf("message %s is not JSON-RPC 2.0", abridged(msg))
	}
	if m.Method != "" {
		if m.ID != nil {
			return verdict{}, fmt.Errorf("the server asks %s", abridged(msg))
		}
		if m.Method != "notifications/progress" {
			return verdict{other: true}, nil
		}
		return verdict{event: true}, j.checkProgress(m.Params)
	}
	id, err := strconv.Atoi(string(m.ID))
	if err != nil {
		return verdict{}, fmt.Errorf("answer %s has no id of ours", abridged(msg))
	}
	c := caseOf(id)
	if c < 0 {
		return verdict{}, fmt.Errorf("%w: %s", errNotOut, abridged(msg))
	}
	if m.Error != nil || m.Result == nil {
		return verdict{}, fmt.Errorf("answer without a result: %s", abridged(msg))
	}
	if err := j.work.cases[c].want.check(m.Result); err != nil {
		return verdict{}, err
	}
	j.remember(msg, id, c)
	return verdict{id: id}, nil
}

func (j *judge) checkProgress(params jsontext.Value) error {
	var p struct {
		Token jsontext.Value `json:"progressToken"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	if want := strconv.Quote(j.work.progressToken()); string(p.Token) != want {
		return fmt.Errorf("progress of %s, want %s", p.Token, want)
	}
	return nil
}

// remember keeps an answer that was found right, if the place of its id is plain.
func (j *judge) remember(msg []byte, id, c int) {
	member := fmt.Appendf(nil, `"id":%d`, id)
	if bytes.Count(msg, member) != 1 {
		return
	}
	at := bytes.Index(msg, member) + len(member) - idWidth
	j.known[c] = known{before: bytes.Clone(msg[:at]), after: bytes.Clone(msg[at+idWidth:])}
	j.fromStart, j.fromEnd = at, len(msg)-at
}

// abridged is a message short enough to show.
func abridged(msg []byte) string {
	if len(msg) > 400 {
		return fmt.Sprintf("%s… (%d bytes)", msg[:400], len(msg))
	}
	return string(msg)
}
