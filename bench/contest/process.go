package contest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/bench/load"
	"github.com/bossman-mcp/bossman/bench/measure"
)

// Server is one contestant.
type Server struct {
	Name    string
	Version string   // of the library, for the report
	Command []string // program and first arguments
	Dir     string   // working folder; empty: the current one
	Client  []string // the library's client, which calls the server it is given; nil: none takes part
}

// transport is how a server is spoken to.
type transport string

const (
	overStdio transport = "stdio"
	overHTTP  transport = "http"
)

// process is a running server.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File // of a server on stdio
	addr    string   // of a server on HTTP
	stderr  *tail
	exited  chan error // has room for one
}

// start starts the server with a number of tools besides those of the contract.
func (s Server) start(t transport, tools int) (*process, error) {
	args := append([]string(nil), s.Command[1:]...)
	args = append(args, "-tools", strconv.Itoa(tools))
	p := &process{stderr: &tail{}, exited: make(chan error, 1)}
	if t == overHTTP {
		addr, err := freeAddress()
		if err != nil {
			return nil, err
		}
		p.addr = addr
		args = append(args, "-http", addr)
	}
	p.cmd = exec.Command(s.Command[0], args...)
	p.cmd.Dir = s.Dir
	p.cmd.Stderr = p.stderr
	if err := p.launch(t); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	if t == overHTTP {
		if err := p.awaitListening(); err != nil {
			return nil, errors.Join(err, p.stop())
		}
	}
	return p, nil
}

// launch starts the program; pipes of ours are files, which have deadlines.
func (p *process) launch(t transport) error {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if t == overStdio {
		stdin, in, err := os.Pipe()
		if err != nil {
			return err
		}
		out, stdout, err := os.Pipe()
		if err != nil {
			return errors.Join(err, stdin.Close(), in.Close())
		}
		theirs = []*os.File{stdin, stdout}
		p.in, p.out = in, out
		p.cmd.Stdin, p.cmd.Stdout = stdin, stdout
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() { p.exited <- p.cmd.Wait() }() // stop waits for it
	return nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (p *process) awaitListening() error {
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("the server ended before it listened: %v\n%s", err, p.stderr)
		default:
		}
	}
	return fmt.Errorf("the server does not listen\n%s", p.stderr)
}

func (p *process) cpu() (time.Duration, error) { return measure.CPU(p.cmd.Process.Pid) }

func (p *process) memory() (measure.Memory, error) { return measure.MemoryOf(p.cmd.Process.Pid) }

// stop kills the server and frees what it had.
func (p *process) stop() error {
	err := p.cmd.Process.Kill()
	<-p.exited
	for _, f := range []*os.File{p.in, p.out} {
		if f != nil {
			f.Close()
		}
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// open connects the driver to the server.
func (p *process) open(era load.Era) (driver, error) {
	if p.addr != "" {
		return load.OpenHTTP(p.addr, era)
	}
	return load.OpenPipe(p.in, p.out, era)
}

// driver is what can put a server under load.
type driver interface {
	Run(w *load.Work, o load.Options) (load.Result, error)
	// Finish says good-bye. It fails if the server then says more than it was
	// asked.
	Finish() error
}

// tail keeps the end of what a program says.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	t.buf = t.buf[max(0, len(t.buf)-4<<10):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
