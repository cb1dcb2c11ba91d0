package caller

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fake is a client that needs no server.
type fake struct {
	add    func(a, b float64) (string, error)
	closed bool
}

func (f *fake) Add(_ context.Context, a, b float64) (string, error) { return f.add(a, b) }

func (f *fake) Close() error {
	f.closed = true
	return nil
}

func TestClientsAreMeasuredAndChecked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are measured on Linux only")
	}
	for _, tt := range []struct {
		name string
		add  func(a, b float64) (string, error)
		want string // in the error; empty: none
	}{
		{"a right answer counts", func(a, b float64) (string, error) { return strconv.Itoa(int(a + b)), nil }, ""},
		{"a wrong answer ends the run", func(a, b float64) (string, error) { return strconv.Itoa(int(a)), nil }, "want"},
		{"an error ends the run", func(a, b float64) (string, error) { return "", errors.New("no server") }, "no server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{add: tt.add}
			connect := func(context.Context, string, []string) (Client, error) { return f, nil }
			r, err := run(connect, "2026-07-28", []string{"server"}, plan{3, time.Millisecond, 5 * time.Millisecond})
			switch {
			case !f.closed:
				t.Error("the client is not closed")
			case tt.want == "" && (err != nil || r.Calls == 0 || r.Elapsed < int64(5*time.Millisecond)):
				t.Errorf("measured %+v, error %v", r, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := run(nil, "", nil, plan{}); err == nil {
		t.Error("no command is no error")
	}
}
