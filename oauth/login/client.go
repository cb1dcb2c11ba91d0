package login

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// Ways in which a client proves its identity to a token endpoint.
const (
	MethodNone  = "none"                // it has no secret, and only says its id
	MethodBasic = "client_secret_basic" // the secret in a header
	MethodPost  = "client_secret_post"  // the secret in the body
	MethodKey   = "private_key_jwt"     // a statement signed with a key (RFC 7523)
)

// Client is what an authorization server knows a program by. Printing or logging
// it shows its id only.
type Client struct {
	// Issuer is the authorization server that the client is registered with, as
	// its metadata writes it. At any other the client is not used. Empty: the
	// first that the MCP server names; then the MCP server decides who gets to
	// see the secret, so name the issuer where you know it.
	Issuer string
	ID     string
	Secret string
	// Key signs statements instead of a secret: an ECDSA, RSA or Ed25519 key.
	Key crypto.Signer
	// KeyID tells the authorization server which of the client's keys it is.
	// Empty: it is not told.
	KeyID string
	// Method is one of the Method constants. Empty: MethodKey with a key; with a
	// secret MethodBasic, or MethodPost if the authorization server takes only
	// that; else MethodNone.
	Method string

	own bool // we registered it
}

// Format keeps secrets out of whatever is printed.
func (c Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "client %s", clean(c.ID, 200)) }

// LogValue keeps secrets out of logs.
func (c Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// ParseKey reads a private key in PEM (PKCS#8, or SEC 1 for ECDSA).
func ParseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("read private key: not PEM")
	}
	if block.Type == "EC PRIVATE KEY" {
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("read private key: malformed")
		}
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("read private key: not PKCS#8")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("read private key: it cannot sign")
	}
	return signer, nil
}

// settle chooses the method that the client's own fields leave open, from what
// the authorization server takes.
func (c *Client) settle(takes []string) {
	switch {
	case c.Method != "":
	case c.Key != nil:
		c.Method = MethodKey
	case c.Secret == "":
		c.Method = MethodNone
	case !slices.Contains(takes, MethodBasic) && slices.Contains(takes, MethodPost):
		c.Method = MethodPost
	default:
		c.Method = MethodBasic
	}
}

// authenticate adds the proof of identity to a request to a token endpoint.
func (c *Client) authenticate(issuer string, form url.Values, header http.Header) error {
	switch c.Method {
	case MethodNone:
		if c.ID != "" {
			form.Set("client_id", c.ID)
		}
	case MethodBasic: // RFC 6749, section 2.3.1: both parts are escaped as in forms
		text := url.QueryEscape(c.ID) + ":" + url.QueryEscape(c.Secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
	case MethodPost:
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	case MethodKey:
		statement, err := c.statement(issuer)
		if err != nil {
			return err
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", statement)
	default:
		return fmt.Errorf("authenticate client: unknown method %s", clean(c.Method, 40))
	}
	return nil
}

// statement says who the client is to one issuer, for five minutes.
func (c *Client) statement(issuer string) (string, error) {
	alg, err := algorithm(c.Key)
	if err != nil {
		return "", err
	}
	now := time.Now()
	claims := struct {
		Issuer   string `json:"iss"`
		Subject  string `json:"sub"`
		Audience string `json:"aud"`
		ID       string `json:"jti"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}{c.ID, c.ID, issuer, rand.Text(), now.Unix(), now.Add(5 * time.Minute).Unix()}
	key := jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: c.Key, KeyID: c.KeyID}}
	return sign(key, (&jose.SignerOptions{}).WithType("JWT"), claims)
}

// algorithm returns what a key signs with.
func algorithm(key crypto.Signer) (jose.SignatureAlgorithm, error) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	case *rsa.PrivateKey:
		return jose.RS256, nil
	case ed25519.PrivateKey:
		return jose.EdDSA, nil
	}
	return "", errors.New("authenticate client: no key, or of a kind that is not known")
}

// sign returns claims as a signed JWT.
func sign(key jose.SigningKey, opts *jose.SignerOptions, claims any) (string, error) {
	signer, err := jose.NewSigner(key, opts)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return signed.CompactSerialize()
}
