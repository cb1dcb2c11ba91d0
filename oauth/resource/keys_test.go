package resource_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

const (
	ciKey    = "Zq3vXw8mK1tR5yB7nD9pL2sF"
	aliceKey = "aH6cJ0uE4gT8iW1oQ3xV5zMk"
)

func twoKeys(t testing.TB) *resource.KeyRing {
	t.Helper()
	k, err := resource.Keys([]resource.Key{
		{Name: "ci", Secret: ciKey},
		{Name: "alice@home", Hash: resource.HashKey(aliceKey), Scopes: []string{"read"}},
	}, &resource.KeysOptions{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAPIKeysInTheirHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		names   []string
		headers []string
		status  int
		who     string
	}{
		{"the key's own header", nil, []string{"X-Api-Token", ciKey}, 200, "key:ci"},
		{"as bearer", nil, []string{"Authorization", "Bearer " + aliceKey}, 200, "key:alice@home"},
		{"the scheme in any case, spaces around", nil, []string{"Authorization", " bEARER   " + ciKey + " "}, 200, "key:ci"},
		{"a header of the operator's choice", []string{"api-key"}, []string{"API-Key", ciKey}, 200, "key:ci"},
		{"the usual ones, when others are chosen", []string{"api-key"}, []string{"X-Api-Token", ciKey}, 401, ""},
		{"another scheme beside the key", nil, []string{"Authorization", "Basic eDp5", "X-Api-Token", ciKey}, 200, "key:ci"},
		{"another scheme alone", nil, []string{"Authorization", "Basic " + ciKey}, 401, ""},
		{"no scheme", nil, []string{"Authorization", ciKey}, 401, ""},
		{"nothing", nil, nil, 401, ""},
		{"an empty header", nil, []string{"X-Api-Token", ""}, 401, ""},
		{"bearer without a token", nil, []string{"Authorization", "Bearer "}, 401, ""},
		{"a header that is not asked for", nil, []string{"X-Other", ciKey}, 401, ""},
		{"a cookie", nil, []string{"Cookie", "X-Api-Token=" + ciKey}, 401, ""},
		{"a wrong key", nil, []string{"X-Api-Token", "wrong"}, 401, ""},
		{"a prefix of a key", nil, []string{"X-Api-Token", ciKey[:len(ciKey)-1]}, 401, ""},
		{"a key with more", nil, []string{"X-Api-Token", ciKey + "x"}, 401, ""},
		{"a key in another case", nil, []string{"X-Api-Token", strings.ToUpper(ciKey)}, 401, ""},
		{"a hash instead of the key", nil, []string{"X-Api-Token", resource.HashKey(ciKey)}, 401, ""},
		{"two credentials", nil, []string{"X-Api-Token", ciKey, "Authorization", "Bearer " + aliceKey}, 400, ""},
		{"the same twice", nil, []string{"X-Api-Token", ciKey, "X-Api-Token", ciKey}, 400, ""},
		{"two bearers", nil, []string{"Authorization", "Bearer " + ciKey, "Authorization", "Basic eDp5"}, 400, ""},
		{"a bearer of two words", nil, []string{"Authorization", "Bearer " + ciKey + " x"}, 400, ""},
		{"not ASCII", nil, []string{"X-Api-Token", "schlüssel"}, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			guard := resource.Require(inside(t), &resource.Options{Headers: c.names, Logger: quiet()}, twoKeys(t))
			w := ask(guard, c.headers...)
			if w.Code != c.status || c.who != "" && w.Body.String() != c.who {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (c.status != 200) {
				t.Errorf("challenge: %q", challenge)
			}
		})
	}
}

func TestR057AKeyInTheURLIsNotSeen(t *testing.T) {
	t.Parallel()
	guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, twoKeys(t))
	for _, query := range []string{"access_token=", "api_key=", "X-Api-Token=", "token=", "Authorization=Bearer%20"} {
		if w := askURL(guard, "/mcp?"+query+ciKey); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}

func TestKeysRefusesBadConfigurations(t *testing.T) {
	t.Parallel()
	const canary = "canary-canary-canary"
	type key = resource.Key
	for name, keys := range map[string][]key{
		"none":                       nil,
		"no name":                    {{Secret: canary}},
		"a name with a space":        {{Name: "a b", Secret: canary}},
		"a name with a line end":     {{Name: "a\n", Secret: canary}},
		"no secret":                  {{Name: "a"}},
		"a secret and a hash":        {{Name: "a", Secret: canary, Hash: resource.HashKey("x")}},
		"a hash without its kind":    {{Name: "a", Hash: resource.HashKey(canary)[len("sha256:"):]}},
		"a hash that is short":       {{Name: "a", Hash: "sha256:canary"}},
		"the key instead of a hash":  {{Name: "a", Hash: canary}},
		"two of one name":            {{Name: "a", Secret: canary}, {Name: "a", Secret: "y"}},
		"one key under two names":    {{Name: "a", Secret: canary}, {Name: "b", Hash: resource.HashKey(canary)}},
		"a key with a line end":      {{Name: "a", Secret: canary + "\n"}},
		"a key with a space before":  {{Name: "a", Secret: " " + canary}},
		"a key that is not ASCII":    {{Name: "a", Secret: canary + "ü"}},
		"a key longer than a header": {{Name: "a", Secret: strings.Repeat(canary, 1000)}},
	} {
		if k, err := resource.Keys(keys, nil); err == nil {
			t.Errorf("%s: %v", name, k)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

func TestAShortKeyIsTakenAndWarnedOf(t *testing.T) {
	t.Parallel()
	log, text := logged()
	k, err := resource.Keys([]resource.Key{{Name: "demo", Secret: "hunter2"}, {Name: "ci", Secret: ciKey}}, &resource.KeysOptions{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := k.Verify(t.Context(), resource.Credential{Header: "X-Api-Token", Secret: "hunter2"}); err != nil || p.Name != "key:demo" {
		t.Errorf("got %v, %v", p, err)
	}
	if got := text.String(); strings.Count(got, "WARN") != 1 || !strings.Contains(got, "name=demo") || strings.Contains(got, "hunter2") {
		t.Errorf("the log:\n%s", got)
	}
}

func TestR057LastUseIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := twoKeys(t)
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, k)
		time.Sleep(time.Hour)
		first := time.Now()
		ask(guard, "X-Api-Token", ciKey)
		ask(guard, "X-Api-Token", "wrong")
		if got := k.LastUsed("ci"); !got.Equal(first) {
			t.Errorf("ci was used at %v, not %v", got, first)
		}
		for _, name := range []string{"alice@home", "nobody"} {
			if got := k.LastUsed(name); !got.IsZero() {
				t.Errorf("%s was used at %v", name, got)
			}
		}
		time.Sleep(time.Hour)
		ask(guard, "X-Api-Token", ciKey)
		if got := k.LastUsed("ci"); !got.Equal(first.Add(time.Hour)) {
			t.Errorf("ci was used at %v", got)
		}
	})
}

func writeKeys(t testing.TB, path, text string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func TestR057AKeyIsRefusedWithinASecondOfItsRemoval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys")
		ci, alice := "ci = "+resource.HashKey(ciKey)+"\n", "alice="+resource.HashKey(aliceKey)+" read  write\r\n"
		writeKeys(t, path, "# who may enter\n\n"+ci+alice)
		k, err := resource.KeysFile(path, &resource.KeysOptions{Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: -1}, k)
		status := func(key string) int { return ask(guard, "X-Api-Token", key).Code }

		p, err := k.Verify(t.Context(), resource.Credential{Header: "X-Api-Token", Secret: aliceKey})
		if err != nil || p.Name != "key:alice" || !slices.Equal(p.Scopes, []string{"read", "write"}) {
			t.Fatalf("got %v, %v", p, err)
		}
		used := k.LastUsed("alice")
		for range 20 { // in use
			if got := status(ciKey); got != 200 {
				t.Fatalf("before: %d", got)
			}
			time.Sleep(100 * time.Millisecond)
		}
		writeKeys(t, path, alice)
		time.Sleep(time.Second)
		if got := status(ciKey); got != 401 {
			t.Errorf("a second after its removal: %d", got)
		}
		if !k.LastUsed("alice").Equal(used) || !k.LastUsed("ci").IsZero() {
			t.Errorf("last use: %v, %v", k.LastUsed("alice"), k.LastUsed("ci"))
		}
		// A change that keeps the size, and one that takes everything.
		writeKeys(t, path, strings.ToUpper(alice[:5])+alice[5:])
		time.Sleep(time.Second)
		if w := ask(guard, "X-Api-Token", aliceKey); w.Body.String() != "key:ALICE" {
			t.Errorf("after a new name: %d %s", w.Code, w.Body)
		}
		writeKeys(t, path, "# closed\n")
		time.Sleep(time.Second)
		if got := status(aliceKey); got != 401 {
			t.Errorf("with all keys removed: %d", got)
		}
		writeKeys(t, path, ci)
		time.Sleep(time.Second)
		if got := status(ciKey); got != 200 {
			t.Errorf("put back: %d", got)
		}
	})
}

