package streamable_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/streamable"
)

var benchServer = flag.Bool("benchserver", false, "serve for a benchmark in another process")

func TestMain(m *testing.M) {
	flag.Parse()
	if *benchServer {
		serveBench()
		return
	}
	goleak.VerifyTestMain(m)
}

// serveBench serves until its input ends. It prints its address, and for each
// line of input a figure about itself.
func serveBench() {
	runtime.MemProfileRate = 0 // as in a program that has no profiler
	e := streamable.Handler(adder(), nil)
	srv := streamable.NewServer("127.0.0.1:0", e)
	l, err := net.Listen("tcp", srv.Addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- streamable.Run(ctx, l, srv, e) }() // awaited below
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "streams":
			fmt.Println(e.Stats().Streams)
		case "resident":
			fmt.Println(residentBytes())
		}
	}
	stop()
	if err := <-ended; err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// residentBytes returns the process's resident memory, -1 where that is not known.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}

// benchProcess is a server in a process of its own.
type benchProcess struct {
	addr string
	cmd  *exec.Cmd
	in   interface {
		Write([]byte) (int, error)
		Close() error
	}
	out *bufio.Reader
}

func startBenchServer(b *testing.B) *benchProcess {
	b.Helper()
	p := &benchProcess{cmd: exec.Command(os.Args[0], "-benchserver")}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscanln(p.out, &p.addr); err != nil {
		b.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return p
}

// ask returns a figure of the server.
func (p *benchProcess) ask(b *testing.B, what string) float64 {
	b.Helper()
	var n float64
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscanln(p.out, &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// resident returns how much of the server is in memory, in MiB.
func (p *benchProcess) resident(b *testing.B) float64 {
	b.Helper()
	n := p.ask(b, "resident")
	if n < 0 {
		p.stop(b)
		b.Skip("resident memory is read from /proc, which is not here")
	}
	return n / (1 << 20)
}

func (p *benchProcess) stop(b *testing.B) {
	b.Helper()
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		b.Errorf("the server ended with %v", err)
	}
}
