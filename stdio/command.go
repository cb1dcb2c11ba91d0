package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// Cmd is a server to be started as a child process. Make one with [Command] and
// change its fields before the first Dial.
type Cmd struct {
	Path string   // the program, looked up as os/exec does; no shell sees it
	Args []string // without the program's name
	Dir  string   // where it runs; empty: here
	// Env is the child's whole environment, as name=value. Nil: that of this
	// process.
	Env []string
	// MaxLine is the longest message taken from the child, in bytes. 0: 16 MiB.
	MaxLine int
	// Grace is how long a child may take to end after its input was closed,
	// before it is told to by a signal; most of it again, and it is killed. 0:
	// one second.
	Grace time.Duration
	// Stderr gets what the child writes on standard error. Nil: it is dropped,
	// but for the tail that errors show.
	Stderr io.Writer
	// Logger hears of children that had to be killed. Nil: slog.Default().
	Logger *slog.Logger
}

// Command returns the server that a command line starts.
func Command(name string, args ...string) *Cmd { return &Cmd{Path: name, Args: args} }

// String returns the command line, for people.
func (c *Cmd) String() string { return strings.Join(append([]string{c.Path}, c.Args...), " ") }

// ExitError says that a child ended by itself while it was needed.
type ExitError struct {
	Command string
	State   string // such as "exit status 1" or "signal: killed"
	Stderr  string // the last lines it wrote there
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("server %q ended (%s)", e.Command, e.State)
	if e.Stderr != "" {
		text += "; its last words:\n" + e.Stderr
	}
	return text
}

// Dial starts the child and returns the connection to it. Closing the connection
// ends the child and everything it started: its input is closed, then it gets a
// signal to end, then it is killed. That takes at most twice [Cmd.Grace], and how
// the child ended is no error. The context bounds nothing but the start.
func (c *Cmd) Dial(ctx context.Context) (peer.Transport, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k := &child{cmd: c, exited: make(chan struct{}), log: c.Logger, tail: tail{also: c.Stderr, whole: make(chan struct{})}}
	if k.log == nil {
		k.log = slog.Default()
	}
	out, err := k.start()
	if err != nil {
		return nil, fmt.Errorf("start server %q: %w", c, err)
	}
	k.in = newFeeder(k.stdin)
	k.out = newSpout(out)
	k.lines = peer.Lines(k.out, io.Discard, c.MaxLine).(lines)
	return k, nil
}

// lines is what peer.Lines returns.
type lines interface {
	peer.Transport
	Ready() bool
}

// child is a running server as a transport.
type child struct {
	cmd   *Cmd
	log   *slog.Logger
	group group // the child and what it started
	proc  *exec.Cmd
	stdin *os.File
	in    *feeder
	out   *spout
	lines lines          // reads out
	tail  tail           // of standard error
	work  sync.WaitGroup // the goroutines that watch the child

	exited chan struct{} // closed when the process is gone and was waited for
	state  string        // how it ended; set before exited is closed

	closing sync.Once
	mu      sync.Mutex
	ending  bool // Close was called
}

// start runs the program with pipes of our own, so that waiting for it neither
// cuts off its last words nor waits for grandchildren that hold a pipe.
func (k *child) start() (out *os.File, err error) {
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	pipe := func(weWrite bool) (mine, its *os.File) {
		r, w, pipeErr := os.Pipe()
		if pipeErr != nil {
			err = errors.Join(err, pipeErr)
			return nil, nil
		}
		if weWrite {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
		return r, w
	}
	stdin, itsIn := pipe(true)
	stdout, itsOut := pipe(false)
	stderr, itsErr := pipe(false)
	if err != nil {
		return nil, err
	}
	k.proc = exec.Command(k.cmd.Path, k.cmd.Args...)
	k.proc.Dir, k.proc.Env = k.cmd.Dir, k.cmd.Env
	k.proc.Stdin, k.proc.Stdout, k.proc.Stderr = itsIn, itsOut, itsErr
	if err = k.group.start(k.proc); err != nil {
		return nil, err
	}
	k.stdin = stdin
	k.work.Go(func() { // Close waits for it
		k.tail.read(stderr)
		_ = stderr.Close()
	})
	k.work.Go(k.wait) // Close waits for it
	return stdout, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wait reaps the process.
func (k *child) wait() {
	_ = k.proc.Wait() // the state tells more than the error
	k.state = k.proc.ProcessState.String()
	close(k.exited)
}

// Send hands a message to the child. It waits, no longer than ctx allows, while
// too much is waiting for a child that does not read.
func (k *child) Send(ctx context.Context, message []byte) error {
	err := k.in.send(ctx, message)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", peer.ErrClosed, k.ended(err)) // it was not taken, and no other will be
	}
	return err
}

// Receive returns the child's next line. When there will be none, it says why.
func (k *child) Receive(ctx context.Context) ([]byte, error) {
	message, err := k.lines.Receive(ctx)
	if err == nil || errors.Is(err, peer.ErrTooLong) {
		return message, err
	}
	return nil, k.ended(err)
}

// Lend lets callers receive for themselves, by ReceiveSoon; see package peer.
func (k *child) Lend(on bool) bool {
	if !on {
		k.out.takeBack()
		return true
	}
	return k.out.lend()
}

// ReceiveSoon is Receive for a line that is about to come.
func (k *child) ReceiveSoon(ctx context.Context) ([]byte, error) {
	k.out.waits = maxWaits
	return k.lines.Receive(ctx)
}

// maxWaits is how often ReceiveSoon waits: a long line comes in several pieces.
const maxWaits = 4

// Ready reports whether a line was read already.
func (k *child) Ready() bool { return k.lines.Ready() }

// ended explains the end of a pipe: our own doing, or the child's.
func (k *child) ended(err error) error {
	k.mu.Lock()
	ending := k.ending
	k.mu.Unlock()
	if ending {
		return io.EOF
	}
	select {
	case <-k.exited:
	case <-time.After(200 * time.Millisecond): // it closed its output first
	}
	select {
	case <-k.exited:
		select {
		case <-k.tail.whole:
		case <-time.After(100 * time.Millisecond): // what it started holds its standard error
		}
		return &ExitError{Command: k.cmd.String(), State: k.state, Stderr: k.tail.text()}
	default:
		return fmt.Errorf("server %q closed its end: %w", k.cmd, err)
	}
}

// Close ends the child; see [Cmd.Dial].
func (k *child) Close() error {
	k.closing.Do(func() {
		k.mu.Lock()
		k.ending = true
		k.mu.Unlock()
		k.stop()
	})
	return nil
}

// stop is the ladder: ask, tell, force.
func (k *child) stop() {
	grace := k.cmd.Grace
	if grace == 0 {
		grace = time.Second
	}
	k.in.close() // and with it the child's input
	if !k.within(grace) {
		k.group.terminate()
		if !k.within(grace * 3 / 4) {
			k.log.Warn("server had to be killed", "command", k.cmd.String())
		}
	}
	k.group.kill() // what is left of it, and of what it started
	<-k.exited
	_ = k.out.Close()
	_ = k.lines.Close()
	k.in.wait()
	k.work.Wait()
	k.group.release()
}

func (k *child) within(d time.Duration) bool {
	select {
	case <-k.exited:
		return true
	case <-time.After(d):
		return false
	}
}
