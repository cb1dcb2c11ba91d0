package peer_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// badLines are lines of text that are no messages, with the code each is
// answered with; 0 stands for silence.
var badLines = []struct {
	text string
	code int
}{
	{`}{`, jsonrpc.CodeParseError},
	{`{"jsonrpc":"2.0","id":1,"me`, jsonrpc.CodeParseError},
	{"\x00\x00\x00", jsonrpc.CodeParseError},
	{"\ufeff" + request(`1`, "ping"), jsonrpc.CodeParseError},
	{``, 0},
	{"\r", 0},
	{" \t ", 0},
	{request(`1`, "ping") + request(`2`, "ping"), jsonrpc.CodeParseError},
	{request(`1`, "ping") + " " + request(`2`, "ping"), jsonrpc.CodeParseError},
	{strings.Repeat("Starting the server. ", 3120), jsonrpc.CodeParseError},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", jsonrpc.CodeParseError},
	{`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, jsonrpc.CodeParseError},
	{`null`, jsonrpc.CodeInvalidRequest},
	{`"ping"`, jsonrpc.CodeInvalidRequest},
	{`[]`, jsonrpc.CodeInvalidRequest},
	{`[` + request(`1`, "ping") + `]`, jsonrpc.CodeInvalidRequest},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, jsonrpc.CodeInvalidRequest},
	{`{"jsonrpc":"2.0","id":77,"result":{}}`, 0},
	{`{"jsonrpc":"2.0","method":"note"}`, 0},
}

func TestEveryGoodLineBetweenBadOnesIsAnsweredR010(t *testing.T) {
	const lines = 10_000
	random := rand.New(rand.NewPCG(1, 2))
	_, far, in, _ := connectLines(t, answering(func(_ context.Context, r *peer.Request) (any, error) {
		return r.Method, nil
	}), nil)
	want := map[string]int{} // answers, by text or by code
	var input strings.Builder
	for i := range lines {
		if random.IntN(3) == 0 {
			fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
			want[fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"ping"}`, i)]++
		} else {
			bad := badLines[random.IntN(len(badLines))]
			input.WriteString(bad.text)
			if bad.code != 0 {
				want[fmt.Sprint("error ", bad.code)]++
			}
		}
		input.WriteString([]string{"\n", "\r\n"}[random.IntN(2)])
	}
	go func() {
		_, _ = io.WriteString(in, input.String())
		_ = in.Close()
	}()
	answers := 0
	for _, n := range want {
		answers += n
	}
	for range answers {
		text := far.next()
		m, err := jsonrpc.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if m.Error != nil {
			if !m.ID.IsZero() || len(m.Error.Message) > 200 {
				t.Fatalf("error %.500s", text)
			}
			text = fmt.Sprint("error ", m.Error.Code)
		}
		if want[text]--; want[text] < 0 {
			t.Fatalf("%s came too often", text)
		}
	}
	if text, err := far.Receive(t.Context()); err == nil {
		t.Errorf("too much: %s", text)
	}
	if err := far.wait(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestInQuietModeTextThatIsNoMessageIsOnlyLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		release := make(chan struct{})
		p, far := connect(t, answering(func(context.Context, *peer.Request) (any, error) {
			<-release
			return struct{}{}, nil
		}), &peer.Options{Quiet: true, Logger: log.logger(), MaxInFlight: 1})
		for _, bad := range badLines {
			if strings.TrimSpace(bad.text) != "" {
				far.send(bad.text)
				far.quiet()
			}
		}
		if !log.contains("skipped what is no message") {
			t.Error("not logged")
		}
		asked := make(chan error, 1)
		go func() { asked <- p.Call(context.Background(), "ask", nil, nil) }()
		far.want(request(`1`, "ask"))
		far.send("a line of log between messages")
		far.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if err := <-asked; err != nil {
			t.Error(err)
		}
		// What is a message, but cannot be served, is answered all the same.
		far.send(request(`1`, "wait"))
		far.send(request(`1`, "twice"))
		far.wantError(`1`, jsonrpc.CodeInvalidRequest)
		far.send(request(`2`, "one too many"))
		far.wantError(`2`, jsonrpc.CodeInternalError)
		close(release)
		far.want(empty(`1`))
	})
}

// endless reads as so many bytes of one line, and then as rest.
type endless struct {
	left   int
	rest   io.Reader
	during func() // called now and then
}

var filler = strings.Repeat("x", 64<<10)

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return e.rest.Read(p)
	}
	n := copy(p, filler[:min(len(filler), e.left)])
	if e.left/(1<<20) != (e.left-n)/(1<<20) {
		e.during()
	}
	e.left -= n
	return n, nil
}

func TestOverlongLinesAreCutAndSkippedR018(t *testing.T) {
	for _, tc := range []struct {
		name string
		size int
	}{
		{"17 MiB", 17 << 20},
		{"a line that seems endless", 100 << 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			before, peak := stats.HeapAlloc, uint64(0)
			in := &endless{left: tc.size, rest: strings.NewReader("\n" + request(`1`, "ping") + "\n"), during: func() {
				runtime.ReadMemStats(&stats)
				peak = max(peak, stats.HeapAlloc)
			}}
			var out strings.Builder
			start := time.Now()
			if err := peer.New(peer.Lines(in, &out, 0), handler{}, nil).Run(t.Context()); err != nil {
				t.Errorf("Run: %v", err)
			}
			want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: message too long: a line may have 16777216 bytes"}}` + "\n" + empty(`1`) + "\n"
			if out.String() != want {
				t.Errorf("output %.500s", out.String())
			}
			grown := peak - min(peak, before)
			t.Logf("%d MiB: memory grew by %.1f MiB at most, in %v", tc.size>>20, float64(grown)/(1<<20), time.Since(start))
			if grown >= 2*peer.MaxLine {
				t.Errorf("memory grew by %d bytes, which is over twice the cap", grown)
			}
		})
	}
}

func TestALineOfTheGreatestLengthIsServed(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"`, `"}}`
	line := head + strings.Repeat("x", peer.MaxLine-len(head)-len(tail)) + tail
	var out strings.Builder
	if err := peer.New(peer.Lines(strings.NewReader(line+"\n"), &out, 0), handler{}, nil).Run(t.Context()); err != nil {
		t.Errorf("Run: %v", err)
	}
	if out.String() != empty(`1`)+"\n" {
		t.Errorf("output %.500s", out.String())
	}
}
