package load_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/bench/load"
)

// asked is a request as the fake servers read it.
type asked struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			A    int    `json:"a"`
			B    int    `json:"b"`
			Text string `json:"text"`
			N    int    `json:"n"`
		} `json:"arguments"`
	} `json:"params"`
}

// right is what an honest server answers, one message an element.
func right(a asked) []string {
	if a.ID == nil {
		return nil
	}
	var result string
	var lines []string
	switch {
	case a.Method == "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`
	case a.Method == "tools/list":
		result = tools("add", "echo", "slow", "count", "more")
	case a.Params.Name == "echo":
		quoted, err := jsontext.AppendQuote(nil, a.Params.Arguments.Text)
		if err != nil {
			panic(err)
		}
		result = `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
	case a.Params.Name == "count":
		for range a.Params.Arguments.N {
			lines = append(lines, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"steps","progress":1}}`)
		}
		result = `{"content":[{"type":"text","text":"done"}]}`
	case a.Params.Name == "slow":
		result = `{"content":[{"type":"text","text":"done"}]}`
	default:
		result = sum(a.Params.Arguments.A + a.Params.Arguments.B)
	}
	return append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.ID, result))
}

func sum(n int) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}],"structuredContent":{"sum":%d}}`, n, n)
}

func tools(names ...string) string {
	for i, name := range names {
		names[i] = fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
	}
	return `{"tools":[` + strings.Join(names, ",") + `]}`
}

// answerer is a fake server: the nth call, from 0, gets these messages. Greetings
// are not calls. On a pipe, call -1 stands for the end of input.
type answerer func(n int, a asked) []string

// honest answers everything rightly.
func honest(_ int, a asked) []string { return right(a) }

// after is honest for the first calls, and then what f says.
func after(calls int, f answerer) answerer {
	return func(n int, a asked) []string {
		if n < calls {
			return right(a)
		}
		return f(n, a)
	}
}

// overPipe runs work against a fake server on pipes.
func overPipe(t *testing.T, f answerer, era load.Era, w *load.Work, o load.Options) (load.Result, error) {
	t.Helper()
	serverIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // awaited below
		defer close(done)
		defer serverOut.Close()
		answerLines(f, serverIn, serverOut)
	}()
	defer func() {
		in.Close()
		out.Close()
		<-done
		serverIn.Close()
	}()
	p, err := load.OpenPipe(in, out, era)
	if err != nil {
		return load.Result{}, err
	}
	r, err := p.Run(w, o)
	if err != nil {
		return r, err
	}
	return r, p.Finish()
}

// answerLines serves until its input ends or nobody reads.
func answerLines(f answerer, in io.Reader, out io.Writer) {
	r := bufio.NewReader(in)
	for calls := 0; ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			for _, word := range f(-1, asked{}) {
				fmt.Fprintln(out, word)
			}
			return
		}
		var a asked
		if err := json.Unmarshal(line, &a); err != nil {
			panic(err)
		}
		answers := right(a)
		if strings.HasPrefix(a.Method, "tools/") {
			answers = f(calls, a)
			calls++
		}
		for _, answer := range answers {
			if _, err := fmt.Fprintln(out, answer); err != nil {
				return
			}
		}
	}
}

// overHTTP runs work against a fake server that answers with event streams, or,
// for a single message, with JSON.
func overHTTP(t *testing.T, f answerer, era load.Era, w *load.Work, o load.Options) (load.Result, error) {
	t.Helper()
	var calls atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		var a asked
		if err := json.Unmarshal(body.Bytes(), &a); err != nil {
			panic(err)
		}
		answers := right(a)
		if strings.HasPrefix(a.Method, "tools/") {
			answers = f(int(calls.Add(1)-1), a)
		}
		w.Header().Set("Mcp-Session-Id", "one")
		respond(w, r, a, answers)
	}))
	defer srv.Close()
	addr := srv.Listener.Addr().String()
	h, err := load.OpenHTTP(addr, era)
	if err != nil {
		return load.Result{}, err
	}
	return h.Run(w, o)
}

func respond(w http.ResponseWriter, r *http.Request, a asked, answers []string) {
	switch {
	case a.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case len(answers) == 0: // lost
		<-r.Context().Done()
	case len(answers) == 1:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answers[0])
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, answer := range answers {
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// brief is a run that is long enough for a few hundred calls.
func brief(inFlight int) load.Options {
	return load.Options{
		InFlight: inFlight, Warmup: 2 * time.Millisecond, Window: 10 * time.Millisecond, MinRequests: 20,
		Patience: 20 * time.Second,
	}
}
