package conformance_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/need"
)

// suite is the referee.
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12"

// expected is how many checks of each scenario succeed, by the revision whose
// requirements are run. A server that answers nonsense still collects green checks,
// so that the number is what counts.
var expected = map[string]map[string]int{
	"2025-11-25": {
		"completion-complete":           2,
		"dns-rebinding-protection":      2,
		"elicitation-sep1034-defaults":  6,
		"elicitation-sep1330-enums":     6,
		"json-schema-2020-12":           8,
		"logging-set-level":             2,
		"ping":                          2,
		"prompts-get-embedded-resource": 2,
		"prompts-get-simple":            2,
		"prompts-get-with-args":         2,
		"prompts-get-with-image":        2,
		"prompts-list":                  2,
		"resources-list":                2,
		"resources-read-binary":         2,
		"resources-read-text":           2,
		"resources-subscribe":           2,
		"resources-templates-read":      2,
		"resources-unsubscribe":         2,
		"server-initialize":             3,
		"server-session-lifecycle":      3,
		"server-sse-multiple-streams":   2,
		"server-sse-polling":            3,
		"tools-call-audio":              2,
		"tools-call-elicitation":        2,
		"tools-call-embedded-resource":  2,
		"tools-call-error":              2,
		"tools-call-image":              2,
		"tools-call-mixed-content":      2,
		"tools-call-sampling":           2,
		"tools-call-simple-text":        2,
		"tools-call-with-logging":       2,
		"tools-call-with-progress":      2,
		"tools-list":                    3,
	},
	"2026-07-28": {
		"caching":                                       8,
		"completion-complete":                           2,
		"dns-rebinding-protection":                      2,
		"http-custom-header-server-validation":          10,
		"http-header-validation":                        14,
		"input-required-result-basic-elicitation":       3,
		"input-required-result-basic-list-roots":        3,
		"input-required-result-basic-sampling":          3,
		"input-required-result-capability-check":        2,
		"input-required-result-ignore-extra-params":     2,
		"input-required-result-missing-input-response":  2,
		"input-required-result-multi-round":             4,
		"input-required-result-multiple-input-requests": 3,
		"input-required-result-non-tool-request":        3,
		"input-required-result-request-state":           3,
		"input-required-result-result-type":             2,
		"input-required-result-tampered-state":          2,
		"input-required-result-unsupported-methods":     2,
		"input-required-result-validate-input":          3,
		"json-schema-2020-12":                           8,
		"prompts-get-embedded-resource":                 2,
		"prompts-get-simple":                            2,
		"prompts-get-with-args":                         2,
		"prompts-get-with-image":                        2,
		"prompts-list":                                  2,
		"resources-list":                                2,
		"resources-read-binary":                         2,
		"resources-read-text":                           2,
		"resources-templates-read":                      2,
		"sep-2164-resource-not-found":                   4,
		"server-sse-multiple-streams":                   2,
		"server-stateless":                              30,
		"tasks-capability-negotiation":                  5,
		"tasks-dispatch-and-envelope":                   9,
		"tasks-lifecycle":                               9,
		"tasks-mrtr-composition":                        2,
		"tasks-mrtr-input":                              4,
		"tasks-request-headers":                         5,
		"tasks-request-state-removal":                   3,
		"tasks-required-task-error":                     3,
		"tasks-status-notifications":                    0,
		"tasks-wire-fields":                             4,
		"tools-call-audio":                              2,
		"tools-call-embedded-resource":                  2,
		"tools-call-error":                              2,
		"tools-call-image":                              2,
		"tools-call-mixed-content":                      2,
		"tools-call-simple-text":                        2,
		"tools-call-with-progress":                      2,
		"tools-list":                                    4,
	},
}

// TestServer runs both sets of requirements against one process in one
// configuration.
func TestServer(t *testing.T) {
	node := need.Node(t)
	dir := need.NPM(t, suite)
	url := serve(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			results := t.TempDir()
			cmd := need.NodeTool(t, node, dir, "conformance", "server", "--url", url, "--requirements", revision, "-o", results)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("the suite ended with %v\n%s", err, out)
			}
			judge(t, results, expected[revision])
		})
	}
}

// serve builds and starts the server and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	program := filepath.Join(t.TempDir(), "server")
	build := exec.Command("go", "build", "-o", program, "./server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "-http", addr)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
		}
		said <- text.String()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		words := <-said
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the server ended with %v and said:\n%s", err, words)
		}
	})
	for range 100 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return "http://" + strings.Replace(addr, "127.0.0.1", "localhost", 1) + "/mcp"
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}

// folder is how the suite names the results of a scenario.
var folder = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// judge compares the checks of each scenario with what is expected: no failure, no
// warning, and none missing.
func judge(t *testing.T, results string, want map[string]int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no results in %s: %v", results, err)
	}
	seen := make(map[string]bool)
	total := 0
	for _, file := range files {
		match := folder.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if match == nil {
			t.Fatalf("results in a folder of another form: %s", file)
		}
		name := match[1]
		passed, bad := count(t, file)
		seen[name] = true
		total += passed
		minimum, known := want[name]
		if !known || passed < minimum || len(bad) > 0 {
			t.Errorf("%s: %d checks passed, want %d; %s", name, passed, minimum, strings.Join(bad, "; "))
		}
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("%s was not run", name)
		}
	}
	t.Logf("%d scenarios, %d checks passed, no failure, no warning", len(seen), total)
}

// count returns how many checks of a scenario succeeded, and those that must not be.
func count(t *testing.T, file string) (passed int, bad []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Error  string `json:"errorMessage"`
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "FAILURE", "WARNING":
			bad = append(bad, fmt.Sprintf("%s: %s (%s)", c.Status, c.ID, c.Error))
		}
	}
	slices.Sort(bad)
	return passed, bad
}