func TestR056WithoutItsFileNobodyCanTell(t *testing.T) {
	t.Parallel()
	good := "ci = " + resource.HashKey(ciKey) + "\n"
	for name, spoil := range map[string]func(path string) error{
		"missing":     os.Remove,
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a mistake":   func(path string) error { return os.WriteFile(path, []byte(good+"canary\n"), 0o600) },
		"too large":   func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("#\n", 1<<20)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "keys")
				writeKeys(t, path, good)
				log, text := logged()
				k, err := resource.KeysFile(path, &resource.KeysOptions{Logger: log})
				if err != nil {
					t.Fatal(err)
				}
				guard := resource.Require(inside(t), &resource.Options{Logger: log}, k)
				if err := spoil(path); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					time.Sleep(time.Second)
					for _, key := range []string{ciKey, "wrong"} {
						if w := ask(guard, "X-Api-Token", key); w.Code != http.StatusServiceUnavailable {
							t.Errorf("%s: %d", key, w.Code)
						}
					}
				}
				if got := text.String(); strings.Contains(got, "canary") || strings.Contains(got, ciKey) {
					t.Errorf("the log tells too much:\n%s", got)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				writeKeys(t, path, good)
				time.Sleep(time.Second)
				if w := ask(guard, "X-Api-Token", ciKey); w.Code != http.StatusOK {
					t.Errorf("put back: %d", w.Code)
				}
			})
		})
	}
}

