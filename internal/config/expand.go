package config

import (
	"fmt"
	"strings"
)

// Expander puts the values of variables into texts.
type Expander struct {
	// Lookup returns the value of a variable, and whether it is set. Nil: none is.
	Lookup func(name string) (value string, ok bool)
	// Shell allows what only some clients expand, as a shell would: $NAME,
	// $(echo …), and \$ for the sign itself. No shell is run. Elsewhere these are
	// text.
	Shell bool
}

// UnsetError says that a text needs a variable that is not set.
type UnsetError struct{ Name string }

func (e *UnsetError) Error() string { return "the variable " + e.Name + " is not set" }

// Expand replaces ${NAME}, ${env:NAME} and ${NAME:-otherwise} in text, and what
// Shell allows. A variable that is not set is an [*UnsetError]; what is written
// like an expansion and is none of these is an error too. Values are not expanded
// again.
func (x *Expander) Expand(text string) (string, error) {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if x.Shell && i > 0 && text[i-1] == '\\' {
			out.WriteString(text[:i-1] + "$")
			text = text[i+1:]
			continue
		}
		out.WriteString(text[:i])
		value, rest, err := x.dollar(text[i:])
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = rest
	}
}

// dollar expands what text starts with: a dollar sign and what belongs to it.
func (x *Expander) dollar(text string) (value, rest string, err error) {
	switch {
	case strings.HasPrefix(text, "${"):
		inside, rest, ok := strings.Cut(text[2:], "}")
		if !ok {
			return "", "", fmt.Errorf("%q has no closing brace", text)
		}
		value, err = x.braces(inside)
		return value, rest, err
	case !x.Shell:
		return "$", text[1:], nil
	case strings.HasPrefix(text, "$("):
		inside, rest, ok := strings.Cut(text[2:], ")")
		if !ok {
			return "", "", fmt.Errorf("%q has no closing parenthesis", text)
		}
		value, err = x.echo(inside)
		return value, rest, err
	}
	n := nameLength(text[1:])
	if n == 0 {
		if len(text) > 1 && strings.IndexByte("0123456789$?!#*@-", text[1]) >= 0 {
			return "", "", fmt.Errorf("%q is no variable that can be used here; write \\$ for a dollar sign", text[:2])
		}
		return "$", text[1:], nil
	}
	value, err = x.lookup(text[1 : 1+n])
	return value, text[1+n:], err
}

// braces expands what stands between ${ and }.
func (x *Expander) braces(inside string) (string, error) {
	if id, ok := strings.CutPrefix(inside, "input:"); ok {
		return "", fmt.Errorf("it asks for the input %q, and nobody can be asked here: use ${env:NAME} and set the variable", id)
	}
	name, otherwise, hasDefault := strings.Cut(strings.TrimPrefix(inside, "env:"), ":-")
	if name == "" || nameLength(name) != len(name) {
		return "", fmt.Errorf("${%s} is no variable; known are ${NAME}, ${env:NAME} and ${NAME:-otherwise}", inside)
	}
	value, err := x.lookup(name)
	if err != nil && isEditors(name) {
		return "", fmt.Errorf("${%s} is known to the editor only: write the path", inside)
	}
	if hasDefault && (err != nil || value == "") {
		return otherwise, nil
	}
	return value, err
}

// isEditors reports whether a name is one that editors put a path in place of.
func isEditors(name string) bool {
	switch name {
	case "workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "workspaceRoot":
		return true
	}
	return false
}

// echo does what a shell would print for echo and plain words: it joins them
// with a space.
func (x *Expander) echo(inside string) (string, error) {
	command, text, _ := strings.Cut(strings.TrimSpace(inside), " ")
	if command != "echo" {
		return "", fmt.Errorf("$(%s) would run a program; only $(echo …) with text and variables is taken", inside)
	}
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t") {
		word, rest, err := x.word(text)
		if err != nil {
			return "", fmt.Errorf("$(%s): %w", inside, err)
		}
		words, text = append(words, word), rest
	}
	if len(words) > 0 && words[0] == "-n" {
		words = words[1:]
	}
	return strings.Join(words, " "), nil
}

// word reads one word as a shell does.
func (x *Expander) word(text string) (word, rest string, err error) {
	var out strings.Builder
	quoted := false // by "
	for text != "" {
		switch c := text[0]; {
		case c == '"':
			quoted, text = !quoted, text[1:]
		case c == '\'' && !quoted:
			inside, rest, ok := strings.Cut(text[1:], "'")
			if !ok {
				return "", "", fmt.Errorf("a quote has no end")
			}
			out.WriteString(inside)
			text = rest
		case c == '$':
			value, rest, err := x.dollar(text)
			if err != nil {
				return "", "", err
			}
			out.WriteString(value)
			text = rest
		case !quoted && (c == ' ' || c == '\t'):
			return out.String(), text, nil
		case c == '`' || c == '\\' || !quoted && strings.IndexByte("|&;<>(){}[]*?~!#\n", c) >= 0:
			return "", "", fmt.Errorf("%q means something to a shell, and no shell is run", c)
		default:
			out.WriteByte(c)
			text = text[1:]
		}
	}
	if quoted {
		return "", "", fmt.Errorf("a quote has no end")
	}
	return out.String(), "", nil
}

func (x *Expander) lookup(name string) (string, error) {
	if x.Lookup != nil {
		if value, ok := x.Lookup(name); ok {
			return value, nil
		}
	}
	return "", &UnsetError{Name: name}
}

// nameLength returns how many bytes of text are the name of a variable.
func nameLength(text string) int {
	for i := range len(text) {
		c := text[i] | 0x20
		if c >= 'a' && c <= 'z' || text[i] == '_' || i > 0 && text[i] >= '0' && text[i] <= '9' {
			continue
		}
		return i
	}
	return len(text)
}
