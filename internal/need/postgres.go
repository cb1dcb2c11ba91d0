package need

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// oldestPostgres is the oldest major version that the tests accept.
const oldestPostgres = 15

// postgresVersion finds 15 in "postgres (PostgreSQL) 15.18 (Debian 15.18-0)".
var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) ([0-9]+)`)

// postgresByApt installs PostgreSQL, once in a test binary.
var postgresByApt = sync.OnceValue(func() error {
	return aptInstall(context.Background(), "postgresql")
})

// sharedCluster starts the test binary's cluster at the first call.
var sharedCluster = sync.OnceValues(startCluster)

// cluster is a running PostgreSQL. Its keeper stops it when alive closes, which the
// end of this process does, however it ends.
type cluster struct {
	dsn   string
	alive *os.File
}

// Postgres returns the address of a PostgreSQL cluster, version 15 or newer, that
// all tests of this test binary share and that is thrown away when the binary ends.
// It listens on a Unix socket; the user is a superuser, so a test can make itself a
// database. Commits are not synced to disk. The first call takes a second or two.
func Postgres(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		Unavailable(t, "PostgreSQL", "the tests do not start it on Windows")
	}
	c, err := sharedCluster()
	if err != nil {
		Unavailable(t, "PostgreSQL", err.Error())
	}
	return c.dsn
}

// startCluster starts a keeper, a program of its own, so that the cluster is
// stopped and removed even when this process is killed.
func startCluster() (*cluster, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir, err := root()
	if err != nil {
		return nil, err
	}
	keeperIn, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer keeperIn.Close()
	out, keeperOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, alive.Close())
	}
	defer out.Close()
	cmd := exec.Command("go", "run", "-buildvcs=false", "./internal/need/keeper", bin)
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = keeperIn, keeperOut, keeperOut
	ownGroup(cmd)
	err = errors.Join(cmd.Start(), keeperOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the keeper of PostgreSQL: %w", err), alive.Close())
	}
	dsn, err := readAddress(out)
	if err != nil {
		return nil, errors.Join(err, alive.Close(), endKeeper(cmd))
	}
	return &cluster{dsn: dsn, alive: alive}, nil
}

// readAddress waits for the keeper to say where the cluster listens. Anything else
// it says is why there is none.
func readAddress(out *os.File) (string, error) {
	if err := out.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		return "", err
	}
	var said strings.Builder
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if dsn, ok := strings.CutPrefix(line, "ready "); ok && err == nil {
			return strings.TrimSpace(dsn), nil
		}
		said.WriteString(line)
		if errors.Is(err, io.EOF) {
			return "", errors.New(strings.TrimSpace(said.String()))
		}
		if err != nil {
			return "", fmt.Errorf("wait for PostgreSQL: %w\n%s", err, said.String())
		}
	}
}

// endKeeper waits a moment for a keeper whose input is closed, then kills it.
func endKeeper(cmd *exec.Cmd) error {
	timer := time.AfterFunc(10*time.Second, func() { _ = killGroup(cmd) })
	defer timer.Stop()
	err := cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil // it has said why
	}
	return err
}

// postgresBin returns the folder of the newest PostgreSQL's programs.
func postgresBin() (string, error) {
	bin, err := newestPostgres()
	if err == nil {
		return bin, nil
	}
	if aptErr := postgresByApt(); aptErr != nil {
		return "", fmt.Errorf("%w: %w", err, aptErr)
	}
	return newestPostgres()
}

func newestPostgres() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	best, found := "", oldestPostgres-1
	for _, dir := range dirs {
		if major := postgresMajor(dir); major > found {
			best, found = dir, major
		}
	}
	if best == "" {
		return "", fmt.Errorf("no PostgreSQL %d or newer in /usr/lib/postgresql or on PATH", oldestPostgres)
	}
	return best, nil
}

// postgresMajor returns 0 where the folder has no server that runs.
func postgresMajor(dir string) int {
	s := setting{limit: time.Minute}
	out, err := run(context.Background(), s, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return 0
	}
	match := postgresVersion.FindStringSubmatch(out)
	if match == nil {
		return 0
	}
	major, err := strconv.Atoi(match[1])
	if err != nil {
		return 0
	}
	return major
}
