//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	initLimit  = 2 * time.Minute
	startLimit = time.Minute
	stopLimit  = 10 * time.Second
)

// cluster is one PostgreSQL server and its files, all in one folder.
type cluster struct {
	bin     string              // folder of the programs
	dir     string              // holds data, the log and the socket
	account *syscall.Credential // who runs the programs; nil means the keeper's user
	server  *exec.Cmd
	gone    chan struct{} // closed when the server has ended
}

// serverAccount returns the account for the programs when the keeper is root.
func serverAccount() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("find a user to run PostgreSQL as: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, fmt.Errorf("read the ids of user %s: %w", u.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// newCluster makes the folder and runs initdb in it.
func newCluster(bin string, account *syscall.Credential) (*cluster, error) {
	// Other users cannot enter the folder, so the socket needs no password.
	dir, err := os.MkdirTemp("", "bossman-pg-")
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin, dir: dir, account: account, gone: make(chan struct{})}
	if err := c.initialise(); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func (c *cluster) initialise() error {
	if c.account != nil {
		if err := os.Chown(c.dir, int(c.account.Uid), int(c.account.Gid)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), initLimit)
	defer cancel()
	cmd := c.command(ctx, "initdb", "--pgdata", c.data(), "--username", "bossman",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run initdb: %w\n%s", err, out)
	}
	return nil
}

// start starts the server and waits until it takes connections.
func (c *cluster) start() error {
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.server = c.command(context.Background(), "postgres", "-D", c.data(), "-k", c.dir, "-p", "5432", "-F",
		"-c", "listen_addresses=", "-c", "max_connections=200", "-c", "timezone=UTC")
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	// stop waits for this goroutine, and so does a failed start.
	go func() {
		defer close(c.gone)
		_ = c.server.Wait() // how it ended is in the log
	}()
	if err := c.awaitReady(); err != nil {
		c.stop()
		text, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		return fmt.Errorf("start postgres: %w\n%s", err, text)
	}
	return nil
}

// awaitReady watches the server's pid file, where it notes its state.
func (c *cluster) awaitReady() error {
	limit := time.After(startLimit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return errors.New("it ended at once")
		case <-limit:
			return fmt.Errorf("not ready after %v", startLimit)
		case <-tick.C:
			pid, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
			if err == nil && isReady(string(pid)) {
				return nil
			}
		}
	}
}

// isReady reads the state from the eighth line of a pid file.
func isReady(pid string) bool {
	lines := strings.Split(pid, "\n")
	return len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready"
}

// stop ends the server the fast way, without a checkpoint, and waits for it.
func (c *cluster) stop() {
	_ = c.server.Process.Signal(syscall.SIGQUIT) // it may have ended already
	select {
	case <-c.gone:
	case <-time.After(stopLimit):
		_ = c.server.Process.Kill()
		<-c.gone
	}
}

func (c *cluster) remove() error { return os.RemoveAll(c.dir) }

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// address spells out what variables such as PGPORT would otherwise change.
func (c *cluster) address() string {
	return "postgres://bossman@/postgres?host=" + url.QueryEscape(c.dir) + "&port=5432&sslmode=disable"
}

// command prepares one of PostgreSQL's programs, with an environment that does not
// depend on the developer's.
func (c *cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "LC_ALL=C", "TZ=UTC"}
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.account, Setpgid: true}
	return cmd
}
