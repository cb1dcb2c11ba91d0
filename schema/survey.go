package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// What a schema's text may hold. Beyond the common keywords the limits are
// lower, since the library's work for one object grows with their number.
const (
	maxObjects         = 10_000
	maxNodes           = 100_000 // values of all kinds
	maxLibraryText     = 256 << 10
	maxLibraryObjects  = 2_000
	maxLibraryNodes    = 20_000
	maxLibraryPaths    = 4 << 20   // bytes of all JSON pointers to objects
	maxLibraryDetours  = 200_000   // references to odd places times objects
	maxLibraryRenaming = 1_000_000 // identifiers times objects

	maxDigits   = 1_000   // characters of one number, for the library
	maxExponent = 400     // decimal exponent of one number, for the library
	maxCount    = 1 << 53 // of keywords that count, such as maxLength
)

// findings is what one pass over a JSON text counts.
type findings struct {
	nodes     int   // values of all kinds
	objects   int   // of those, objects
	pathBytes int   // bytes of the JSON pointers to all objects
	ids       int   // members named $id or id
	detours   int   // references that do not lead to # or to a definition
	number    error // the first number that big arithmetic should not see
}

// survey counts what is in a text that has passed jsonscan.Check, without
// recursion and in one pass.
func survey(text []byte) findings {
	s := surveyor{text: text}
	for s.at < len(text) {
		switch c := text[s.at]; c {
		case '"':
			s.string()
		case '{', '[':
			s.found.nodes++
			if c == '{' {
				s.found.objects++
				s.found.pathBytes += s.path
			}
			s.open = append(s.open, s.path)
			s.path += len("/123")
			s.at++
		case '}', ']':
			if last := len(s.open) - 1; last >= 0 {
				s.path = s.open[last]
				s.open = s.open[:last]
			}
			s.at++
		case ',', ':', ' ', '\n', '\r', '\t':
			s.at++
		default:
			s.scalar()
		}
	}
	return s.found
}

type surveyor struct {
	text  []byte
	at    int
	open  []int  // lengths of the pointers to the open containers
	path  int    // length of the pointer to the next value
	name  []byte // of the member whose value comes next
	found findings
}

// string steps over a member name or a string value.
func (s *surveyor) string() {
	from := s.at + 1
	end := from
	for end < len(s.text) && s.text[end] != '"' {
		if s.text[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(s.text))
	inner := s.text[from:end]
	s.at = min(end+1, len(s.text))
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\r' || s.text[s.at] == '\t') {
		s.at++
	}
	if s.at < len(s.text) && s.text[s.at] == ':' {
		s.name = inner
		if len(s.open) > 0 {
			s.path = s.open[len(s.open)-1] + 1 + len(inner)
		}
		return
	}
	s.found.nodes++
	switch string(s.name) {
	case "$id", "id":
		s.found.ids++
	case "$ref", "$dynamicRef", "$recursiveRef":
		if _, direct := definition(inner); !direct {
			s.found.detours++
		}
	}
	s.name = nil
}

// scalar steps over a number, a boolean or null.
func (s *surveyor) scalar() {
	n := bytes.IndexAny(s.text[s.at:], ",]} \n\r\t")
	if n < 0 {
		n = len(s.text) - s.at
	}
	raw := s.text[s.at : s.at+max(n, 1)]
	s.at += len(raw)
	s.found.nodes++
	if s.found.number == nil && jsonscan.KindOf(raw) == jsonscan.Number {
		s.found.number = oversized(raw, s.name)
	}
	s.name = nil
}

// counting lists the keywords whose values count something.
var counting = []string{
	"minLength", "maxLength", "minItems", "maxItems",
	"minProperties", "maxProperties", "minContains", "maxContains",
}

// oversized reports a number that would be costly in exact arithmetic, or, as
// the value of a keyword that counts, does not fit.
func oversized(raw, name []byte) error {
	if len(raw) > maxDigits {
		return fmt.Errorf("a number of %d characters is too long to check", len(raw))
	}
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		exp, err := strconv.Atoi(string(raw[e+1:]))
		if err != nil || exp > maxExponent || exp < -maxExponent {
			return fmt.Errorf("the number %s is out of range", shorten(string(raw), 40))
		}
	}
	if slices.Contains(counting, string(name)) && newDecimal(raw).cmp(newDecimal([]byte(strconv.Itoa(maxCount)))) > 0 {
		return fmt.Errorf("%s: %s is out of range", name, shorten(string(raw), 40))
	}
	return nil
}

// forLibrary reports why a schema is more than the library should compile.
func (f findings) forLibrary(text []byte) error {
	switch {
	case len(text) > maxLibraryText:
		return fmt.Errorf("text of %d bytes is over the limit of %d for schemas beyond the common keywords", len(text), maxLibraryText)
	case f.objects > maxLibraryObjects || f.nodes > maxLibraryNodes || f.pathBytes > maxLibraryPaths:
		return fmt.Errorf("too large: more than %d objects, %d values or %d bytes of paths, for a schema beyond the common keywords", maxLibraryObjects, maxLibraryNodes, maxLibraryPaths)
	case f.detours*f.objects > maxLibraryDetours:
		return fmt.Errorf("too many references to places other than $defs")
	case f.ids*f.objects > maxLibraryRenaming:
		return fmt.Errorf("too many identifiers")
	}
	return f.number
}
