package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

func bearer(token string) resource.Credential {
	return resource.Credential{Header: "Authorization", Secret: token}
}

func TestR053TenThousandUnknownKeysCostOneFetchAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		v := s.tokens(t, nil)
		start := time.Now()
		_, rest, _ := strings.Cut(s.token(nil), ".")
		for i := range 10_000 {
			token := part(fmt.Sprintf(`{"alg":"EdDSA","kid":"unknown%d"}`, i)) + "." + rest
			if _, err := v.Verify(t.Context(), bearer(token)); !errors.Is(err, resource.ErrInvalid) {
				t.Fatalf("try %d: %v", i, err)
			}
			time.Sleep(30 * time.Millisecond)
		}
		minutes := int(time.Since(start)/time.Minute) + 1
		if got := len(s.requests()); got > minutes || got < 2 {
			t.Errorf("%d fetches in %d minutes", got, minutes)
		}
	})
}

func TestManyTokensAtOnceCostOneFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		s.blocked = make(chan struct{})
		v := s.tokens(t, nil)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				token := s.token(nil)
				if i%2 == 1 {
					token = s.sign(header(map[string]any{"kid": fmt.Sprint("unknown", i)}), claims(nil))
				}
				_, err := v.Verify(t.Context(), bearer(token))
				if i%2 == 0 && err != nil || i%2 == 1 && !errors.Is(err, resource.ErrInvalid) {
					t.Errorf("token %d: %v", i, err)
				}
			})
		}
		synctest.Wait() // until all hang on the one fetch
		close(s.blocked)
		all.Wait()
		if got := s.requests(); len(got) != 1 {
			t.Errorf("fetched %q", got)
		}
	})
}

func TestWhoeverGivesUpDoesNotEndTheFetchForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		s.blocked = make(chan struct{})
		v := s.tokens(t, nil)
		impatient, giveUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = v.Verify(impatient, bearer(s.token(nil))) })
		synctest.Wait()
		all.Go(func() {
			if _, err := v.Verify(t.Context(), bearer(s.token(nil))); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := v.Verify(impatient, bearer(s.token(nil))); !errors.Is(err, context.Canceled) {
				t.Errorf("one that waits and gives up: %v", err)
			}
		})
		synctest.Wait()
		giveUp()
		synctest.Wait()
		close(s.blocked)
		all.Wait()
		if got := s.requests(); len(got) != 1 {
			t.Errorf("fetched %q", got)
		}
	})
}

func TestKeysAreRenewedAndOutliveShortFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		v := s.tokens(t, nil)
		verify := func() error {
			_, err := v.Verify(t.Context(), bearer(s.token(nil)))
			return err
		}
		step := func(wait time.Duration, fetches int, good bool) {
			t.Helper()
			time.Sleep(wait)
			err := verify()
			if (err == nil) != good || errors.Is(err, resource.ErrInvalid) {
				t.Errorf("after %v: %v", wait, err)
			}
			if got := len(s.requests()); got != fetches {
				t.Errorf("after %v: %d fetches, want %d", wait, got, fetches)
			}
		}
		step(0, 1, true)
		step(9*time.Minute, 1, true)
		step(time.Minute, 2, true) // ten minutes old: renewed
		s.set(func(*http.Request) (*http.Response, error) { return response(http.StatusBadGateway, "down"), nil })
		step(10*time.Minute, 3, true) // the old ones serve on
		step(5*time.Second, 3, true)  // no hurry
		step(5*time.Second, 4, true)  // another try
		step(49*time.Minute, 5, true) // almost an hour old
		step(time.Minute, 6, false)   // too old to be trusted
		step(time.Second, 6, false)   // no hurry either
		s.set(nil)
		step(10*time.Second, 7, true) // back
	})
}

func TestAKeyThatIsWithdrawnIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		v := s.tokens(t, nil)
		if _, err := v.Verify(t.Context(), bearer(s.token(nil))); err != nil {
			t.Fatal(err)
		}
		s.set(func(*http.Request) (*http.Response, error) { return response(http.StatusOK, `{"keys":[]}`), nil })
		time.Sleep(10 * time.Minute)
		if _, err := v.Verify(t.Context(), bearer(s.token(nil))); !errors.Is(err, resource.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
}

func TestR056KeySetsThatCannotBeHad(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return response(status, body), nil }
	}
	redirect := func(to string) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			res := response(http.StatusFound, "")
			res.Header.Set("Location", to)
			return res, nil
		}
	}
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"out of reach":               func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") },
		"status 500":                 answer(500, `{"keys":[]}`),
		"status 204":                 answer(204, ""),
		"a web page":                 answer(200, "<html>"),
		"no keys member":             answer(200, "{}"),
		"null keys":                  answer(200, `{"keys":null}`),
		"a name twice":               answer(200, `{"keys":[],"keys":[]}`),
		"too large":                  answer(200, `{"keys":[]}`+strings.Repeat(" ", 512<<10)),
		"too many keys":              answer(200, `{"keys":[`+strings.Repeat(`{},`, 100)+`{}]}`),
		"a redirect to another host": redirect("https://evil.example/keys"),
		"a redirect to plain http":   redirect("http://auth.example.com/keys"),
		"a redirect to another port": redirect("https://auth.example.com:444/keys"),
		"redirects without end":      redirect("/keys"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			s.set(answer)
			log, text := logged()
			guard := resource.Require(inside(t), &resource.Options{Logger: log}, s.tokens(t, &resource.JWTOptions{Logger: log}))
			token := s.token(nil)
			w := askBearer(guard, token)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("got %d %v", w.Code, w.Header())
			}
			for _, url := range s.requests() {
				if url != keysURL {
					t.Errorf("%s was fetched", url)
				}
			}
			if strings.Contains(text.String(), token) || !strings.Contains(text.String(), keysURL) {
				t.Errorf("the log:\n%s", text)
			}
		})
	}
}

func TestRedirectsWithinTheOriginAreFollowed(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	s.set(func(r *http.Request) (*http.Response, error) {
		s.set(nil)
		res := response(http.StatusMovedPermanently, "")
		res.Header.Set("Location", "/v2/keys")
		return res, nil
	})
	if _, err := s.tokens(t, nil).Verify(t.Context(), bearer(s.token(nil))); err != nil {
		t.Error(err)
	}
}

func TestKeysThatNobodyKnowsAreIgnored(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	s.set(func(*http.Request) (*http.Response, error) {
		good, err := newIssuer().RoundTrip(httptest.NewRequest(http.MethodGet, keysURL, nil))
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		_ = good.Write(&b)
		_, set, _ := strings.Cut(b.String(), `{"keys":[`)
		return response(http.StatusOK, `{"keys":[{"kty":"NEW","kid":"k1"},{"kty":"RSA","kid":"k1"},{"kid":"k1"},7,`+set), nil
	})
	if _, err := s.tokens(t, nil).Verify(t.Context(), bearer(s.token(nil))); err != nil {
		t.Error(err)
	}
}

func TestASlowIssuerIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newIssuer()
		s.blocked = make(chan struct{}) // never closed
		guard := resource.Require(inside(t), &resource.Options{Logger: quiet()}, s.tokens(t, nil))
		start := time.Now()
		if w := askBearer(guard, s.token(nil)); w.Code != http.StatusServiceUnavailable {
			t.Errorf("got %d", w.Code)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		// What needs no keys is decided without them.
		wantInvalidToken(t, askBearer(guard, "hunter2"))
		wantInvalidToken(t, askBearer(guard, s.token(map[string]any{"iss": "https://other.example"})))
	})
}
