package login

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// proofKey is a key that tokens are bound to (DPoP, RFC 9449).
type proofKey struct {
	key   *ecdsa.PrivateKey
	print string // RFC 7638
}

func newProofKey() (*proofKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for proofs: %w", err)
	}
	return wrapKey(key)
}

// parseProofKey reads what marshal wrote.
func parseProofKey(data []byte) (*proofKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(data)
	if err != nil {
		return nil, errors.New("read the key for proofs: malformed")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("read the key for proofs: of another kind")
	}
	return wrapKey(key)
}

func wrapKey(key *ecdsa.PrivateKey) (*proofKey, error) {
	public := jose.JSONWebKey{Key: key.Public()}
	sum, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("name the key for proofs: %w", err)
	}
	return &proofKey{key, base64.RawURLEncoding.EncodeToString(sum)}, nil
}

func (k *proofKey) marshal() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.key) }

// proof shows that the sender of one request holds the key. The token is empty
// where there is none yet.
func (k *proofKey) proof(method string, to *url.URL, token, nonce string) (string, error) {
	claims := struct {
		ID     string `json:"jti"`
		Method string `json:"htm"`
		URL    string `json:"htu"`
		Issued int64  `json:"iat"`
		Hash   string `json:"ath,omitzero"`
		Nonce  string `json:"nonce,omitzero"`
	}{ID: rand.Text(), Method: method, Issued: time.Now().Unix(), Nonce: nonce}
	claims.URL = to.Scheme + "://" + to.Host + to.EscapedPath() // without query and fragment
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims.Hash = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	opts := &jose.SignerOptions{EmbedJWK: true}
	return sign(jose.SigningKey{Algorithm: jose.ES256, Key: k.key}, opts.WithType("dpop+jwt"), claims)
}

// nonces are what servers want to see in the next proof, by host. The zero value
// has none.
type nonces struct {
	mu sync.Mutex
	of map[string]string
}

func (n *nonces) get(u *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.of[hostPort(u)]
}

// set remembers a nonce, unless it is empty or none.
func (n *nonces) set(u *url.URL, nonce string) {
	if !validNonce(nonce) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = make(map[string]string)
	}
	n.of[hostPort(u)] = nonce
}

// validNonce follows RFC 9449, section 8.1.
func validNonce(nonce string) bool {
	const most = 1024
	for i := range len(nonce) {
		if c := nonce[i]; c < '!' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return nonce != "" && len(nonce) <= most
}

// provenNonce returns the nonce in the proof that a request carried.
func provenNonce(r *http.Request) string {
	if r == nil {
		return ""
	}
	parts := strings.Split(r.Header.Get("DPoP"), ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Nonce string `json:"nonce"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Nonce
}
