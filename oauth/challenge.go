package oauth

import (
	"slices"
	"strings"
)

// Challenge is one way in that a WWW-Authenticate header offers (RFC 9110,
// section 11.6.1). It has a Token, or Params, or neither.
type Challenge struct {
	Scheme string // as it was written; compare with [Challenge.Is]
	Token  string // the single value that schemes like Negotiate send
	Params []Param
}

// Param is a parameter of a challenge. Names that were parsed are in lower case.
type Param struct {
	Name, Value string
}

// Is reports whether the challenge is of a scheme, whatever its case.
func (c *Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Get returns the value of a parameter, empty if it is not there. The name must
// be in lower case.
func (c *Challenge) Get(name string) string {
	i := slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	return c.Params[i].Value
}

// Scopes returns the words of the scope parameter, nil if it is not there.
func (c *Challenge) Scopes() []string { return strings.Fields(c.Get("scope")) }

// String returns the challenge as the value of a header, parameters in their
// order and quoted. Characters that such a value cannot carry, line ends among
// them, become question marks; parameters whose names are not tokens are left
// out. A scheme that is not a token makes the whole empty.
func (c *Challenge) String() string {
	if !isToken(c.Scheme) {
		return ""
	}
	var b strings.Builder
	b.WriteString(c.Scheme)
	if c.Token != "" && isToken68(c.Token) {
		b.WriteByte(' ')
		b.WriteString(c.Token)
		return b.String()
	}
	sep := " "
	for _, p := range c.Params {
		if !isToken(p.Name) {
			continue
		}
		b.WriteString(sep)
		b.WriteString(p.Name)
		b.WriteByte('=')
		quote(&b, p.Value)
		sep = ", "
	}
	return b.String()
}

func quote(b *strings.Builder, value string) {
	b.WriteByte('"')
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isToken68(s string) bool {
	trimmed := strings.TrimRight(s, "=")
	for i := range len(trimmed) {
		if !token68Byte(trimmed[i]) {
			return false
		}
	}
	return trimmed != ""
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func tokenByte(c byte) bool {
	return alphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func token68Byte(c byte) bool {
	return alphanumeric(c) || strings.IndexByte("-._~+/", c) >= 0
}
