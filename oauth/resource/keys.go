package resource

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
)

const (
	hashPrefix  = "sha256:"
	shortSecret = 16 // characters; shorter secrets may be guessed from their hash
)

var errNoKey = fmt.Errorf("%w: no such key", ErrInvalid)

// Key is an API key with the name of whoever holds it.
type Key struct {
	// Name is made of letters, digits, and -._@ and differs from all others. The
	// holder's principal is "key:" and the name, which no token's is.
	Name string
	// Secret is the key itself. It is hashed at once, and not kept.
	Secret string
	// Hash is what [HashKey] made of the key. It takes the place of Secret.
	Hash string
	// Scopes are what the holder may do.
	Scopes []string
}

// Format keeps the secret out of whatever is printed.
func (key Key) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "key %s", key.Name) }

// HashKey returns the form in which a key is stored: "sha256:" and the hash in
// hexadecimal. A plain fast hash is enough for keys that a machine made, since
// nobody can try 2^128 of them; a slow one would let strangers keep the server
// busy. It is not enough for passwords that people made up.
func HashKey(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// KeysOptions are what [Keys] and [KeysFile] can be told; nil means the zero
// value of each.
type KeysOptions struct {
	// Logger hears of weak keys, readable files, and reloads. Nil: slog.Default().
	Logger *slog.Logger
}

// KeyRing is a [Verifier] of API keys, in any header. Only hashes are in memory.
// Every try compares with every key, in the same time whichever matches.
type KeyRing struct {
	log   *slog.Logger
	path  string        // empty for keys that do not change
	gate  chan struct{} // holds one token: whoever takes it reads the file
	state atomic.Pointer[keyState]

	mu   sync.Mutex
	used map[string]*atomic.Int64 // by name: Unix nanoseconds, 0 for never
}

// keyState is what a KeyRing knows since it last looked at its file. It does not
// change.
type keyState struct {
	keys    []storedKey
	err     error // the file cannot be used: nobody knows which keys are good
	checked time.Time
	content [sha256.Size]byte
}

type storedKey struct {
	hash      [sha256.Size]byte
	principal *mcp.Principal
	used      *atomic.Int64
}

// Keys returns a verifier of the given keys, of which there is at least one. A
// secret of any length is taken; one of fewer than 16 characters is warned of.
func Keys(keys []Key, opts *KeysOptions) (*KeyRing, error) {
	k := newKeyRing(opts)
	if len(keys) == 0 {
		return nil, errors.New("take API keys: none given")
	}
	stored, err := k.store(keys)
	if err != nil {
		return nil, fmt.Errorf("take API keys: %w", err)
	}
	k.state.Store(&keyState{keys: stored})
	return k, nil
}

func newKeyRing(opts *KeysOptions) *KeyRing {
	k := &KeyRing{log: slog.Default(), gate: make(chan struct{}, 1), used: make(map[string]*atomic.Int64)}
	if opts != nil && opts.Logger != nil {
		k.log = opts.Logger
	}
	return k
}

// Verify returns the principal of the key's holder. Keys from a file are those
// that it held at most a second ago; while it cannot be read, Verify cannot tell.
func (k *KeyRing) Verify(ctx context.Context, c Credential) (*mcp.Principal, error) {
	state, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(c.Secret))
	found := 0 // one more than the index
	for i := range state.keys {
		same := subtle.ConstantTimeCompare(sum[:], state.keys[i].hash[:])
		found = subtle.ConstantTimeSelect(same, i+1, found)
	}
	if found == 0 {
		return nil, errNoKey
	}
	key := &state.keys[found-1]
	key.used.Store(time.Now().UnixNano())
	return key.principal, nil
}

// LastUsed returns when the key of that name last let someone in, the zero time
// if it has not since the ring was made, or there is none.
func (k *KeyRing) LastUsed(name string) time.Time {
	k.mu.Lock()
	used := k.used[name]
	k.mu.Unlock()
	if used == nil || used.Load() == 0 {
		return time.Time{}
	}
	return time.Unix(0, used.Load())
}

// store checks keys and puts them in the form in which they are compared. Times
// of last use stay with the names that stay.
func (k *KeyRing) store(keys []Key) ([]storedKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := make(map[string]*atomic.Int64, len(keys))
	holders := make(map[[sha256.Size]byte]string, len(keys))
	stored := make([]storedKey, 0, len(keys))
	for _, key := range keys {
		hash, err := key.check()
		if err != nil {
			return nil, err
		}
		if used[key.Name] != nil {
			return nil, fmt.Errorf("two keys are named %s", key.Name)
		}
		if other, ok := holders[hash]; ok {
			return nil, fmt.Errorf("%s and %s have the same key", other, key.Name)
		}
		if key.Hash == "" && len(key.Secret) < shortSecret {
			k.log.Warn("an API key is short enough to be guessed", slog.String("name", key.Name),
				slog.Int("recommended", shortSecret))
		}
		at := k.used[key.Name]
		if at == nil {
			at = new(atomic.Int64)
		}
		used[key.Name], holders[hash] = at, key.Name
		stored = append(stored, storedKey{hash, &mcp.Principal{Name: "key:" + key.Name, Scopes: slices.Clone(key.Scopes)}, at})
	}
	k.used = used
	return stored, nil
}

// check returns the key's hash. Its errors tell the name at most, since a secret
// may be anywhere else.
func (key *Key) check() (hash [sha256.Size]byte, err error) {
	if !validName(key.Name) {
		return hash, errors.New("a key's name is empty, or not made of letters, digits, and -._@")
	}
	if (key.Secret == "") == (key.Hash == "") {
		return hash, fmt.Errorf("key %s needs a secret or a hash", key.Name)
	}
	if key.Hash == "" {
		if !printable(key.Secret) || len(key.Secret) > maxCredential {
			return hash, fmt.Errorf("key %s cannot be sent in a header", key.Name)
		}
		return sha256.Sum256([]byte(key.Secret)), nil
	}
	digits, ok := strings.CutPrefix(key.Hash, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !ok || err != nil || len(sum) != len(hash) {
		return hash, fmt.Errorf("key %s is not stored as sha256: and 64 hexadecimal digits", key.Name)
	}
	copy(hash[:], sum)
	return hash, nil
}

func validName(name string) bool {
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("-._@", r):
		default:
			return false
		}
	}
	return name != ""
}
