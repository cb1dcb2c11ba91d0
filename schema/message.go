package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/spelling"
)

// The messages of problems. Each says what came and what is allowed. Values
// appear as they were sent, cut to a readable size.

const (
	tooLarge     = "too large or too deeply nested to check"
	mismatch     = "does not match the schema"
	fitsNone     = "matches none of the allowed forms"
	fitsTwice    = "fits more than one of the forms of which it must fit exactly one"
	maxShown     = 80      // bytes of a value that a message shows
	maxListed    = 20      // values or names that a message lists
	maxListBytes = 600     // bytes of a list
	maxDescribed = 1 << 16 // bytes of a value that is looked into for a message
)

func forbidden(value []byte) string { return "must be left out, got " + describe(value) }

func wrongType(value []byte, allowed []string) string {
	message := "must be " + articles(allowed) + ", got " + describe(value)
	if holdsText(value, allowed) {
		message += "; pass the value itself, not its text in a string"
	}
	return message
}

func wrongConstant(value []byte, want constant) string {
	return "must be " + cut(want.raw) + ", got " + describe(value)
}

func notListed(value []byte, allowed []constant) string {
	message := "got " + describe(value) + ";"
	if jsonscan.KindOf(value) == jsonscan.String && len(value) <= maxDescribed {
		var names []string
		for _, c := range allowed[:min(len(allowed), spelling.MaxCandidates)] {
			names = append(names, c.text)
		}
		if name, ok := spelling.Nearest(jsonscan.Unquote(value), names); ok {
			message += " did you mean " + quoted(name) + "?"
		}
	}
	return message + " allowed: " + list(len(allowed), func(i int) string { return cut(allowed[i].raw) })
}

// unknown tells of a member that must not be there, beside those that may, which
// are the properties with a schema.
func unknown(name string, properties []property) string {
	message := "unknown argument " + quoted(name)
	var names []string
	others := 0 // that are too many to name
	for _, p := range properties {
		if p.node != nil && len(names) < spelling.MaxCandidates {
			names = append(names, p.name)
		} else if p.node != nil {
			others++
		}
	}
	if len(names) == 0 {
		return message
	}
	message += ";"
	if near, ok := spelling.Nearest(name, names); ok {
		message += " did you mean " + quoted(near) + "?"
	}
	return message + " allowed: " + list(len(names)+others, func(i int) string { return memberStep(names[i], true) })
}

func missing(name string) string { return "missing required argument " + quoted(name) }

func outside(value []byte, relation, bound string) string {
	return "must be " + relation + " " + bound + ", got " + cut(value)
}

func noMultiple(value []byte, of string) string {
	return "must be a multiple of " + of + ", got " + cut(value)
}

func tooShort(value []byte, length, least int) string {
	return fmt.Sprintf("must have at least %s, got %s with %d", plural(least, "character"), cut(value), length)
}

func tooLong(value []byte, length, most int) string {
	return fmt.Sprintf("must have at most %s, got %s with %d", plural(most, "character"), cut(value), length)
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

func repeated(first, second int) string {
	return fmt.Sprintf("must not repeat items, but items %d and %d are equal", first, second)
}

func lacksItems(count, least int) string {
	if least == 1 {
		return "must contain at least one item of the form that the schema asks for"
	}
	return fmt.Sprintf("must contain at least %s of the form that the schema asks for, got %d", plural(least, "item"), count)
}

func repeatsForm(count, most int) string {
	return fmt.Sprintf("must contain at most %s of the form that the schema limits, got %d", plural(most, "item"), count)
}

func alsoNeeds(name string, missing []string) string {
	return "argument " + quoted(name) + " also needs " + list(len(missing), func(i int) string { return quoted(missing[i]) })
}

func wrongName(name, message string) string {
	return "name " + quoted(name) + " is not allowed: " + message
}

// excluded tells what a schema under the keyword not forbids, where that takes
// few words.
func excluded(value []byte, n *node) string {
	if n.ref != nil {
		n = n.ref
	}
	switch {
	case n.says != 1:
	case n.types != 0:
		return "must not be " + articles(n.types.names()) + ", got " + describe(value)
	case n.constant != nil || n.enum != nil:
		return "has a value that is not allowed, got " + describe(value)
	case n.required == 1:
		return "must not have the argument " + quoted(n.properties[0].name)
	case n.required > 1:
		return "must not have all of the arguments " + list(n.required, func(i int) string { return quoted(n.properties[i].name) })
	}
	return "has a form that is not allowed"
}

// describe names a value's type and shows the value if it is short.
func describe(value []byte) string {
	switch jsonscan.KindOf(value) {
	case jsonscan.Number:
		return "number " + cut(value)
	case jsonscan.String:
		return "string " + cut(value)
	case jsonscan.Array:
		if len(value) > maxDescribed {
			return "a large array"
		}
		n := 0
		for range jsonscan.Elements(value) {
			n++
		}
		return "array of " + plural(n, "item")
	case jsonscan.Object:
		if len(value) > maxDescribed {
			return "a large object"
		}
		n := 0
		for range jsonscan.Members(value) {
			n++
		}
		return "object with " + plural(n, "member")
	}
	return cut(value) // null, true, false
}

// holdsText reports whether a string spells a JSON value of an allowed type: a
// slip that language models make.
func holdsText(value []byte, allowed []string) bool {
	if jsonscan.KindOf(value) != jsonscan.String || len(value) > maxDescribed {
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
func list(count int, item func(i int) string) string {
	var b strings.Builder
	for i := range count {
		text := ""
		if i < maxListed {
			text = item(i)
		}
		if i == maxListed || b.Len()+len(text) > maxListBytes {
			fmt.Fprintf(&b, " and %d more", count-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
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

// cut returns a raw value, cut to a readable size.
func cut(value []byte) string {
	return shorten(string(value[:min(len(value), maxShown+utf8.UTFMax)]), maxShown)
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
