package skills

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Extension is the identifier of the extension.
const Extension = "io.modelcontextprotocol/skills"

// The methods of the extension.
const (
	MethodList          = "skills/list"              // client to server: one page of skills
	MethodGet           = "skills/get"               // client to server: one skill by its URI
	MethodReadDirectory = "resources/directory/read" // client to server: one page of a folder
)

// DirectoryType is the MIME type of a folder.
const DirectoryType = "inode/directory"

// The largest skill that every client must take.
const (
	MaxFiles = 512      // files of a skill, SKILL.md included
	MaxBytes = 16 << 20 // of all its files together
)

const (
	manifest      = "SKILL.md"
	dynamic       = "dynamic"
	maxName       = 64
	reservedInURI = "?#"
)

// Skill is the entry of one skill: what a server says of it.
type Skill struct {
	// URI is that of the skill's SKILL.md.
	URI string
	// Frontmatter is the YAML that begins SKILL.md, as a JSON object.
	Frontmatter jsontext.Value
	// Files are all files of the skill, SKILL.md among them. Nil when Dynamic.
	Files []File
	// Dynamic says that the files change too often for a list, so that nothing of
	// the skill can be checked but the frontmatter.
	Dynamic bool
}

// File is a file of a skill.
type File struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // as [Digest] writes it
	Size   int64  `json:"size"`   // in bytes
}

// Name is the skill's name by its frontmatter. It is a label: only the URI tells
// the skills of a server apart, and two servers may use one URI for two skills.
func (s *Skill) Name() string { return s.text("name") }

// Description says what the skill is good for, by its frontmatter.
func (s *Skill) Description() string { return s.text("description") }

func (s *Skill) text(member string) string {
	value := jsonscan.Get(s.Frontmatter, member)
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	return jsonscan.Unquote(value)
}

// Root is the URI of the skill's folder, without a slash at its end.
func (s *Skill) Root() string { return strings.TrimSuffix(s.URI, "/"+manifest) }

// skillWire is a Skill as it travels.
type skillWire struct {
	URI         string         `json:"uri"`
	Frontmatter jsontext.Value `json:"frontmatter"`
	Resources   jsontext.Value `json:"resources"` // an array of files, or "dynamic"
}

// MarshalJSONTo writes the entry.
func (s *Skill) MarshalJSONTo(enc *jsontext.Encoder) error {
	wire := skillWire{URI: s.URI, Frontmatter: s.Frontmatter, Resources: jsontext.Value(`"` + dynamic + `"`)}
	if !s.Dynamic {
		files, err := json.Marshal(s.Files)
		if err != nil {
			return err
		}
		wire.Resources = files
	}
	return json.MarshalEncode(enc, &wire)
}

// UnmarshalJSONFrom reads an entry. One that lacks a member, or does not say what
// its files are, is an error: it must not be used.
func (s *Skill) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var wire skillWire
	if err := json.UnmarshalDecode(dec, &wire); err != nil {
		return err
	}
	if wire.URI == "" || wire.Frontmatter.Kind() != '{' {
		return errors.New("a skill needs a uri, and frontmatter that is an object")
	}
	*s = Skill{URI: wire.URI, Frontmatter: wire.Frontmatter}
	switch {
	case string(wire.Resources) == `"`+dynamic+`"`:
		s.Dynamic = true
		return nil
	case wire.Resources.Kind() == '[':
		return json.Unmarshal(wire.Resources, &s.Files)
	}
	return fmt.Errorf("the resources of skill %s must be an array, or %q", wire.URI, dynamic)
}

// Check reports what is wrong with an entry that came from elsewhere: a name that
// breaks the rules or is not that of the folder, a list that is incomplete, has a
// file twice or one outside of the folder, or is larger than clients must take.
func (s *Skill) Check() error {
	if err := s.check(); err != nil {
		return fmt.Errorf("skill %s: %w", s.URI, err)
	}
	return nil
}

func (s *Skill) check() error {
	name := s.Name()
	root, ok := strings.CutSuffix(s.URI, "/"+manifest)
	if !ok || !plainURI(s.URI) {
		return errors.New("the URI must be one of a " + manifest)
	}
	if err := checkName(name); err != nil {
		return err
	}
	if folder := root[strings.LastIndexByte(root, '/')+1:]; folder != name {
		return fmt.Errorf("the name is %q, but its folder is %q", name, folder)
	}
	if s.Description() == "" {
		return errors.New("there is no description")
	}
	if s.Dynamic {
		return nil
	}
	if len(s.Files) > MaxFiles {
		return fmt.Errorf("it has %d files, more than %d", len(s.Files), MaxFiles)
	}
	return s.checkFiles(root + "/")
}

func (s *Skill) checkFiles(root string) error {
	seen := make(map[string]bool, len(s.Files))
	total := int64(0)
	for i := range s.Files {
		f := &s.Files[i]
		switch {
		case !strings.HasPrefix(f.URI, root) || !plainURI(f.URI):
			return fmt.Errorf("file %s is not in its folder", f.URI)
		case seen[f.URI]:
			return fmt.Errorf("file %s is listed twice", f.URI)
		case !isDigest(f.Digest):
			return fmt.Errorf("file %s has no digest that can be checked: %q", f.URI, f.Digest)
		case f.Size < 0 || f.Size > MaxBytes:
			return fmt.Errorf("file %s has %d bytes", f.URI, f.Size)
		}
		seen[f.URI] = true
		total += f.Size
	}
	if !seen[s.URI] {
		return errors.New("its list of files lacks " + manifest)
	}
	if total > MaxBytes {
		return fmt.Errorf("its files have %d bytes, more than %d", total, MaxBytes)
	}
	return nil
}

// plainURI reports whether a URI means what it seems to: it has a scheme, no query
// and no fragment, and none of its segments, however they are escaped, is empty, a
// dot or two, or has a slash or a control character in it.
func plainURI(uri string) bool {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || scheme == "" || strings.ContainsAny(rest, reservedInURI) {
		return false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if decoded, err := url.PathUnescape(segment); err != nil || !plainSegment(decoded) {
			return false
		}
	}
	return true
}

// plainSegment reports whether a name can be that of a file or folder and nothing
// else.
func plainSegment(name string) bool {
	return name != "" && name != "." && name != ".." &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || r == '\\' })
}

// checkName reports what breaks the rules for names of skills.
func checkName(name string) error {
	bad := name == "" || len(name) > maxName || name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--")
	for i := 0; i < len(name) && !bad; i++ {
		c := name[i]
		bad = (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	}
	if bad {
		return fmt.Errorf("the name %q must be 1 to %d lower-case letters, digits and single hyphens between them", name, maxName)
	}
	return nil
}
