package login_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/oauth/login"
)

// stores are tested alike.
func stores(t *testing.T, test func(t *testing.T, s login.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, login.Memory()) })
	t.Run("files", func(t *testing.T) { test(t, login.Files(filepath.Join(t.TempDir(), "made", "when needed"))) })
}

func put(value string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(value), nil }
}

func TestStores(t *testing.T) {
	stores(t, func(t *testing.T, s login.Store) {
		want := func(key, value string) {
			t.Helper()
			got, err := s.Load(t.Context(), key)
			if err != nil || string(got) != value || (got == nil) != (value == "") {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
		want("a", "")
		for _, c := range []struct{ key, value string }{{"a", "one"}, {"../b", "t\x00wo"}, {"a", "three"}} {
			if err := s.Update(t.Context(), c.key, put(c.value)); err != nil {
				t.Fatal(err)
			}
			want(c.key, c.value)
		}
		want("../b", "t\x00wo")
		wrong := errors.New("wrong")
		err := s.Update(t.Context(), "a", func(old []byte) ([]byte, error) {
			if string(old) != "three" {
				t.Errorf("old is %q", old)
			}
			return []byte("four"), wrong
		})
		if !errors.Is(err, wrong) {
			t.Error(err)
		}
		want("a", "three")
		for range 2 {
			if err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) { return nil, nil }); err != nil {
				t.Fatal(err)
			}
			want("a", "")
		}
	})
}

func TestUpdatesOfAKeyDoNotMeet(t *testing.T) {
	stores(t, func(t *testing.T, s login.Store) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { increment(t, s, "n") })
		}
		all.Wait()
		if got, err := s.Load(t.Context(), "n"); err != nil || string(got) != "20" {
			t.Errorf("%s, %v", got, err)
		}
	})
}

func increment(t *testing.T, s login.Store, key string) {
	err := s.Update(t.Context(), key, func(old []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(old))
		time.Sleep(time.Millisecond) // long enough for others to come in, if they can
		return []byte(strconv.Itoa(n + 1)), nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAnUpdateThatHasToWait(t *testing.T) {
	stores(t, func(t *testing.T, s login.Store) {
		err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if err := s.Update(ctx, "a", put("x")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			return nil, s.Update(t.Context(), "b", put("y")) // another key is free
		})
		if err != nil {
			t.Error(err)
		}
	})
}

const childFolder = "LOGIN_TEST_FOLDER"

// Four processes count to 40 together.
func TestFilesAreSharedByProcesses(t *testing.T) {
	if dir := os.Getenv(childFolder); dir != "" {
		for range 10 {
			increment(t, login.Files(dir), "n")
		}
		return
	}
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFilesAreSharedByProcesses$")
			cmd.Env = append(os.Environ(), childFolder+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if got, err := login.Files(dir).Load(t.Context(), "n"); err != nil || string(got) != "40" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes are of another kind here")
	}
	dir := filepath.Join(t.TempDir(), "logins")
	s := login.Files(dir)
	if err := s.Update(t.Context(), "a", put("canary")); err != nil {
		t.Fatal(err)
	}
	var file string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, _ := e.Info()
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		if strings.HasSuffix(e.Name(), ".json") {
			file = filepath.Join(dir, e.Name())
		}
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v", info.Mode())
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a file that others may read: %v", err)
	}
	for _, text := range []string{"", "canary", `{"key":"b","value":"Y2FuYXJ5"}`, `{"key":"a"}`} {
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), "a"); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A login from a store that makes no sense is as none.
func TestADamagedLogin(t *testing.T) {
	w := newWorld(t)
	w.opts.Store = login.Memory()
	if err := w.opts.Store.Update(t.Context(), "login code "+mcpURL, put(`{"access_token":"canary"}`)); err != nil {
		t.Fatal(err)
	}
	w.mustCall("tools/list")
	if text := w.log.String(); !strings.Contains(text, "not used") || strings.Contains(text, "canary") {
		t.Error(text)
	}
}

// A store that fails costs the memory of a login, not the login.
func TestAStoreThatCannotWrite(t *testing.T) {
	w := newWorld(t)
	w.opts.Store = broken{login.Memory()}
	w.mustCall("tools/list")
	w.mustCall("tools/list")
	w.wantEqual("logins", len(w.asked(asURL)), 1)
	if !strings.Contains(w.log.String(), "could not be stored") {
		t.Error(w.log)
	}
}

type broken struct{ login.Store }

func (broken) Update(_ context.Context, _ string, change func([]byte) ([]byte, error)) error {
	_, err := change(nil)
	return errors.Join(err, errors.New("disk full"))
}
