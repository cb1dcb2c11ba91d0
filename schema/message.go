package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// The messages of problems. Each says what came and what is allowed. Values
// appear as they were sent, cut to a readable size.

const (
	tooLarge     = "too large or too deeply nested to check"
	maxShown     = 80  // bytes of a value that a message shows
	maxListed    = 20  // values or names that a message lists
	maxListBytes = 600 // bytes of a list
)

func forbidden(value []byte) string { return "must be left out, got " + describe(value) }

func wrongType(value []byte, allowed []string) string {
	message := "must be " + articles(allowed) + ", got " + describe(value)
	if holdsText(value, allowed) {
		message += "; pass the value itself, not its text in a string"
	}
	return message
}

func wrongConstant(value, want []byte) string {
	return "must be " + shorten(string(want), maxShown) + ", got " + describe(value)
}

func notListed(value []byte, allowed [][]byte) string {
	message := "got " + describe(value)
	names, shown := make([]string, 0, len(allowed)), make([]string, 0, len(allowed))
	for _, raw := range allowed {
		names = append(names, jsonscan.Unquote(raw))
		shown = append(shown, shorten(string(raw), maxShown))
	}
	if jsonscan.KindOf(value) == jsonscan.String {
		if name, ok := nearest(jsonscan.Unquote(value), names); ok {
			message += "; did you mean " + quoted(name) + "?"
		} else {
			message += ";"
		}
	} else {
		message += ";"
	}
	return message + " allowed: " + list(shown)
}

func unknown(name string, allowed []string) string {
	message := "unknown argument " + quoted(name)
	if len(allowed) == 0 {
		return message
	}
	if near, ok := nearest(name, allowed); ok {
		message += "; did you mean " + quoted(near) + "?"
	} else {
		message += ";"
	}
	shown := make([]string, len(allowed))
	for i, name := range allowed {
		shown[i] = memberStep(name, true)
	}
	return message + " allowed: " + list(shown)
}

func missing(name string) string { return "missing required argument " + quoted(name) }

func outside(value []byte, relation, bound string) string {
	return "must be " + relation + " " + bound + ", got " + shorten(string(value), maxShown)
}

func noMultiple(value []byte, of string) string {
	return "must be a multiple of " + of + ", got " + shorten(string(value), maxShown)
}

func tooShort(value []byte, length, least int) string {
	return fmt.Sprintf("must have at least %s, got %s with %d", plural(least, "character"), shorten(string(value), maxShown), length)
}

func tooLong(value []byte, length, most int) string {
	return fmt.Sprintf("must have at most %s, got %s with %d", plural(most, "character"), shorten(string(value), maxShown), length)
}

func noMatch(value []byte, pattern string) string {
	return "must match the pattern " + shorten(pattern, 200) + ", got " + describe(value)
}

func tooFew(count, least int, what string) string {
	return fmt.Sprintf("must have at least %s, got %d", plural(least, what), count)
}

func tooMany(count, most int, what string) string {
	return fmt.Sprintf("must have at most %s, got %d", plural(most, what), count)
}

// describe names a value's type and shows the value if it is short.
func describe(value []byte) string {
	switch jsonscan.KindOf(value) {
	case jsonscan.Number:
		return "number " + shorten(string(value), maxShown)
	case jsonscan.String:
		return "string " + shorten(string(value), maxShown)
	case jsonscan.Array:
		n := 0
		for range jsonscan.Elements(value) {
			n++
		}
		return "array of " + plural(n, "item")
	case jsonscan.Object:
		n := 0
		for range jsonscan.Members(value) {
			n++
		}
		return "object with " + plural(n, "member")
	}
	return shorten(string(value), maxShown) // null, true, false
}

// holdsText reports whether a string spells a JSON value of an allowed type: a
// slip that language models make.
func holdsText(value []byte, allowed []string) bool {
	if jsonscan.KindOf(value) != jsonscan.String || len(value) > 1<<16 {
		return false
	}
	text := []byte(jsonscan.Unquote(value))
	if jsonscan.Check(text, maxDepth) != nil {
		return false
	}
	text = jsonscan.Trim(text)
	for _, name := range allowed {
		if t, ok := typeOf(name); ok && t.accepts(jsonscan.KindOf(text), text) {
			return true
		}
	}
	return false
}

// articles joins type names into a phrase: a string, an integer or null.
func articles(types []string) string {
	phrases := make([]string, len(types))
	for i, name := range types {
		switch name {
		case "null":
			phrases[i] = name
		case "integer", "array", "object":
			phrases[i] = "an " + name
		default:
			phrases[i] = "a " + name
		}
	}
	if last := len(phrases) - 1; last > 0 {
		return strings.Join(phrases[:last], ", ") + " or " + phrases[last]
	}
	return strings.Join(phrases, "")
}

// list joins names or values, as many as a reader can use.
func list(items []string) string {
	var b strings.Builder
	for i, item := range items {
		if i == maxListed || b.Len()+len(item) > maxListBytes {
			fmt.Fprintf(&b, " and %d more", len(items)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shorten(item, maxShown))
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// quoted returns s as a JSON string, cut to a readable size.
func quoted(s string) string {
	return string(jsonscan.AppendQuote(nil, shorten(s, maxShown)))
}

// shorten cuts s to about size bytes, between characters.
func shorten(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}
