package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"unicode/utf8"
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
	return CheckMembers(data, maxDepth, nil)
}

// CheckMembers is [Check] that also shows each member of the outermost object
// to visit, once it is known to be good: one pass finds an envelope's parts.
// The name is unescaped. Both slices end where their capacity does. What visit
// saw counts only if the error is nil, since what follows a good member may be
// bad.
func CheckMembers(data []byte, maxDepth int, visit func(name, value []byte)) error {
	c := checkers.Get().(*checker)
	*c = checker{data: data, maxDepth: maxDepth, visit: visit, names: c.names[:0]}
	err := c.whole()
	c.data, c.visit = nil, nil
	checkers.Put(c)
	return err
}

// checkers keeps the room for member names from one walk to the next.
var checkers = sync.Pool{New: func() any { return new(checker) }}

// checker is one walk over data. Its methods return false once what is set.
type checker struct {
	data     []byte
	pos      int
	maxDepth int
	what     string // why the walk stopped

	names []span // member names of the open objects, innermost last
	visit func(name, value []byte)
}

// span is a member name: the text between its quotes.
type span struct {
	from, to int
	escaped  bool
}

func (c *checker) whole() error {
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

func (c *checker) err() error { return &SyntaxError{Offset: c.pos, What: c.what} }

func (c *checker) fail(what string) bool {
	if c.what == "" {
		c.what = what
	}
	return false
}

func (c *checker) skipSpace() {
	for c.pos < len(c.data) && isSpace(c.data[c.pos]) {
		c.pos++
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

func (c *checker) value(depth int) bool {
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

func (c *checker) literal(want string) bool {
	if len(c.data)-c.pos < len(want) || string(c.data[c.pos:c.pos+len(want)]) != want {
		return c.fail("unknown literal")
	}
	c.pos += len(want)
	return true
}

func (c *checker) array(depth int) bool {
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

func (c *checker) object(depth int) bool {
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
		if depth == 1 && c.visit != nil {
			c.show(name, c.data[at:c.pos:c.pos])
		}
		done, ok := c.next('}')
		if done || !ok {
			c.names = c.names[:first]
			return ok
		}
	}
}

func (c *checker) show(name span, value []byte) {
	text := c.data[name.from:name.to:name.to]
	if name.escaped {
		text = appendUnescaped(nil, text)
	}
	c.visit(text, value)
}

// next steps over what follows a value in a container: the closing byte, which
// ends it, or a comma.
func (c *checker) next(closing byte) (done, ok bool) {
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

func (c *checker) unique(name span, first int, seen map[string]struct{}) (map[string]struct{}, bool) {
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

func (c *checker) sameName(a, b span) bool {
	if a.escaped || b.escaped {
		return c.nameText(a) == c.nameText(b)
	}
	return bytes.Equal(c.data[a.from:a.to], c.data[b.from:b.to])
}

func (c *checker) nameText(s span) string {
	if s.escaped {
		return string(appendUnescaped(nil, c.data[s.from:s.to]))
	}
	return string(c.data[s.from:s.to])
}

// string steps over the string at pos and returns what stands between its quotes.
func (c *checker) string() (span, bool) {
	c.pos++
	s := span{from: c.pos}
	for {
		c.skipPlain()
		if c.pos >= len(c.data) {
			return s, c.fail("unterminated string")
		}
		switch b := c.data[c.pos]; {
		case b == '"':
			s.to = c.pos
			c.pos++
			return s, true
		case b == '\\':
			s.escaped = true
			if !c.escape() {
				return s, false
			}
		case b < ' ':
			return s, c.fail("control character in a string")
		default:
			r, size := utf8.DecodeRune(c.data[c.pos:])
			if r == utf8.RuneError && size <= 1 {
				return s, c.fail("invalid UTF-8")
			}
			c.pos += size
		}
	}
}

// skipPlain steps over bytes that need no second look, eight at a time.
func (c *checker) skipPlain() {
	rest := c.data[c.pos:]
	for len(rest) >= 8 {
		if at := firstSpecial(binary.LittleEndian.Uint64(rest)); at < 8 {
			c.pos = len(c.data) - len(rest) + at
			return
		}
		rest = rest[8:]
	}
	for len(rest) > 0 && isPlain(rest[0]) {
		rest = rest[1:]
	}
	c.pos = len(c.data) - len(rest)
}

func (c *checker) escape() bool {
	if c.pos+1 >= len(c.data) {
		return c.fail("unterminated string")
	}
	switch c.data[c.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.pos += 2
		return true
	case 'u':
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
	return c.fail("invalid escape")
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

func (c *checker) number() bool {
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

func (c *checker) digits() bool {
	from := c.pos
	for c.pos < len(c.data) && isDigit(c.data[c.pos]) {
		c.pos++
	}
	if c.pos == from {
		return c.fail("a digit is missing")
	}
	return true
}
