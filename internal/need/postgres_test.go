package need_test

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bossman-mcp/bossman/internal/need"
)

func TestPostgresAnswers(t *testing.T) {
	dsn := need.Postgres(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var one, version int
	err = conn.QueryRow(t.Context(), "SELECT 1, current_setting('server_version_num')::int").Scan(&one, &version)
	if err != nil || one != 1 || version < 15_00_00 {
		t.Errorf("SELECT 1 gave %d on version %d, %v; want 1 on 15 or newer", one, version, err)
	}
	if again := need.Postgres(t); again != dsn {
		t.Errorf("a second call gave another cluster: %s, then %s", dsn, again)
	}
}

func TestPostgresIsRemovedWhenItsTestBinaryIsKilled(t *testing.T) {
	need.Postgres(t) // ends this test where there is no PostgreSQL
	cmd := exec.CommandContext(t.Context(), as(t, "postgresuser"))
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	dir := socketDir(t, line)
	_, statErr := os.Stat(dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	if readErr != nil || statErr != nil {
		t.Fatalf("the child said %q (%v), and its cluster: %v", line, readErr, statErr)
	}
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
	}
	t.Errorf("the cluster in %s outlived the test binary by 20 s", dir)
}

func socketDir(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(strings.TrimSpace(dsn))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("host")
}
