package skills

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

const scheme = "skill://"

// catalogue is the skills of a file system. Only digests change in it.
type catalogue struct {
	fsys    fs.FS
	opts    *Options
	base    string                    // what the URI of every file begins with
	skills  []*offered                // in the order of their URIs
	byURI   map[string]*offered       // of their SKILL.md
	files   map[string]*file          // by URI; not those of dynamic skills
	folders map[string][]mcp.Resource // what is in a folder, by its URI; not inside dynamic skills
}

// offered is a skill of ours.
type offered struct {
	path        string // of its folder
	uri         string // of its SKILL.md
	description string
	dynamic     bool
	files       []*file // in the order of their URIs; nil if dynamic
	bytes       int64

	mu    sync.Mutex
	entry *Skill // nil until it is asked for
	front jsontext.Value
}

// file is a file as it was found.
type file struct {
	path    string
	uri     string
	size    int64
	changed time.Time

	mu     sync.Mutex
	digest string // empty until it is asked for
}

// errChanged is what a client hears of a file that is not what it was.
var errChanged = jsonrpc.InternalError("the file changed after the server had started")

// entry returns what clients are told of a skill. It is made once, unless the skill is
// dynamic.
func (c *catalogue) entry(k *offered) (*Skill, error) {
	if k.dynamic {
		front, _, err := c.manifest(k.path)
		if err != nil {
			return nil, err
		}
		return &Skill{URI: k.uri, Frontmatter: front, Dynamic: true}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entry != nil {
		return k.entry, nil
	}
	entry := &Skill{URI: k.uri, Frontmatter: k.front, Files: make([]File, len(k.files))}
	for i, f := range k.files {
		digest, err := c.digest(f)
		if err != nil {
			return nil, err
		}
		entry.Files[i] = File{URI: f.uri, Digest: digest, Size: f.size}
	}
	k.entry = entry
	return entry, nil
}

// digest returns the digest of a file, which is made once.
func (c *catalogue) digest(f *file) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.digest != "" {
		return f.digest, nil
	}
	opened, err := c.open(f)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(opened, f.size+1)); err != nil {
		return "", fmt.Errorf("read skill file %s: %w", f.path, err)
	} else if n != f.size {
		return "", errChanged
	}
	f.digest = digestText(sum.Sum(nil))
	return f.digest, nil
}

// open opens a file that is still what was found.
func (c *catalogue) open(f *file) (fs.File, error) {
	opened, err := c.fsys.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("read skill file: %w", err)
	}
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.size || !info.ModTime().Equal(f.changed) {
		_ = opened.Close() // nothing was read of it
		return nil, errChanged
	}
	return opened, nil
}

// manifest reads and checks the SKILL.md of the skill in a folder.
func (c *catalogue) manifest(folder string) (front jsontext.Value, description string, err error) {
	text, err := c.head(folder + "/" + manifest)
	if err != nil {
		return nil, "", err
	}
	if front, err = Frontmatter(text); err != nil {
		return nil, "", fmt.Errorf("skill %s: %w", folder, err)
	}
	k := &Skill{Frontmatter: front}
	description = k.Description()
	switch err = checkName(k.Name()); {
	case k.Name() == "":
		err = errors.New("the frontmatter needs a name, as text")
	case err != nil:
	case k.Name() != path.Base(folder):
		err = fmt.Errorf("the name %q must be that of its folder", k.Name())
	case strings.TrimSpace(description) == "":
		err = errors.New("the frontmatter needs a description, as text")
	case utf8.RuneCountInString(description) > maxDescription:
		err = fmt.Errorf("the description has more than %d characters", maxDescription)
	}
	if err != nil {
		return nil, "", fmt.Errorf("skill %s: %w", folder, err)
	}
	return front, description, nil
}

// maxDescription is the most characters of a description.
const maxDescription = 1024

// head reads the beginning of a file, with all the frontmatter that it may have.
func (c *catalogue) head(name string) ([]byte, error) {
	if !c.isPlain(name) {
		return nil, fmt.Errorf("%s is no plain file: links, devices and pipes are not served", name)
	}
	opened, err := c.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(io.LimitReader(opened, maxFrontmatter+1024))
}

// uri is the URI of a path in the file system.
func (c *catalogue) uri(name string) string { return c.base + escapePath(name) }

// escapePath writes a path as part of a URI, whose first segment may stand where
// other URIs have a host.
func escapePath(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = authority.Replace(url.PathEscape(part))
	}
	return strings.Join(parts, "/")
}

var authority = strings.NewReplacer(":", "%3A", "@", "%40")

func (c *catalogue) sort() {
	slices.SortFunc(c.skills, func(a, b *offered) int { return cmp.Compare(a.uri, b.uri) })
	for _, k := range c.skills {
		slices.SortFunc(k.files, func(a, b *file) int { return cmp.Compare(a.uri, b.uri) })
	}
	for _, children := range c.folders {
		slices.SortFunc(children, func(a, b mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	}
}
