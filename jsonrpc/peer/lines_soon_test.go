package peer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// written returns the lines of the next write. What is read from one end of an
// io.Pipe at once is what was written at once.
func written(t *testing.T, out io.Reader) []string {
	t.Helper()
	buf := make([]byte, 1<<20)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\n"), "\n")
}

func TestNotificationsInARowShareAWrite(t *testing.T) {
	const many = 100
	synctest.Test(t, func(t *testing.T) {
		var said atomic.Int32
		_, far, _, out := connectLines(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			for i := range many {
				if err := r.Notify(ctx, fmt.Sprint("note ", i), nil); err != nil {
					t.Error(err)
				}
				said.Add(1)
			}
			return struct{}{}, nil
		}), nil)
		far.send(request(`1`, "count"))
		synctest.Wait()
		if n := said.Load(); n != 0 {
			t.Fatalf("%d notifications are said to be sent, though the first is not written", n)
		}
		got := written(t, out)
		synctest.Wait()
		if n := said.Load(); n != many {
			t.Errorf("%d of %d notifications are on their way while the second is written", n, many)
		}
		writes := 1
		for ; len(got) <= many; writes++ {
			got = append(got, written(t, out)...)
		}
		if writes > 3 { // the first, the second, the rest and the answer
			t.Errorf("%d notifications took %d writes", many, writes)
		}
		for i, line := range got[:many] {
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"note %d"}`, i); line != want {
				t.Fatalf("line %d is %s, want %s", i, line, want)
			}
		}
		if got[many] != empty(`1`) {
			t.Errorf("the last line is %s, want the answer", got[many])
		}
	})
}

func TestANotificationAfterAPauseIsWrittenBeforeItIsSaidToBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said atomic.Int32
		_, far, _, out := connectLines(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			for range 3 {
				time.Sleep(time.Millisecond)
				if err := r.Notify(ctx, "note", nil); err != nil {
					t.Error(err)
				}
				said.Add(1)
			}
			return struct{}{}, nil
		}), nil)
		far.send(request(`1`, "count"))
		for i := range int32(3) {
			time.Sleep(2 * time.Millisecond)
			if n := said.Load(); n != i {
				t.Errorf("%d notifications are said to be sent, %d are written", n, i)
			}
			written(t, out)
		}
		written(t, out)
	})
}

func TestAHandlerThatSpeaksToNobodyIsHeldUpUntilItIsCancelled(t *testing.T) {
	note := strings.Repeat("n", 1000)
	synctest.Test(t, func(t *testing.T) {
		var said atomic.Int32
		told := make(chan error, 1)
		_, far, in, out := connectLines(t, answering(func(ctx context.Context, r *peer.Request) (any, error) {
			for r.Method == "count" {
				if err := r.Notify(ctx, note, nil); err != nil {
					told <- err
					break
				}
				said.Add(1)
			}
			return struct{}{}, nil
		}), nil)
		far.send(request(`1`, "count"))
		written(t, out)
		time.Sleep(time.Minute)
		ahead := int(said.Load())
		if ahead < 10 || ahead > 40 {
			t.Errorf("the handler is %d notifications of 1 KB ahead", ahead)
		}
		_, _ = io.WriteString(in, cancelled(`1`)+"\n")
		if err := <-told; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler was told %v", err)
		}
		for left := ahead - 1; left > 0; {
			left -= len(written(t, out))
		}
		far.send(request(`2`, "other"))
		if got := written(t, out); len(got) != 1 || got[0] != empty(`2`) {
			t.Errorf("after all notifications came %.200q", got)
		}
	})
}

func TestANotificationThatCouldNotBeWrittenFailsLaterOnes(t *testing.T) {
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		in, feed := io.Pipe()
		out := &failing{60, broken}
		var told []error
		run(t, peer.Lines(in, out, 0), answering(func(ctx context.Context, r *peer.Request) (any, error) {
			for range 4 {
				told = append(told, r.Notify(ctx, "note", nil))
				synctest.Wait()
			}
			return struct{}{}, nil
		}), nil)
		_, _ = io.WriteString(feed, request(`1`, "count")+"\n")
		synctest.Wait()
		want := []error{nil, nil, broken, broken}
		for i, err := range told {
			if !errors.Is(err, want[i]) {
				t.Errorf("notification %d: %v, want %v", i, err, want[i])
			}
		}
	})
}

// A notification is one of many.
func BenchmarkNotify(b *testing.B) {
	in, feed := io.Pipe()
	done := make(chan error, 1)
	p := peer.New(peer.Lines(in, io.Discard, 0), answering(func(ctx context.Context, r *peer.Request) (any, error) {
		b.ReportAllocs()
		for b.Loop() {
			if err := r.Notify(ctx, "notifications/progress", nil); err != nil {
				b.Error(err)
			}
		}
		_ = feed.Close()
		return struct{}{}, nil
	}), nil)
	go func() { done <- p.Run(context.Background()) }()
	if _, err := io.Copy(feed, bytes.NewBufferString(request(`1`, "count")+"\n")); err != nil {
		b.Fatal(err)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
