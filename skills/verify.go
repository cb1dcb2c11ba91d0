package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

const digestPrefix = "sha256:"

// Digest returns the digest of a file's content as entries carry it: "sha256:" and
// 64 lower-case hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return digestText(sum[:])
}

func digestText(sum []byte) string { return digestPrefix + hex.EncodeToString(sum) }

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// MismatchError says that a file of a skill is not what the skill's entry says. It
// was changed, or the entry is old: get the entry anew, and let the user decide
// anew, before anything of the skill is used.
type MismatchError struct {
	URI  string // of the file
	What string // differs: "size", "digest", "frontmatter"; "list": the entry does not have the file
	Want string // by the entry
	Got  string // in the file
}

func (e *MismatchError) Error() string {
	if e.What == "list" {
		return "skill file " + e.URI + " is not in the list of the skill's entry"
	}
	return fmt.Sprintf("skill file %s does not match the skill's entry: its %s is %s, not %s", e.URI, e.What, e.Got, e.Want)
}

// Verify reports whether content is the file at uri as the entry describes it: a
// listed file of the right size and digest, and for SKILL.md with the frontmatter
// of the entry. What fails is a [*MismatchError], and must not be used. Of a dynamic
// skill only the frontmatter can be checked.
//
// A match says that entry and content agree, not that either can be trusted: both
// come from the same server.
func (s *Skill) Verify(uri string, content []byte) error {
	if !s.Dynamic {
		at := slices.IndexFunc(s.Files, func(f File) bool { return f.URI == uri })
		if at < 0 {
			return &MismatchError{URI: uri, What: "list"}
		}
		f := &s.Files[at]
		if int64(len(content)) != f.Size {
			return &MismatchError{uri, "size", strconv.FormatInt(f.Size, 10), strconv.Itoa(len(content))}
		}
		if got := Digest(content); got != f.Digest {
			return &MismatchError{uri, "digest", f.Digest, got}
		}
	}
	if uri != s.URI {
		return nil
	}
	return s.verifyFrontmatter(content)
}

func (s *Skill) verifyFrontmatter(content []byte) error {
	got, err := Frontmatter(content)
	if err != nil {
		return &MismatchError{s.URI, "frontmatter", clip(s.Frontmatter), "unreadable (" + err.Error() + ")"}
	}
	if !sameValue(got, s.Frontmatter) {
		return &MismatchError{s.URI, "frontmatter", clip(s.Frontmatter), clip(got)}
	}
	return nil
}

// clip shortens a value for a message.
func clip(value []byte) string {
	const most = 200
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}

// sameValue reports whether two JSON texts say the same. Numbers are compared as
// most languages hold them: 1.0 in YAML comes as 1 from many servers.
func sameValue(a, b []byte) bool {
	kind := jsonscan.KindOf(a)
	if kind != jsonscan.KindOf(b) {
		return false
	}
	switch kind {
	case jsonscan.Object:
		return maps.EqualFunc(membersOf(a), membersOf(b), sameValue)
	case jsonscan.Array:
		return slices.EqualFunc(slices.Collect(jsonscan.Elements(a)), slices.Collect(jsonscan.Elements(b)), sameValue)
	case jsonscan.String:
		return jsonscan.Unquote(a) == jsonscan.Unquote(b)
	case jsonscan.Number:
		x, errX := strconv.ParseFloat(string(a), 64)
		y, errY := strconv.ParseFloat(string(b), 64)
		return string(a) == string(b) || errX == nil && errY == nil && x == y
	}
	return string(a) == string(b)
}

func membersOf(object []byte) map[string][]byte {
	members := make(map[string][]byte)
	for name, value := range jsonscan.Members(object) {
		members[string(name)] = value
	}
	return members
}
