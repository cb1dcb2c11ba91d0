package load

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Work is a kind of request: a few cases that differ, each with its right answer.
type Work struct {
	method string
	tool   string // empty unless the method is tools/call
	cases  []Case
	events int // progress notifications that each request must bring
}

// Case is one request and what must come back.
type Case struct {
	members string // of params, without braces
	want    want
}

// want is what a result must hold.
type want struct {
	text  string   // of the only block of content
	sum   string   // of the structured content; empty: there is none
	tools []string // names that tools/list must hold, among others; nil: no list
	count int      // how many tools there are
}

// Add is the tool add, with numbers that change from call to call.
func Add() *Work {
	w := &Work{method: "tools/call", tool: "add"}
	for i := range 64 {
		a, b := 10+i, 1000*i
		sum := strconv.Itoa(a + b)
		w.cases = append(w.cases, Case{
			members: fmt.Sprintf(`"name":"add","arguments":{"a":%d,"b":%d}`, a, b),
			want:    want{text: sum, sum: sum},
		})
	}
	return w
}

// Echo is the tool echo with about size bytes of prose, in which there are line
// breaks, quotes and letters beyond ASCII.
func Echo(size int) *Work {
	w := &Work{method: "tools/call", tool: "echo"}
	for i := range 4 {
		line := fmt.Sprintf("%d: All work and no play makes \"Jack\" a dull boy, said the café's owner.\n", i)
		text := strings.Repeat(line, size/len(line)+1)
		quoted, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			panic(err) // the text is ours
		}
		w.cases = append(w.cases, Case{
			members: `"name":"echo","arguments":{"text":` + string(quoted) + `}`,
			want:    want{text: text},
		})
	}
	return w
}

// List is tools/list of a server that was started with extra more tools.
func List(extra int) *Work {
	return &Work{method: "tools/list", cases: []Case{{
		want: want{tools: []string{"add", "echo", "slow", "count"}, count: 4 + extra},
	}}}
}

// Slow is the tool slow, which sleeps for ms milliseconds.
func Slow(ms int) *Work {
	return &Work{method: "tools/call", tool: "slow", cases: []Case{{
		members: fmt.Sprintf(`"name":"slow","arguments":{"ms":%d}`, ms),
		want:    want{text: "done"},
	}}}
}

// Count is the tool count, which reports progress n times before it is done.
func Count(n int) *Work {
	return &Work{method: "tools/call", tool: "count", events: n, cases: []Case{{
		members: fmt.Sprintf(`"name":"count","arguments":{"n":%d}`, n),
		want:    want{text: "done"},
	}}}
}

// progressToken is that of all requests of w, or empty.
func (w *Work) progressToken() string {
	if w.events > 0 {
		return "steps"
	}
	return ""
}

// requests are the bodies of all cases. Their ids are to be put in at
// len(head).
func (w *Work) requests(era Era) [][]byte {
	bodies := make([][]byte, len(w.cases))
	for i, c := range w.cases {
		bodies[i] = era.body(firstID, w.method, c.members, w.progressToken())
	}
	return bodies
}
