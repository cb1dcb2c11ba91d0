package load_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/bench/load"
)

// runners are the ways to put a fake server under load.
var runners = map[string]func(*testing.T, answerer, load.Era, *load.Work, load.Options) (load.Result, error){
	"pipe": overPipe, "HTTP": overHTTP,
}

func TestHonestServersHaveFigures(t *testing.T) {
	works := map[string]*load.Work{
		"add": load.Add(), "echo": load.Echo(1000), "a large echo": load.Echo(100 << 10),
		"list": load.List(1), "slow": load.Slow(0), "count": load.Count(5),
	}
	for how, run := range runners {
		for _, era := range []load.Era{load.Legacy, load.Modern} {
			for what, work := range works {
				for _, inFlight := range []int{1, 7} {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", how, era, what, inFlight), func(t *testing.T) {
						t.Parallel()
						o := brief(inFlight)
						r, err := run(t, honest, era, work, o)
						if err != nil {
							t.Fatal(err)
						}
						if r.Requests < 1 || r.Elapsed < o.Window || r.P50 <= 0 || r.P99 < r.P50 || r.Rate() <= 0 {
							t.Errorf("measured %+v", r)
						}
						if what == "count" && (r.Events < 5 || r.Lost != 0) {
							t.Errorf("%d notifications and %d lost, want some and none", r.Events, r.Lost)
						}
					})
				}
			}
		}
	}
}

// instead answers with one message made of a request's id and a text that may
// hold the right result.
func instead(format string) answerer {
	return func(_ int, a asked) []string {
		return []string{fmt.Sprintf(format, a.ID, sum(a.Params.Arguments.A+a.Params.Arguments.B))}
	}
}

