package need

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// outputKept is how much of a failed program's output its error carries: the end,
// where programs say what went wrong.
const outputKept = 8 << 10

// setting is how a program runs.
type setting struct {
	dir   string        // working folder; empty means the current one
	env   []string      // added to the environment
	limit time.Duration // the program and its children are killed after this long
}

// run starts a program without a shell, waits for it and returns what it printed.
// The error names the command line and carries the end of the output.
func run(ctx context.Context, s setting, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	cmd := command(ctx, name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err == nil {
		return text, nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("killed after %v: %w", s.limit, err)
	}
	tail := text[max(0, len(text)-outputKept):]
	return text, fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, tail)
}

// command prepares a program that dies with ctx, together with its children.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	// A grandchild that holds an output pipe must not hold up the test.
	cmd.WaitDelay = 5 * time.Second
	ownGroup(cmd)
	return cmd
}

// aptInstall installs Debian packages where the tests run as root on a system that
// has apt-get. Test binaries take turns, since go test runs several at once.
func aptInstall(ctx context.Context, pkgs ...string) error {
	apt, err := exec.LookPath("apt-get")
	if err != nil || runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return fmt.Errorf("%s not installed: only root on a Debian system may", strings.Join(pkgs, ", "))
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(cache + "/apt.lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	s := setting{env: []string{"DEBIAN_FRONTEND=noninteractive"}, limit: 5 * time.Minute}
	if _, err := run(ctx, s, apt, "update", "-q"); err != nil {
		return err
	}
	args := []string{"install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", "--"}
	_, err = run(ctx, s, apt, append(args, pkgs...)...)
	return err
}
