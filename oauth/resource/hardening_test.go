package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/oauth/resource"
)

// R056: with keys and tokens both, whatever of the two is out of reach, nobody
// enters who was not named, and those whom the other one names do.
func TestR056KeysOrTokensOutOfReach(t *testing.T) {
	t.Parallel()
	const key, token, madeUp, none = "a key", "a token", "made up", "nothing"
	for _, c := range []struct {
		name               string
		noKeys, noIssuer   bool
		key, token, madeUp int
	}{
		{"both there", false, false, 200, 200, 401},
		{"the keys are gone", true, false, 503, 200, 503},
		{"the issuer is gone", false, true, 200, 503, 401},
		{"both are gone", true, true, 503, 503, 503},
	} {
		for _, tokensFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", tokens first: ", tokensFirst), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "keys")
					writeKeys(t, path, "ci = "+resource.HashKey(ciKey)+"\n")
					keys, err := resource.KeysFile(path, &resource.KeysOptions{Logger: quiet()})
					if err != nil {
						t.Fatal(err)
					}
					s := newIssuer()
					if c.noIssuer {
						s.set(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
					}
					if c.noKeys {
						if err := os.Remove(path); err != nil {
							t.Fatal(err)
						}
					}
					time.Sleep(2 * time.Second) // the file is looked at again
					verifiers := []resource.Verifier{keys, s.tokens(t, nil)}
					if tokensFirst {
						verifiers[0], verifiers[1] = verifiers[1], verifiers[0]
					}
					guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, verifiers...)
					for what, want := range map[string]int{key: c.key, token: c.token, madeUp: c.madeUp, none: 401} {
						secret := map[string]string{key: ciKey, token: s.token(nil), madeUp: "sk-hunter2", none: ""}[what]
						if got := ask(guard, "Authorization", "Bearer "+secret).Code; got != want {
							t.Errorf("%s: got %d, want %d", what, got, want)
						}
					}
				})
			})
		}
	}
}

// R056: a slow verifier holds up its own requests only, and those for as long as
// is allowed; one that panics lets nobody in.
func TestR056SlowAndPanickingVerifiers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := verifier(func(ctx context.Context, c resource.Credential) (*mcp.Principal, error) {
			switch c.Secret {
			case "slow":
				<-ctx.Done()
				return nil, ctx.Err()
			case "late": // with an answer after its time
				<-ctx.Done()
				return nil, resource.ErrInvalid
			case "panic":
				panic("oh no")
			}
			return &mcp.Principal{Name: c.Secret}, nil
		})
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet(), MaxFailures: -1}, v)
		var all sync.WaitGroup
		begin := time.Now()
		for i := range 300 {
			all.Go(func() {
				secret, status, took := "bob", 200, time.Duration(0)
				if i%3 > 0 {
					secret, status, took = "slow", 503, 5*time.Second
				}
				if i%3 > 1 {
					secret, status = "late", 401
				}
				w := askBearer(guard, secret)
				if since := time.Since(begin); w.Code != status || since != took {
					t.Errorf("%s: %d after %v, want %d after %v", secret, w.Code, since, status, took)
				}
			})
		}
		all.Wait()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			if w := askBearer(guard, "panic"); w.Code == http.StatusOK {
				t.Error("a verifier that panicked let somebody in")
			}
		}()
		if w := askBearer(guard, "bob"); w.Code != http.StatusOK {
			t.Errorf("afterwards: %d", w.Code)
		}
	})
}

// R053: ten thousand tokens with keys that nobody knows, fifty at once, cost one
// fetch a minute, and no more where the issuer is down than its retries.
func TestR053UnknownKeysFromAllSides(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"the issuer is there": false, "the issuer is down": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newIssuer()
				if down {
					s.set(func(*http.Request) (*http.Response, error) { return response(503, ""), nil })
				}
				v := s.tokens(t, nil)
				_, rest, _ := strings.Cut(s.token(nil), ".") // what is signed does not matter
				begin := time.Now()
				var wg sync.WaitGroup
				var wrong atomic.Int32
				for worker := range 50 {
					wg.Go(func() {
						for i := range 200 {
							head := part(fmt.Sprintf(`{"alg":"EdDSA","kid":"../../%d/%d"}`, worker, i))
							_, err := v.Verify(t.Context(), bearer(head+"."+rest))
							if err == nil || errors.Is(err, resource.ErrInvalid) == down {
								wrong.Add(1)
							}
							time.Sleep(time.Second)
						}
					})
				}
				wg.Wait()
				if n := wrong.Load(); n > 0 {
					t.Errorf("%d wrong verdicts", n)
				}
				most := int(time.Since(begin)/time.Minute) + 1
				if down {
					most = int(time.Since(begin)/(10*time.Second)) + 1
				}
				if got := len(s.requests()); got > most {
					t.Errorf("%d fetches in %v", got, time.Since(begin))
				}
			})
		})
	}
}