func TestServersThatCheatAreCaught(t *testing.T) {
	for _, tt := range []struct {
		name     string
		server   answerer
		want     string // in the error
		patience time.Duration
	}{
		{"an id that was never sent", instead(`{"jsonrpc":"2.0","id":9%s,"result":%s}`), "not out", 0},
		{"an id as text", instead(`{"jsonrpc":"2.0","id":"%s","result":%s}`), "no id of ours", 0},
		{"no id", instead(`{"jsonrpc":"2.0","result":{"was":[%s,%s]}}`), "no id of ours", 0},
		{"the id of an answered request", func(_ int, a asked) []string {
			a.ID = []byte("1000000")
			return right(a)
		}, "not out", 0},
		{"a wrong sum", func(_ int, a asked) []string {
			a.Params.Arguments.A++
			return right(a)
		}, "want the text", 0},
		{"a wrong sum in the structured content only", func(_ int, a asked) []string {
			return []string{strings.Replace(right(a)[0], `{"sum":`, `{"sum":1`, 1)}
		}, "structured content", 0},
		{"no structured content", func(_ int, a asked) []string {
			return []string{strings.Replace(right(a)[0], `"structuredContent"`, `"content2"`, 1)}
		}, "structured content", 0},
		{"a block too many", func(_ int, a asked) []string {
			return []string{strings.Replace(right(a)[0], `"content":[`, `"content":[{"type":"text","text":""},`, 1)}
		}, "content is", 0},
		{"a failed tool", func(_ int, a asked) []string {
			return []string{strings.Replace(right(a)[0], `"result":{`, `"result":{"isError":true,`, 1)}
		}, "the tool failed", 0},
		{"an error", instead(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no","data":%s}}`), "without a result", 0},
		{"no JSON", instead(`{"jsonrpc":"2.0","id":%s,"result":%s`), "read message", 0},
		{"a name twice", instead(`{"jsonrpc":"2.0","id":1,"id":%s,"result":%s}`), "read message", 0},
		{"another protocol", instead(`{"jsonrpc":"1.0","id":%s,"result":%s}`), "not JSON-RPC", 0},
		{"a question", instead(`{"jsonrpc":"2.0","id":%s,"method":"ping","params":%s}`), "the server asks", 0},
		{"two answers", func(_ int, a asked) []string { return append(right(a), right(a)...) }, "not out", 0},
		{"two messages in one", func(_ int, a asked) []string { return []string{right(a)[0] + right(a)[0]} }, "read message", 0},
		{"progress that nobody asked for", func(_ int, a asked) []string {
			return append([]string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other"}}`}, right(a)...)
		}, "progress of", 0},
		{"no answer", func(int, asked) []string { return nil }, "timeout", 500 * time.Millisecond},
	} {
		for how, run := range runners {
			for _, inFlight := range []int{1, 7} {
				t.Run(fmt.Sprintf("%s over %s with %d in flight", tt.name, how, inFlight), func(t *testing.T) {
					t.Parallel()
					// By then the driver knows the server's answers by heart.
					o := load.Options{InFlight: inFlight, Window: time.Second, MinRequests: 1000, Patience: tt.patience}
					r, err := run(t, after(100, tt.server), load.Modern, load.Add(), o)
					if err == nil || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("measured %+v, error %v; want an error with %q", r, err, tt.want)
					}
				})
			}
		}
	}
}

func TestAnswersThatAreExchangedAreCaught(t *testing.T) {
	var held *asked
	swap := func(_ int, a asked) []string {
		if held == nil {
			held = &a
			return nil
		}
		first := *held
		held = nil
		first.ID, a.ID = a.ID, first.ID
		return append(right(first), right(a)...)
	}
	_, err := overPipe(t, after(0, swap), load.Legacy, load.Add(), brief(8))
	if err == nil || !strings.Contains(err.Error(), "want the text") {
		t.Errorf("error %v, want one about a wrong text", err)
	}
}

func TestWhatIsSaidAfterTheEndIsHeard(t *testing.T) {
	last := func(word string) answerer {
		return func(n int, a asked) []string {
			if n < 0 {
				return []string{word}
			}
			return right(a)
		}
	}
	_, err := overPipe(t, last(`{"jsonrpc":"2.0","id":1000003,"result":{}}`), load.Modern, load.Add(), brief(1))
	if err == nil || !strings.Contains(err.Error(), "not out") {
		t.Errorf("a second answer at the end: error %v, want one that it is not out", err)
	}
	_, err = overPipe(t, last(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`), load.Modern, load.Add(), brief(1))
	if err != nil {
		t.Errorf("a notification at the end: %v", err)
	}
}

func TestListsThatAreNotWholeAreCaught(t *testing.T) {
	for name, result := range map[string]string{
		"a tool is missing":     tools("add", "echo", "slow", "count"),
		"a tool is there twice": tools("add", "echo", "slow", "count", "add"),
		"another tool":          tools("add", "echo", "slow", "cut", "more"),
		"there is a next page":  strings.Replace(tools("add", "echo", "slow", "count", "more"), `{"tools"`, `{"nextCursor":"x","tools"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			list := func(_ int, a asked) []string {
				return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.ID, result)}
			}
			if r, err := overPipe(t, after(0, list), load.Modern, load.List(1), brief(1)); err == nil {
				t.Errorf("measured %+v, want an error", r)
			}
		})
	}
}

func TestProgressIsCounted(t *testing.T) {
	for how, run := range runners {
		fewer := func(_ int, a asked) []string { return right(a)[2:] }
		r, err := run(t, after(0, fewer), load.Modern, load.Count(5), brief(1))
		if err != nil || r.Lost == 0 {
			t.Errorf("%s: %d lost, error %v; want some and no error", how, r.Lost, err)
		}
		more := func(_ int, a asked) []string { return append(right(a)[:1], right(a)...) }
		if _, err := run(t, after(0, more), load.Modern, load.Count(5), brief(1)); err == nil {
			t.Errorf("%s: more progress than asked for is no error", how)
		}
	}
}

func TestProcessorTimeIsThatOfTheWindow(t *testing.T) {
	for how, run := range runners {
		for _, inFlight := range []int{1, 3} {
			asked := 0
			o := brief(inFlight)
			o.CPU = func() (time.Duration, error) {
				asked++
				return time.Duration(asked*asked) * time.Second, nil
			}
			r, err := run(t, honest, load.Modern, load.Add(), o)
			if err != nil || r.CPU != 3*time.Second || asked != 2 {
				t.Errorf("%s: %v after %d looks at the clock, error %v; want 3 s after 2", how, r.CPU, asked, err)
			}
		}
	}
}
