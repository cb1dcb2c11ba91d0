package peer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

func always() bool { return true }

// parts returns the texts of a batch, sorted: their order is free.
func parts(t *testing.T, batch string) []string {
	t.Helper()
	messages, err := jsonrpc.ParseBatch([]byte(batch), 1000)
	if err != nil {
		t.Fatalf("%s: %v", batch, err)
	}
	var texts []string
	for _, m := range messages {
		texts = append(texts, string(m))
	}
	slices.Sort(texts)
	return texts
}

func TestBatchesAreAnsweredWithOneArrayR013(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"note"}`
	bad := func(message string) string {
		return `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: ` + message + `"}}`
	}
	for _, tc := range []struct {
		name, batch string
		want        []string // nil: nothing is written
	}{
		{"requests and notifications", `[` + request(`1`, "a") + `,` + note + `, ` + request(`"b"`, "b") + `]`, []string{empty(`"b"`), empty(`1`)}},
		{"one request", ` [ ` + request(`1`, "a") + ` ] `, []string{empty(`1`)}},
		{"notifications only", `[` + note + `,` + note + `]`, nil},
		{"responses only", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, nil},
		{"with members that are no messages", `[` + request(`1`, "a") + `,1,{"foo":true},[]]`,
			[]string{bad(`a message must be an object`), bad(`a message must be an object`), bad(`jsonrpc must be \"2.0\"`), empty(`1`)}},
		{"with a bad request whose id is readable", `[{"jsonrpc":"2.0","id":7,"method":5}]`,
			[]string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Invalid Request: method must be a string"}}`}},
		{"with a malformed response", `[` + request(`1`, "a") + `,{"jsonrpc":"2.0","id":9,"result":{},"error":{}}]`, []string{empty(`1`)}},
		{"with a request that is cancelled", `[` + request(`1`, "wait") + `,` + request(`2`, "a") + `,` + cancelled(`1`) + `]`, []string{empty(`2`)}},
		{"with nothing but a request that is cancelled", `[` + request(`1`, "wait") + `,` + cancelled(`1`) + `]`, nil},
		{"with requests that are answered in order", `[` + request(`1`, "first") + `,` + request(`2`, "a") + `]`, []string{empty(`1`), empty(`2`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, far := connect(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
					if r.Method == "wait" {
						<-ctx.Done()
					}
					return struct{}{}, nil
				}), &peer.Options{Batches: always, InOrder: func(method string) bool { return method == "first" }})
				far.send(tc.batch)
				if tc.want != nil {
					slices.Sort(tc.want)
					if got := parts(t, far.next()); !slices.Equal(got, tc.want) {
						t.Errorf("got  %s\nwant %s", got, tc.want)
					}
				}
				far.quiet()
				far.send(request(`1`, "ping"))
				far.want(empty(`1`))
			})
		})
	}
}

func TestABatchWithOneIDTwiceAnswersBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
			<-release
			return struct{}{}, nil
		}), &peer.Options{Batches: always})
		far.send(`[` + request(`1`, "a") + `,` + request(`1`, "b") + `]`)
		far.quiet()
		close(release)
		got := parts(t, far.next())
		if len(got) != 2 || got[1] != empty(`1`) || !strings.Contains(got[0], "already in flight") {
			t.Errorf("got %s", got)
		}
	})
}

func TestABatchWaitsForItsSlowestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
			if r.Method == "slow" {
				<-release
			}
			return struct{}{}, nil
		}), &peer.Options{Batches: always})
		far.send(`[` + request(`1`, "slow") + `,` + request(`2`, "fast") + `]`)
		far.quiet()
		far.send(request(`3`, "fast")) // others are not held up
		far.want(empty(`3`))
		close(release)
		if got := parts(t, far.next()); !slices.Equal(got, []string{empty(`1`), empty(`2`)}) {
			t.Errorf("got %s", got)
		}
	})
}

func TestABatchWithAnOpenRequestWaitsForItsEnd(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(far *far, r *peer.Request)
		want []string
	}{
		{"when it is finished", func(far *far, r *peer.Request) { r.Finish(far.t.Context(), struct{}{}, nil) }, []string{empty(`1`), empty(`2`)}},
		{"when it is cancelled", func(far *far, r *peer.Request) { far.send(cancelled(`1`)) }, []string{empty(`2`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := make(chan *peer.Request, 1)
				_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
					if r.Method == "listen" {
						requests <- r
						return peer.Open, nil
					}
					return struct{}{}, nil
				}), &peer.Options{Batches: always})
				far.send(`[` + request(`1`, "listen") + `,` + request(`2`, "a") + `]`)
				far.quiet()
				tc.end(far, <-requests)
				if got := parts(t, far.next()); !slices.Equal(got, tc.want) {
					t.Errorf("got %s", got)
				}
				far.quiet()
			})
		})
	}
}

func TestBatchesAreRefusedR013(t *testing.T) {
	const invalid, syntax = jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError
	one := `[` + request(`1`, "a") + `]`
	for _, tc := range []struct {
		name    string
		batches func() bool
		batch   string
		code    int
	}{
		{"when none are allowed", nil, one, invalid},
		{"when none are allowed now", func() bool { return false }, one, invalid},
		{"when they are empty", always, `[]`, invalid},
		{"when they hold too many", always, `[` + request(`1`, "a") + `,1,2,3]`, invalid},
		{"when they hold fifty thousand", always, `[` + strings.Repeat(request(`1`, "a")+`,`, 49_999) + `1]`, invalid},
		{"when they are no JSON", always, `[` + request(`1`, "a") + `,`, syntax},
		{"when they are no JSON and none are allowed", nil, `[1,`, syntax},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
					if r.Method == "a" {
						t.Error("a request of the batch was served")
					}
					return struct{}{}, nil
				}), &peer.Options{Batches: tc.batches, MaxBatch: 3})
				far.send(tc.batch)
				far.wantError(``, tc.code)
				far.quiet()
				far.send(request(`2`, "ping"))
				far.want(empty(`2`))
			})
		})
	}
}

func TestABatchHoldsAHundredMessagesUnlessToldOtherwise(t *testing.T) {
	_, far := connect(t, handler{}, &peer.Options{Batches: always})
	const note = `,{"jsonrpc":"2.0","method":"note"}`
	far.send(`[` + request(`1`, "a") + strings.Repeat(note, 99) + `]`)
	far.want(`[` + empty(`1`) + `]`)
	far.send(`[` + request(`1`, "a") + strings.Repeat(note, 100) + `]`)
	far.wantError(``, jsonrpc.CodeInvalidRequest)
}

func TestRequestsOfABatchDoNotShareMemory(t *testing.T) {
	_, far := connect(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
		mine := string(r.Params)
		_ = append(r.Params, strings.Repeat("#", 100)...)
		return jsontext.Value(mine), nil
	}), &peer.Options{Batches: always, InOrder: func(string) bool { return true }})
	far.send(`[{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1}},{"jsonrpc":"2.0","id":2,"method":"a","params":{"n":2}}]`)
	far.want(`[{"jsonrpc":"2.0","id":1,"result":{"n":1}},{"jsonrpc":"2.0","id":2,"result":{"n":2}}]`)
}
