package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for something that must come. It is far
// more than anything needs that does not hang.
const patience = 20 * time.Second

// process is bossman, started by a test that speaks to it as its client. Its
// methods belong to the test's goroutine, but for write.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan line // closed at the end of the output
	stderr *buffer
	lastID int
	ended  bool
}

// line is what came on the output, and when.
type line struct {
	text string
	at   time.Time
}

// start starts bossman on tasks of its own.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	return startOn(t, filepath.Join(t.TempDir(), "tasks.db"), args...)
}

// startOn starts bossman on the tasks in a file. An argument of the form
// NAME=value goes to its environment.
func startOn(t testing.TB, db string, args ...string) *process {
	t.Helper()
	return launch(t, command(t, program(t), append([]string{"--db", db}, args...)...))
}

// program returns the path of the test binary that is bossman.
func program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("bossman")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// raceSettings keep the race detector, where it is on, from sleeping for a second
// at the end of each process.
const raceSettings = "GORACE=atexit_sleep_ms=0"

// command prepares a program that sees nothing of the settings of whoever runs
// the tests.
func command(t testing.TB, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "BOSSMAN_") || strings.HasPrefix(entry, "XDG_")
	})
	cmd.Env = append(cmd.Env, raceSettings)
	for _, arg := range args {
		if name, _, ok := strings.Cut(arg, "="); ok && !strings.HasPrefix(name, "-") {
			cmd.Env = append(cmd.Env, arg)
		} else {
			cmd.Args = append(cmd.Args, arg)
		}
	}
	return cmd
}

func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, in: in, lines: make(chan line, 1024), stderr: new(buffer)}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(out) // ends with the output; stop waits for it
	t.Cleanup(p.stop)
	return p
}

func (p *process) read(out io.Reader) {
	defer close(p.lines)
	for r := bufio.NewReaderSize(out, 64<<10); ; {
		text, err := r.ReadString('\n')
		if text != "" {
			p.lines <- line{text, time.Now()}
		}
		if err != nil {
			return
		}
	}
}

// stop ends the process the hard way unless the test has ended it, and looks at
// what it wrote on standard error.
func (p *process) stop() {
	p.kill()
	said := p.stderr.String()
	for _, bad := range []string{"DATA RACE", "panicked", "goroutine 1 ["} {
		if strings.Contains(said, bad) {
			p.t.Errorf("standard error says %q: %s", bad, shorten(said))
		}
	}
}

// kill is kill -9. It returns when the process is gone.
func (p *process) kill() {
	if p.ended {
		return
	}
	p.ended = true
	_ = p.cmd.Process.Kill()
	for range p.lines { // Wait must come after the last read
	}
	_ = p.cmd.Wait()
}

// write sends bytes as they are.
func (p *process) write(text string) error {
	_, err := io.WriteString(p.in, text)
	return err
}

// send sends a line.
func (p *process) send(text string) {
	p.t.Helper()
	if err := p.write(text + "\n"); err != nil {
		p.t.Fatalf("send %s: %v; standard error: %s", shorten(text), err, p.stderr)
	}
}

// next returns the next line, without its line break.
func (p *process) next() line {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("the output ended; standard error: %s", p.stderr)
		}
		text, whole := strings.CutSuffix(l.text, "\n")
		if !whole {
			p.t.Fatalf("the output ends in the middle of a line: %s", shorten(text))
		}
		return line{text, l.at}
	case <-time.After(patience):
		p.t.Fatalf("no answer within %v; standard error: %s", patience, p.stderr)
	}
	return line{}
}

// receive returns the next message.
func (p *process) receive() message {
	p.t.Helper()
	return decode(p.t, p.next().text)
}

// ask sends a line and returns the message that comes next.
func (p *process) ask(text string) message {
	p.t.Helper()
	p.send(text)
	return p.receive()
}

// call sends a request in the newest revision and returns its answer, which
// must be the next message.
func (p *process) call(method, params string) message {
	p.t.Helper()
	p.lastID++
	id := fmt.Sprintf(`"call-%d"`, p.lastID)
	m := p.ask(modern(id, method, params))
	if string(m.ID) != id {
		p.t.Fatalf("asked %s under %s, answered under %s", method, id, m.ID)
	}
	return m
}

// alive fails the test unless a ping is answered, by the next message.
func (p *process) alive() {
	p.t.Helper()
	p.lastID++
	want := fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping-%d","result":{}}`, p.lastID)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping-%d","method":"ping"}`, p.lastID))
	if got := p.next().text; got != want {
		p.t.Fatalf("pinged, got %s", shorten(got))
	}
}

// handshake opens a session in a revision.
func (p *process) handshake(revision string) {
	p.t.Helper()
	m := p.ask(initialize(revision))
	if m.Error != nil {
		p.t.Fatalf("initialize: %s", m.text)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// end closes the input. The process must end by itself, with code 0, within a
// second. It returns what came on the output after what the test has read.
func (p *process) end() string {
	p.t.Helper()
	p.ended = true
	begin := time.Now()
	_ = p.in.Close()
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	var rest strings.Builder
	for l := range p.lines {
		rest.WriteString(l.text)
	}
	err := p.cmd.Wait()
	if took := time.Since(begin); took > slack(time.Second) {
		p.t.Errorf("bossman took %v to end", took)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		p.t.Errorf("bossman ended with code %d; standard error: %s", exit.ExitCode(), p.stderr)
	case err != nil:
		p.t.Errorf("wait for bossman: %v", err)
	}
	return rest.String()
}

// slack is a limit made larger for a machine with other work, and so large that
// it does not count for the race detector, which is many times slower.
func slack(limit time.Duration) time.Duration {
	if raceEnabled {
		return patience
	}
	return 2 * limit
}

// flat fails the test if the process has grown by more than so many KiB since it
// had before. The race detector's own memory is not bossman's.
func (p *process) flat(before, most int) {
	p.t.Helper()
	if grown := p.memory() - before; grown > most && !raceEnabled {
		p.t.Errorf("bossman grew by %d KiB", grown)
	}
}

// buffer is a bytes.Buffer that one goroutine fills while another looks.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// shorten makes text fit for a message to people.
func shorten(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
}

// quickFolder is a folder in memory where the system has one. It is for tests
// that are about something else than the disk.
func quickFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bossman-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
