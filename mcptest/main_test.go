package mcptest_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeT stands in for a test that is expected to fail.
type fakeT struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (f *fakeT) Helper()                  {}
func (f *fakeT) Output() io.Writer        { return io.Discard }
func (f *fakeT) Context() context.Context { return context.Background() }
func (f *fakeT) Cleanup(end func())       { f.cleanups = append(f.cleanups, end) }

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// failures runs a test that may fail, and returns what it said.
func failures(test func(t testing.TB)) string {
	f := &fakeT{}
	done := make(chan struct{})
	go func() { // awaited below
		defer close(done)
		defer func() {
			for _, end := range f.cleanups {
				end()
			}
		}()
		test(f)
	}()
	<-done
	return strings.Join(f.failures, "\n")
}
