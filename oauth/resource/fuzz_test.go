package resource_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

// One token was signed, so one is taken, whatever is made of its parts.
func FuzzTokens(f *testing.F) {
	s := newIssuer()
	good := s.sign(header(nil), `{"iss":"`+issuerURL+`","sub":"alice","aud":"`+audience+`","exp":1e12}`)
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add(parts[0] + "." + parts[1] + ".")
	last := len(good) - 1
	f.Add(good[:last] + string(good[last]+1)) // other bits, of which a lax reader takes no notice
	f.Add(part(header(map[string]any{"alg": "none"})) + "." + parts[1] + ".")
	f.Add("e30.e30.e30")
	v := s.tokens(f, nil)
	f.Fuzz(func(t *testing.T, token string) {
		p, err := v.Verify(t.Context(), bearer(token))
		if (err == nil) != (token == good) || (p == nil) != (err != nil) {
			t.Errorf("%q: %v, %v", token, p, err)
		}
		if err != nil && !errors.Is(err, resource.ErrInvalid) {
			t.Errorf("%q is undecidable: %v", token, err)
		}
	})
}

// Whatever the issuer sends for keys, a forged token is refused, or nobody knows.
func FuzzKeySet(f *testing.F) {
	f.Add(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`)
	f.Add(`{"keys":[{"kty":"RSA","kid":"k1","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","kid":"k1","x":"AA","y":"AA"}]}`)
	f.Add(`{"keys":[{"kty":"oct","kid":"k1","k":"AA"}]}`)
	f.Add(`{"keys":[null,1,"x",[]]}`)
	f.Fuzz(func(t *testing.T, set string) {
		s := newIssuer()
		s.set(func(*http.Request) (*http.Response, error) { return response(http.StatusOK, set), nil })
		v := s.tokens(t, nil)
		for _, alg := range []string{"EdDSA", "RS256", "ES256"} {
			token := part(header(map[string]any{"alg": alg})) + "." + part(claims(nil)) + ".AAAA"
			if p, err := v.Verify(t.Context(), bearer(token)); err == nil {
				t.Errorf("%s: %v", alg, p)
			}
		}
	})
}

// A file is taken or refused, and no error repeats it.
func FuzzKeysFile(f *testing.F) {
	f.Add("# who\nci = " + resource.HashKey("x") + " read\n")
	f.Add("ci=\n=\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(text+"\ncanary\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := resource.KeysFile(path, &resource.KeysOptions{Logger: quiet()}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
