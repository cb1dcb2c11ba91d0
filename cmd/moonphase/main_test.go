package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

const testKey = "a key for tests only"

func start(t *testing.T) string {
	t.Helper()
	handler, endpoint, err := newHandler(testKey)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.Background())
		srv.Close()
	})
	return srv.URL
}

func TestMoonphaseAnswersTwoValues(t *testing.T) {
	for _, tc := range []struct {
		name, datetime string
		want           answer
		fails          bool
	}{
		{"a day after a new moon", "2024-04-09T18:21:00Z", answer{1, 1}, false},
		{"a full moon", "2000-01-21T04:40:00Z", answer{14.4, 100}, false},
		{"a zone counts", "2000-01-21T05:40:00+01:00", answer{14.4, 100}, false},
		{"no zone is UTC", "2000-01-21 04:40", answer{14.4, 100}, false},
		{"nonsense is explained", "yesterday", answer{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := moonphase(t.Context(), question{tc.datetime})
			if tc.fails {
				if err == nil || !strings.Contains(err.Error(), "yesterday") {
					t.Errorf("error: %v", err)
				}
				return
			}
			if err != nil || got.Illumination != tc.want.Illumination || got.Age < tc.want.Age-0.1 || got.Age > tc.want.Age+0.1 {
				t.Errorf("got %+v, %v, want about %+v", got, err, tc.want)
			}
		})
	}
	now, err := moonphase(t.Context(), question{})
	age, illumination := Phase(time.Now())
	if err != nil || now.Illumination != illumination || now.Age > age+0.01 || now.Age < age-0.01 {
		t.Errorf("now: %+v, %v, want %v and %v", now, err, age, illumination)
	}
}

func TestTheReadmeIsTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; the README's session was not run")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	url := start(t)
	steps := regexp.MustCompile("(?s)```sh\n(curl .*?)```\n\n```\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(steps) < 4 {
		t.Fatalf("only %d steps found", len(steps))
	}
	for _, step := range steps {
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(step[1], "http://127.0.0.1:8181", url))
		cmd.Env = append(os.Environ(), "MOONPHASE_API_KEY="+testKey)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(step[2]) {
			t.Errorf("%s\n got %s (%v)\nwant %s", step[1], out, err, step[2])
		}
	}
}

func TestAWrongKeyIsRefused(t *testing.T) {
	url := start(t)
	for _, key := range []string{"", "wrong", testKey[:len(testKey)-1]} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Token", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("key %q: %s", key, res.Status)
		}
	}
}

func TestItRefusesToStartWithoutAKey(t *testing.T) {
	t.Setenv("MOONPHASE_API_KEY", "")
	if err := run(t.Context()); err == nil || !strings.Contains(err.Error(), "MOONPHASE_API_KEY") {
		t.Errorf("run: %v", err)
	}
}

func TestItEndsCleanly(t *testing.T) {
	handler, endpoint, err := newHandler(testKey)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- streamable.Run(ctx, l, streamable.NewServer("", handler), endpoint) }() // awaited below
	res, err := http.Get("http://" + l.Addr().String() + "/nowhere")
	if err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("elsewhere: %v, %v", res, err)
	}
	_ = res.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}
