package lifecycle

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
)

// Sealer encrypts and signs the state of input rounds (AES-256-GCM), so that a
// client can carry it but neither read nor change it.
type Sealer struct {
	aead   func() cipher.AEAD // made when it is first needed, as few servers do
	others []cipher.AEAD      // open only
}

// NewSealer returns a Sealer whose key is derived from secret. Processes that
// share a secret can open each other's state. A nil secret means a random one.
//
// The other secrets open state and seal none: the last one after a change, for as
// long as state lives, or the next before it. Any other secret opens nothing.
func NewSealer(secret []byte, others ...[]byte) *Sealer {
	secret = slices.Clone(secret)
	s := &Sealer{aead: sync.OnceValue(func() cipher.AEAD { return newAEAD(secret) })}
	for _, secret := range others {
		s.others = append(s.others, newAEAD(secret))
	}
	return s
}

func newAEAD(secret []byte) cipher.AEAD {
	key := sha256.Sum256(append([]byte("bossman request state\x00"), secret...))
	if secret == nil {
		_, _ = rand.Read(key[:]) // never fails, see crypto/rand
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("lifecycle: aes with a 32-byte key: " + err.Error())
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("lifecycle: gcm: " + err.Error())
	}
	return aead
}

// errState is the one error for every way in which state can be bad, so that it
// tells a forger nothing.
var errState = errors.New("requestState was altered, has expired, or belongs to another request")

// round is what one round of a request hands to the next.
type round struct {
	Answers mcp.InputResponses `json:"a,omitzero"`
	State   jsontext.Value     `json:"s,omitzero"`
	Expires int64              `json:"e"` // Unix milliseconds
}

// seal turns a round into text bound to its request.
func (s *Sealer) seal(r *round, binding []byte) (string, error) {
	plain, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead().Seal(nil, nil, plain, binding)), nil
}

// open is the inverse of seal.
func (s *Sealer) open(text string, binding []byte, now time.Time) (*round, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return nil, errState
	}
	plain, err := s.aead().Open(nil, nil, sealed, binding)
	for i := 0; err != nil && i < len(s.others); i++ {
		plain, err = s.others[i].Open(nil, nil, sealed, binding)
	}
	if err != nil {
		return nil, errState
	}
	r := new(round)
	if err := json.Unmarshal(plain, r); err != nil || now.UnixMilli() > r.Expires {
		return nil, errState
	}
	return r, nil
}

// bindingOf digests what makes a request this one: the server it is for, the
// caller, the method and the parameters, but for those that change from round to
// round. Servers that share a secret by mistake are told apart by their names.
func bindingOf(server string, in *Incoming) []byte {
	h := sha256.New()
	part := func(b []byte) {
		sum := sha256.Sum256(b)
		h.Write(sum[:])
	}
	part([]byte(server))
	part([]byte(in.Principal.ID()))
	part([]byte(in.Method))
	salient := []byte{'{'}
	for name, value := range jsonscan.Members(in.Params) {
		switch string(name) {
		case "_meta", "inputResponses", "requestState":
			continue
		}
		if len(salient) > 1 {
			salient = append(salient, ',')
		}
		salient = jsonscan.AppendQuote(salient, string(name))
		salient = append(append(salient, ':'), value...)
	}
	canonical := jsontext.Value(append(salient, '}'))
	if err := canonical.Canonicalize(); err != nil { // the text has been checked
		canonical = salient
	}
	part(canonical)
	return h.Sum(nil)
}