func TestKeysFileRefusesBadFiles(t *testing.T) {
	t.Parallel()
	hash := resource.HashKey("x")
	for name, text := range map[string]string{
		"empty":                     "",
		"only comments":             "# nobody\n",
		"no sign":                   "ci " + hash + "\n",
		"no hash":                   "ci =\n",
		"the key itself":            "ci = canary\n",
		"the key as the name":       "canary = ci\n",
		"two of one name":           "ci = " + hash + "\nci = " + resource.HashKey("y") + "\n",
		"no name":                   "= " + hash + "\n",
		"a hash of another length":  "ci = " + hash[:20] + "\n",
		"a hash of another kind":    "ci = sha512:" + hash[7:] + "\n",
		"a comment behind the hash": "c#i = " + hash + "\n",
	} {
		path := filepath.Join(t.TempDir(), "keys")
		writeKeys(t, path, text)
		if _, err := resource.KeysFile(path, &resource.KeysOptions{Logger: quiet()}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := resource.KeysFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestAKeysFileThatOthersMayReadIsWarnedOf(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: Windows has no such modes")
	}
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true} {
		path := filepath.Join(t.TempDir(), "keys")
		writeKeys(t, path, "ci = "+resource.HashKey(ciKey)+"\n")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		log, text := logged()
		if _, err := resource.KeysFile(path, &resource.KeysOptions{Logger: log}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "WARN"); got != warned {
			t.Errorf("mode %v: warned %v", mode, got)
		}
	}
}

// A look that ended at the match would take several times as long for the last
// of 20 keys as for the first. The medians of 100,000 tries must be close.
func TestR057TheTimeOfALookDoesNotTellWhichKeyMatches(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: takes a second")
	}
	const count = 20
	var keys []resource.Key
	for i := range count {
		keys = append(keys, resource.Key{Name: fmt.Sprint("k", i), Secret: fmt.Sprintf("%s%04d", ciKey, i)})
	}
	k, err := resource.Keys(keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	tries := map[string]string{
		"the first key":           keys[0].Secret,
		"the last key":            keys[count-1].Secret,
		"all but one byte of one": keys[0].Secret[:len(keys[0].Secret)-1] + "x",
		"nothing alike":           strings.Repeat("~", len(keys[0].Secret)),
	}
	took := make(map[string][]time.Duration)
	for range 100_000 / len(tries) {
		for name, secret := range tries {
			c := resource.Credential{Header: "X-Api-Token", Secret: secret}
			start := time.Now()
			_, _ = k.Verify(context.Background(), c)
			took[name] = append(took[name], time.Since(start))
		}
	}
	var medians []time.Duration
	for name, all := range took {
		slices.Sort(all)
		medians = append(medians, all[len(all)/2])
		t.Logf("%s: %v", name, all[len(all)/2])
	}
	low, high := slices.MinFunc(medians, cmp.Compare[time.Duration]), slices.MaxFunc(medians, cmp.Compare[time.Duration])
	if high > low*3/2 {
		t.Errorf("medians from %v to %v", low, high)
	}
}
