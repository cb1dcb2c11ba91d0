package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxStored = 1 << 20 // bytes
	lockEvery = 20 * time.Millisecond
)

// Files returns a store in a directory: a JSON file a key, which only its owner
// may read, and which is replaced in one step. A lock beside it keeps processes
// apart. The directory is made when it is first needed; a file that others may
// read is refused. Values are not encrypted.
func Files(directory string) Store { return &files{directory} }

type files struct{ dir string }

// entry is what a file holds. The key is there for people, and for the certainty
// that it is the right file.
type entry struct {
	Key   string `json:"key"`
	Value []byte `json:"value"`
}

func (s *files) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

func (s *files) Load(_ context.Context, key string) ([]byte, error) {
	file, err := os.Open(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open stored login: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("look at stored login: %w", err)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("open stored login: others may read %s; remove it, or set its mode to 0600", file.Name())
	case info.Size() > maxStored:
		return nil, fmt.Errorf("open stored login: %s is too long", file.Name())
	}
	data, err := io.ReadAll(io.LimitReader(file, maxStored))
	if err != nil {
		return nil, fmt.Errorf("read stored login: %w", err)
	}
	var e entry
	if json.Unmarshal(data, &e) != nil || e.Key != key || e.Value == nil {
		return nil, fmt.Errorf("read stored login: %s is damaged; remove it to log in anew", file.Name())
	}
	return e.Value, nil
}

func (s *files) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make directory for logins: %w", err)
	}
	path := s.path(key)
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("lock stored login: %w", err)
	}
	defer unlock()
	old, err := s.Load(ctx, key)
	if err != nil {
		return err
	}
	value, err := change(old)
	if err != nil {
		return err
	}
	if value == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stored login: %w", err)
		}
		return nil
	}
	text, err := json.Marshal(&entry{key, value}, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write login: %w", err)
	}
	return replace(path, append(text, '\n'))
}

// replace writes a file in one step: whoever reads it finds the old text or the
// new, also after a crash.
func replace(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write login: %w", err)
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // it may hold a secret
		return fmt.Errorf("write login: %w", err)
	}
	return nil
}

// lock takes a file's lock, which ends with the process if nothing else ends it.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		free, err := tryLock(file)
		if free {
			return func() { file.Close() }, nil
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		}
	}
}
