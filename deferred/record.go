package deferred

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// record is a deferred result as the store keeps it.
type record struct {
	ID        string             `json:"id"`
	Principal string             `json:"principal,omitzero"` // who may see it; empty: whoever knows the id
	Status    mcp.DeferredStatus `json:"status"`
	Message   string             `json:"message,omitzero"`
	Created   time.Time          `json:"created"`
	Updated   time.Time          `json:"updated"`
	Until     time.Time          `json:"until,omitzero"`  // when it may go; zero: never
	Runner    string             `json:"runner,omitzero"` // the mark of whoever works on it

	Work *work `json:"work,omitzero"` // what to run; nil once it has ended

	Result jsontext.Value `json:"result,omitzero"`
	Error  *jsonrpc.Error `json:"error,omitzero"`

	version int64
}

// work is a Call that can be made again, by another process too.
type work struct {
	Params       jsontext.Value         `json:"params"`
	Client       mcp.Implementation     `json:"client"`
	Capabilities mcp.ClientCapabilities `json:"capabilities"`
	Revision     string                 `json:"revision,omitzero"`
	Scopes       []string               `json:"scopes,omitzero"`
	Answers      mcp.InputResponses     `json:"answers,omitzero"` // all that were ever given
	State        jsontext.Value         `json:"state,omitzero"`
	Wanted       mcp.InputRequests      `json:"wanted,omitzero"` // the questions that are open
}

// idLength is that of rand.Text, which has more than 128 random bits.
const idLength = 26

func newID() string { return rand.Text() }

// isID reports whether text can be an id of ours.
func isID(text string) bool {
	return len(text) == idLength && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// newRecord makes a record of a Call that is to go on later.
func newRecord(c *mcp.Call) *record {
	r := &record{
		ID: newID(), Principal: c.Principal.ID(), Status: mcp.DeferredWorking,
		Work: &work{
			Params: c.Params.Clone(), Client: c.Client.Info, Capabilities: c.Client.Capabilities, Revision: c.Client.Revision,
			Answers: c.Input.Answers, State: c.Input.State,
		},
	}
	if c.Principal != nil {
		r.Work.Scopes = c.Principal.Scopes
	}
	return r
}

// now is the time as it travels: in whole milliseconds, without a zone.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// call makes the Call again.
func (r *record) call() *mcp.Call {
	w := r.Work
	c := &mcp.Call{
		Method: mcp.MethodCallTool, Params: w.Params, Detached: true,
		Client:        &mcp.Client{Info: w.Client, Capabilities: w.Capabilities, Revision: w.Revision},
		ProgressToken: jsontext.Value("0"), LogLevel: mcp.LevelInfo, Meta: jsonscan.Get(w.Params, "_meta"),
		Input: mcp.Input{Answers: w.Answers, State: w.State},
	}
	if r.Principal != "" {
		c.Principal = &mcp.Principal{Name: r.Principal, Scopes: w.Scopes}
	}
	return c
}

// touch notes a change, after which the record is kept for its time.
func (d *Deferrer) touch(r *record) {
	r.Updated, r.Until = now(), time.Time{}
	if d.opts.TTL > 0 {
		r.Until = r.Updated.Add(d.ttl(r.Status))
	}
}

// ttl is how long a record is kept. While there is work it has more time than it
// takes to see that it is running out.
func (d *Deferrer) ttl(status mcp.DeferredStatus) time.Duration {
	if status == mcp.DeferredWorking {
		return max(d.opts.TTL, 2*lease)
	}
	return d.opts.TTL
}

// end closes the record.
func (r *record) end(status mcp.DeferredStatus, message string) {
	r.Status, r.Message, r.Runner, r.Work = status, message, "", nil
}

// fail closes the record with an error.
func (r *record) fail(err *jsonrpc.Error) {
	r.end(mcp.DeferredFailed, err.Message)
	r.Error = err
}

// isOver reports whether the time of the record has passed.
func (r *record) isOver() bool { return !r.Until.IsZero() && r.Until.Before(time.Now()) }

// take moves the answers to open questions into the record, and reports whether
// there were any.
func (r *record) take(answers mcp.InputResponses) bool {
	before := len(r.Work.Wanted)
	r.Work.Wanted = slices.DeleteFunc(r.Work.Wanted, func(q mcp.InputRequest) bool {
		answer, ok := answers[q.Key]
		if ok {
			if r.Work.Answers == nil {
				r.Work.Answers = make(mcp.InputResponses)
			}
			r.Work.Answers[q.Key] = answer
		}
		return ok
	})
	return len(r.Work.Wanted) < before
}

// state returns the record as clients see it, to the last detail or without the
// outcome and the questions.
func (r *record) state(poll time.Duration, detailed bool) *mcp.Deferred {
	s := &mcp.Deferred{
		ID: r.ID, Status: r.Status, StatusMessage: r.Message,
		CreatedAt: r.Created, LastUpdatedAt: r.Updated, PollIntervalMs: poll.Milliseconds(),
	}
	if !r.Until.IsZero() {
		ttl := max(r.Until.Sub(r.Created).Milliseconds(), 1)
		s.TTLMs = &ttl
	}
	if detailed {
		s.Result, s.Error = r.Result, r.Error
		if r.Status == mcp.DeferredInputRequired {
			s.InputRequests = r.Work.Wanted
		}
	}
	return s
}

func (r *record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a deferred result: %w", err)
	}
	return data, nil
}

// decode reads a record. A store that returns something else is broken, or has
// been written by a newer program.
func decode(data []byte, version int64) (*record, error) {
	r := &record{version: version}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read a deferred result: %w", err)
	}
	open := r.Status == mcp.DeferredWorking || r.Status == mcp.DeferredInputRequired
	switch {
	case !open && !r.Status.Final():
		return nil, fmt.Errorf("read a deferred result: it has the status %q", r.Status)
	case open && r.Work == nil:
		return nil, fmt.Errorf("read a deferred result: nothing says what to do")
	case r.Status == mcp.DeferredCompleted && r.Result == nil, r.Status == mcp.DeferredFailed && r.Error == nil:
		return nil, fmt.Errorf("read a deferred result: the outcome is missing")
	}
	return r, nil
}
