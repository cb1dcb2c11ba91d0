package resource

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	freshFor     = 10 * time.Minute // after which keys are fetched again
	usableFor    = time.Hour        // after which keys that cannot be fetched again are not trusted
	fetchEvery   = time.Minute
	retryEvery   = 10 * time.Second // after a failure
	fetchTimeout = 5 * time.Second
	maxKeySet    = 512 << 10 // bytes
	maxKeys      = 100
)

// keySet is the keys of an issuer, fetched when they are needed by whoever needs
// them first; the others wait.
type keySet struct {
	url    string
	client *http.Client
	log    *slog.Logger
	gate   chan struct{} // holds one token: whoever takes it may fetch

	mu      sync.Mutex
	keys    map[string][]jose.JSONWebKey // by key id
	fetched time.Time                    // when the keys were
	tried   time.Time                    // when a fetch last ended
	err     error                        // of that fetch
}

func newKeySet(address string, transport http.RoundTripper, log *slog.Logger) *keySet {
	client := &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: sameOrigin}
	return &keySet{url: address, client: client, log: log, gate: make(chan struct{}, 1)}
}

// find returns the key of that name, if it fits the algorithm.
func (s *keySet) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) (any, error) {
	key, due, err := s.look(id, alg)
	if !due {
		return key, err
	}
	if key != nil { // good enough, if somebody else is fetching
		select {
		case s.gate <- struct{}{}:
		default:
			return key, nil
		}
	} else {
		select {
		case s.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for keys: %w", ctx.Err())
		}
	}
	defer func() { <-s.gate }()
	if key, due, err = s.look(id, alg); !due {
		return key, err
	}
	s.refresh(ctx)
	key, _, err = s.look(id, alg)
	return key, err
}

// look finds a key among those at hand, and tells whether they should and may be
// fetched first. An error that is not ErrInvalid says that nobody knows.
func (s *keySet) look(id string, alg jose.SignatureAlgorithm) (key any, due bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := time.Since(s.fetched)
	if age < usableFor {
		for _, k := range s.keys[id] {
			if fits(&k, alg) {
				key = k.Key
				break
			}
		}
	}
	every := fetchEvery
	if s.err != nil {
		every = retryEvery
	}
	due = (key == nil || age >= freshFor) && time.Since(s.tried) >= every
	switch {
	case key != nil:
		return key, due, nil
	case s.err != nil:
		return nil, due, s.err
	default:
		return nil, due, fmt.Errorf("%w: signed with an unknown key", ErrInvalid)
	}
}

// refresh replaces the keys, or notes why it could not. It goes on when the
// request that wanted it is gone, since others wait for it.
func (s *keySet) refresh(ctx context.Context) {
	keys, err := s.fetch(context.WithoutCancel(ctx))
	if err != nil {
		err = fmt.Errorf("fetch keys from %s: %w", s.url, err)
		s.log.LogAttrs(ctx, slog.LevelWarn, "the issuer's keys cannot be had", slog.String("error", err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried, s.err = time.Now(), err
	if err == nil {
		s.keys, s.fetched = keys, s.tried
	}
}

func (s *keySet) fetch(ctx context.Context) (map[string][]jose.JSONWebKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := s.client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxKeySet+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxKeySet {
		return nil, fmt.Errorf("more than %d bytes", maxKeySet)
	}
	return parseKeySet(data)
}

// parseKeySet keeps the keys that can verify signatures, and passes over others,
// as RFC 7517, section 5, wants.
func parseKeySet(data []byte) (map[string][]jose.JSONWebKey, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil || set.Keys == nil {
		return nil, errors.New("not a key set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("more than %d keys", maxKeys)
	}
	keys := make(map[string][]jose.JSONWebKey)
	for _, text := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(text) == nil && k.KeyID != "" && (k.Use == "" || k.Use == "sig") && k.Valid() && k.IsPublic() {
			keys[k.KeyID] = append(keys[k.KeyID], k)
		}
	}
	return keys, nil
}

// fits reports whether a key may be used with an algorithm, and is strong.
func fits(k *jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if k.Algorithm != "" && k.Algorithm != string(alg) {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		bits := key.N.BitLen()
		return (strings.HasPrefix(string(alg), "RS") || strings.HasPrefix(string(alg), "PS")) && bits >= 2048 && bits <= 8192
	case *ecdsa.PublicKey:
		bits := key.Curve.Params().BitSize
		return alg == jose.ES256 && bits == 256 || alg == jose.ES384 && bits == 384 || alg == jose.ES512 && bits == 521
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	default:
		return false
	}
}

// sameOrigin lets redirects move within the host that the operator named.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	if from := via[0].URL; req.URL.Scheme != from.Scheme || req.URL.Host != from.Host {
		return errors.New("a redirect to another origin")
	}
	return nil
}
