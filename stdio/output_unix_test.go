//go:build unix

package stdio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

func TestOutputWaitsForAReaderThatIsSlow(t *testing.T) {
	r, w, err := os.Pipe() // which does not block, and holds less
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	read := make(chan []byte)
	go func() {
		got, _ := io.ReadAll(r)
		read <- got
	}()
	out := newOutput(w)
	if n, err := out.Write(want); n != len(want) || err != nil {
		t.Errorf("wrote %d bytes of %d: %v", n, len(want), err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	if got := <-read; !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, or others, of %d", len(got), len(want))
	}
	if _, err := out.Write(want); err == nil {
		t.Error("a closed output could be written to")
	}
}

func TestOutputSaysThatNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_ = r.Close()
	if n, err := newOutput(w).Write([]byte("hello")); n != 0 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %d, %v; want 0 and a broken pipe", n, err)
	}
}
