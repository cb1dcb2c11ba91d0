package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/skills"
)

// Skill is a skill in use. It holds to the entry it was opened with, whatever the
// server says later. Its methods may be called from many goroutines.
type Skill struct {
	client *client.Client
	entry  *skills.Skill
	text   string
	most   int64 // bytes that a dynamic skill may have

	mu     sync.Mutex
	read   int64 // bytes so far
	broken error // what did not match
}

// Open reads the SKILL.md of a skill, and no other file. The entry, from [List] or
// [Get], must be a valid one, and the file must match it: a [*skills.MismatchError]
// says that it does not. The entry must not be changed afterwards.
func Open(ctx context.Context, c *client.Client, entry *skills.Skill) (*Skill, error) {
	if err := entry.Check(); err != nil {
		return nil, fmt.Errorf("open %w", err)
	}
	s := &Skill{client: c, entry: entry, most: skills.MaxBytes}
	contents, err := s.fetch(ctx, entry.URI)
	if err != nil {
		return nil, fmt.Errorf("open skill %s: %w", entry.URI, err)
	}
	s.text = string(bytesOf(contents))
	return s, nil
}

// Entry is what the skill was opened with.
func (s *Skill) Entry() *skills.Skill { return s.entry }

// Text is the skill's SKILL.md, frontmatter included.
func (s *Skill) Text() string { return s.text }

// Read reads a file of the skill: by its path from the skill's folder, as SKILL.md
// refers to it, or by its URI. A file that the entry does not have is not asked for,
// and a [*skills.MismatchError]. So is one that does not match the entry, and that
// ends the skill: every later Read returns the same and asks the server nothing.
func (s *Skill) Read(ctx context.Context, file string) (*mcp.ResourceContents, error) {
	uri, err := s.resolve(file)
	if err != nil {
		return nil, fmt.Errorf("read skill file %s: %w", file, err)
	}
	contents, err := s.fetch(ctx, uri)
	if err != nil {
		return nil, fmt.Errorf("read skill file %s: %w", file, err)
	}
	return contents, nil
}

// resolve returns the URI of a file of the skill.
func (s *Skill) resolve(file string) (string, error) {
	root := s.entry.Root() + "/"
	inside, ok := strings.CutPrefix(file, root)
	if !ok {
		if strings.Contains(file, "://") || path.IsAbs(file) {
			return "", &skills.MismatchError{URI: file, What: "list"}
		}
		inside = path.Clean(file)
	}
	if s.entry.Dynamic {
		if !ok {
			inside = escape(inside)
		}
		return s.dynamicURI(root, inside)
	}
	for i := range s.entry.Files {
		uri := s.entry.Files[i].URI
		escaped := strings.TrimPrefix(uri, root)
		if name, err := url.PathUnescape(escaped); escaped == inside || err == nil && name == inside {
			return uri, nil
		}
	}
	return "", &skills.MismatchError{URI: root + inside, What: "list"}
}

// dynamicURI makes the URI of a file that nobody lists. It stays inside the folder
// however the server reads it.
func (s *Skill) dynamicURI(root, inside string) (string, error) {
	for segment := range strings.SplitSeq(inside, "/") {
		name, err := url.PathUnescape(segment)
		if err != nil || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return "", errors.New("it is not in the skill's folder")
		}
	}
	return root + inside, nil
}

// escape writes a path as part of a URI.
func escape(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// fetch reads a file from the server, never from a cache that may be older than the
// entry, and checks it.
func (s *Skill) fetch(ctx context.Context, uri string) (*mcp.ResourceContents, error) {
	if err := s.verdict(); err != nil {
		return nil, err
	}
	result, err := s.client.ReadResource(ctx, uri, &client.CallOptions{Fresh: true})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(result.Contents, func(c mcp.ResourceContents) bool { return c.URI == uri })
	if at < 0 {
		return nil, errors.New("the server answered with another resource")
	}
	contents := &result.Contents[at]
	if err := s.check(uri, bytesOf(contents)); err != nil {
		return nil, err
	}
	return contents, nil
}

// verdict returns what ended the skill, nil while it is good.
func (s *Skill) verdict() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// check compares a file with the entry, and remembers a mismatch.
func (s *Skill) check(uri string, content []byte) error {
	err := s.entry.Verify(uri, content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil { // another file, meanwhile
		return s.broken
	}
	if s.read += int64(len(content)); err == nil && s.entry.Dynamic && s.read > s.most {
		err = fmt.Errorf("more than %d bytes were read of a skill without a list of files", s.most)
	}
	s.broken = err
	return err
}

func bytesOf(c *mcp.ResourceContents) []byte {
	if c.Blob != nil {
		return c.Blob
	}
	return []byte(c.Text)
}
