package resource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"
)

const (
	maxKeysFile = 1 << 20     // bytes
	recheck     = time.Second // how long a look at the file is good for
)

// KeysFile returns a verifier of the keys in a file, one a line, and hashed:
//
//	# name = hash, then the holder's scopes
//	ci    = sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
//	alice = sha256:0f4bd0bdcd7ea63fa8d1a1d9e1cb6d3eaeb09d8dd4ff7b15cc4ec95bd3d4f7ac read write
//
// The file is read again when it is needed, at most once a second, so that a key
// is refused within a second of its removal. Replace the file by renaming
// another to it: while it is missing or has a mistake, nobody can tell which keys
// are good, and requests get 503. It must hold at least one key at first; an
// empty one later refuses all. A file that others than its owner may read is
// warned of.
func KeysFile(path string, opts *KeysOptions) (*KeyRing, error) {
	k := newKeyRing(opts)
	k.path = path
	state := k.load(&keyState{})
	if state.err != nil {
		return nil, state.err
	}
	if len(state.keys) == 0 {
		return nil, fmt.Errorf("read keys file %s: no keys", path)
	}
	k.state.Store(state)
	return k, nil
}

// current returns what the file says, or said less than a second ago.
func (k *KeyRing) current(ctx context.Context) (*keyState, error) {
	state := k.state.Load()
	if k.path == "" || time.Since(state.checked) < recheck {
		return state, state.err
	}
	select {
	case k.gate <- struct{}{}:
		defer func() { <-k.gate }()
	case <-ctx.Done():
		return nil, fmt.Errorf("read keys file %s: %w", k.path, ctx.Err())
	}
	if state = k.state.Load(); time.Since(state.checked) >= recheck {
		state = k.load(state)
		k.state.Store(state)
	}
	return state, state.err
}

// load reads the file. The time of the look is before the reading, so that a
// change during it is seen by the next.
func (k *KeyRing) load(old *keyState) *keyState {
	next := &keyState{checked: time.Now()}
	data, err := k.read()
	if err == nil {
		next.content = sha256.Sum256(data)
		if next.content == old.content && old.err == nil {
			next.keys = old.keys
			return next
		}
		next.keys, err = k.parse(data)
	}
	if err != nil {
		next.err = fmt.Errorf("read keys file %s: %w", k.path, err)
		return next
	}
	k.log.Info("API keys were read", slog.String("file", k.path), slog.Int("keys", len(next.keys)))
	return next
}

func (k *KeyRing) read() ([]byte, error) {
	info, err := os.Stat(k.path) // before it is opened, which waits if it is a pipe
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(k.path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	if k.state.Load() == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		k.log.Warn("others than the owner may use the keys file",
			slog.String("file", k.path), slog.String("mode", info.Mode().Perm().String()))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeysFile+1))
	if err != nil {
		return nil, bare(err)
	}
	if len(data) > maxKeysFile {
		return nil, fmt.Errorf("larger than %d bytes", maxKeysFile)
	}
	return data, nil
}

// parse reads the lines. Its errors repeat none, since somebody may have written
// a key where its hash should be.
func (k *KeyRing) parse(data []byte) ([]storedKey, error) {
	var keys []Key
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		fields := strings.Fields(value)
		key := Key{Name: strings.TrimSpace(name)}
		if len(fields) > 0 {
			key.Hash, key.Scopes = fields[0], fields[1:]
		}
		if _, err := key.check(); !ok || err != nil {
			return nil, fmt.Errorf("line %d is not name = sha256: and 64 hexadecimal digits, then scopes", number)
		}
		keys = append(keys, key)
	}
	return k.store(keys)
}

// bare takes the path out of an error that will name it anyway.
func bare(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
