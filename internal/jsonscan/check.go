package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
)

// SyntaxError says where and why text is not one strict JSON value.
type SyntaxError struct {
	Offset int    // bytes before the first one that cannot stand
	What   string // a short clause, safe to show to the sender
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.What, e.Offset)
}

// Check reports whether data holds exactly one strict JSON value, with white
// space around it allowed, nested at most maxDepth deep. The error is a
// [*SyntaxError].
func Check(data []byte, maxDepth int) error {
	c := checkers.Get().(*Checker)
	err := c.check(data, maxDepth, 0)
	checkers.Put(c)
	return err
}

var checkers = sync.Pool{New: func() any { return new(Checker) }}

// Checker is [Check] for many texts, one at a time: it keeps the room that it
// needs from one to the next. The zero Checker is ready.
type Checker struct {
	data     []byte
	pos      int
	maxDepth int
	what     string // why the walk stopped

	names []span // member names of the open objects, innermost last
	deep  int    // how deep parts are listed
	parts []Part
	more  bool // there were more parts than are kept
}

// Part is a member of an object near the root of a text.
type Part struct {
	Depth int // of the object: 1 for the outermost
	Name  []byte
	Value []byte
}

// maxParts is how many parts are kept. Honest messages have fewer.
const maxParts = 40

// Parts is [Check] that also lists the members of the outermost object, and of
// objects in it that are nested at most deep, so that one pass finds whatever
// stands near the root. An object's members come before the member that it is.
// Names are unescaped; the slices end where their capacity does. The list is the
// Checker's own and holds until its next use, or until Forget. It is nil when there
// are too many parts: then the text must be walked.
func (c *Checker) Parts(data []byte, maxDepth, deep int) ([]Part, error) {
	if err := c.check(data, maxDepth, deep); err != nil || c.more {
		return nil, err
	}
	if c.parts == nil {
		c.parts = make([]Part, 0, maxParts)
	}
	return c.parts, nil
}

// Forget lets go of the last text.
func (c *Checker) Forget() {
	clear(c.parts)
	c.parts = c.parts[:0]
}

func (c *Checker) check(data []byte, maxDepth, deep int) error {
	c.Forget()
	c.data, c.pos, c.what = data, 0, ""
	c.maxDepth, c.deep = maxDepth, deep
	c.names, c.more = c.names[:0], false
	err := c.whole()
	c.data = nil
	return err
}

// span is a member name: the text between its quotes.
type span struct {
	from, to int
	escaped  bool
}

func (c *Checker) whole() error {
	c.skipSpace()
	if !c.value(0) {
		return c.err()
	}
	c.skipSpace()
	if c.pos < len(c.data) {
		c.fail("text after the value")
		return c.err()
	}
	return nil
}

func (c *Checker) err() error { return &SyntaxError{Offset: c.pos, What: c.what} }

func (c *Checker) fail(what string) bool {
	if c.what == "" {
		c.what = what
	}
	return false
}

func (c *Checker) skipSpace() {
	for c.pos < len(c.data) && isSpace(c.data[c.pos]) {
		c.pos++
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

func (c *Checker) value(depth int) bool {
	if c.pos >= len(c.data) {
		return c.fail("unexpected end")
	}
	switch b := c.data[c.pos]; b {
	case '{':
		return c.object(depth + 1)
	case '[':
		return c.array(depth + 1)
	case '"':
		_, ok := c.string()
		return ok
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	default:
		if b == '-' || isDigit(b) {
			return c.number()
		}
		return c.fail("a value cannot start here")
	}
}

func (c *Checker) literal(want string) bool {
	if len(c.data)-c.pos < len(want) || string(c.data[c.pos:c.pos+len(want)]) != want {
		return c.fail("unknown literal")
	}
	c.pos += len(want)
	return true
}

func (c *Checker) array(depth int) bool {
	if depth > c.maxDepth {
		return c.fail(fmt.Sprintf("nested more than %d deep", c.maxDepth))
	}
	c.pos++
	c.skipSpace()
	if c.pos < len(c.data) && c.data[c.pos] == ']' {
		c.pos++
		return true
	}
	for {
		if !c.value(depth) {
			return false
		}
		done, ok := c.next(']')
		if done || !ok {
			return ok
		}
	}
}

func (c *Checker) object(depth int) bool {
	if depth > c.maxDepth {
		return c.fail(fmt.Sprintf("nested more than %d deep", c.maxDepth))
	}
	c.pos++
	c.skipSpace()
	if c.pos < len(c.data) && c.data[c.pos] == '}' {
		c.pos++
		return true
	}
	first := len(c.names)
	var seen map[string]struct{} // only for objects with many members
	for {
		if c.pos >= len(c.data) || c.data[c.pos] != '"' {
			return c.fail("a member name is missing")
		}
		at := c.pos
		name, ok := c.string()
		if !ok {
			return false
		}
		if seen, ok = c.unique(name, first, seen); !ok {
			c.pos = at
			return c.fail("duplicate member name")
		}
		c.skipSpace()
		if c.pos >= len(c.data) || c.data[c.pos] != ':' {
			return c.fail("a colon is missing")
		}
		c.pos++
		c.skipSpace()
		at = c.pos
		if !c.value(depth) {
			return false
		}
		if depth <= c.deep {
			c.list(depth, name, c.data[at:c.pos:c.pos])
		}
		done, ok := c.next('}')
		if done || !ok {
			c.names = c.names[:first]
			return ok
		}
	}
}

func (c *Checker) list(depth int, name span, value []byte) {
	if len(c.parts) == maxParts {
		c.more = true
		return
	}
	text := c.data[name.from:name.to:name.to]
	if name.escaped {
		text = appendUnescaped(nil, text)
	}
	c.parts = append(c.parts, Part{depth, text, value})
}

// next steps over what follows a value in a container: the closing byte, which
// ends it, or a comma.
func (c *Checker) next(closing byte) (done, ok bool) {
	c.skipSpace()
	if c.pos >= len(c.data) {
		return false, c.fail("unexpected end")
	}
	switch c.data[c.pos] {
	case closing:
		c.pos++
		return true, true
	case ',':
		c.pos++
		c.skipSpace()
		return false, true
	}
	return false, c.fail("a comma or a closing bracket is missing")
}

// few is how many names of one object are compared one by one; beyond it a map
// keeps the work linear.
const few = 12

func (c *Checker) unique(name span, first int, seen map[string]struct{}) (map[string]struct{}, bool) {
	own := c.names[first:]
	if seen == nil && len(own) < few {
		for _, other := range own {
			if c.sameName(name, other) {
				return nil, false
			}
		}
		c.names = append(c.names, name)
		return nil, true
	}
	if seen == nil {
		seen = make(map[string]struct{}, 4*few)
		for _, other := range own {
			seen[c.nameText(other)] = struct{}{}
		}
	}
	text := c.nameText(name)
	if _, dup := seen[text]; dup {
		return seen, false
	}
	seen[text] = struct{}{}
	return seen, true
}

func (c *Checker) sameName(a, b span) bool {
	if a.escaped || b.escaped {
		return c.nameText(a) == c.nameText(b)
	}
	return bytes.Equal(c.data[a.from:a.to], c.data[b.from:b.to])
}

func (c *Checker) nameText(s span) string {
	if s.escaped {
		return string(appendUnescaped(nil, c.data[s.from:s.to]))
	}
	return string(c.data[s.from:s.to])
}

// string steps over the string at pos and returns what stands between its quotes.
func (c *Checker) string() (span, bool) {
	data, i := c.data, c.pos+1
	s := span{from: i}
	for {
		at := 8
		for last := min(len(data)-8, s.from+longText); i <= last; i += 8 {
			if at = firstSpecial(binary.LittleEndian.Uint64(data[i:])); at < 8 {
				i += at
				break
			}
		}
		if at == 8 { // a long text, or near the end
			var escaped bool
			i, escaped = passOver(data, i)
			s.escaped = s.escaped || escaped
		}
		if i+1 < len(data) {
			if b := data[i]; pairFirst[b]&pairSecond[data[i+1]] != 0 {
				s.escaped = s.escaped || b == '\\'
				i += 2
				continue
			}
		}
		if i >= len(data) {
			c.pos = i
			return s, c.fail("unterminated string")
		}
		switch b := data[i]; {
		case b == '"':
			s.to = i
			c.pos = i + 1
			return s, true
		case b == '\\':
			s.escaped = true
			c.pos = i
			if !c.escape() {
				return s, false
			}
			i = c.pos
		case b < ' ':
			c.pos = i
			return s, c.fail("control character in a string")
		default:
			size := foreignBytes(data[i:])
			if i += size; size == 0 {
				c.pos = i
				return s, c.fail("invalid UTF-8")
			}
		}
	}
}

// escape steps over an escape that is not of the short ones.
func (c *Checker) escape() bool {
	if c.pos+1 >= len(c.data) {
		return c.fail("unterminated string")
	}
	r, ok := hex4(c.data[c.pos:])
	if !ok {
		return c.fail("invalid escape")
	}
	if r < 0xd800 || r > 0xdfff {
		c.pos += 6
		return true
	}
	low, ok := hex4(c.data[c.pos+6:])
	if r >= 0xdc00 || !ok || low < 0xdc00 || low > 0xdfff {
		return c.fail("half a surrogate pair")
	}
	c.pos += 12
	return true
}

// hex4 reads an escape \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, d := range b[2:6] {
		switch {
		case isDigit(d):
			d -= '0'
		case 'a' <= d && d <= 'f':
			d -= 'a' - 10
		case 'A' <= d && d <= 'F':
			d -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func (c *Checker) number() bool {
	if c.data[c.pos] == '-' {
		c.pos++
	}
	switch {
	case c.pos < len(c.data) && c.data[c.pos] == '0':
		c.pos++
	case !c.digits():
		return false
	}
	if c.pos < len(c.data) && c.data[c.pos] == '.' {
		c.pos++
		if !c.digits() {
			return false
		}
	}
	if c.pos < len(c.data) && c.data[c.pos]|0x20 == 'e' {
		c.pos++
		if c.pos < len(c.data) && (c.data[c.pos] == '+' || c.data[c.pos] == '-') {
			c.pos++
		}
		return c.digits()
	}
	return true
}

func (c *Checker) digits() bool {
	from := c.pos
	for c.pos < len(c.data) && isDigit(c.data[c.pos]) {
		c.pos++
	}
	if c.pos == from {
		return c.fail("a digit is missing")
	}
	return true
}
