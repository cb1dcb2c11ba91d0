package mcptest

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// maxDepth is how deep a message may nest, a batch included.
const maxDepth = jsonrpc.MaxDepth + 1

// anything is the string that matches any value, and within a string any text.
const anything = "…"

// placeholder finds the names within a text.
var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// captures are the values that placeholders stand for, as raw JSON.
type captures map[string]jsontext.Value

// match compares a message with what was expected and returns the differences,
// none when they are equal. Placeholders are captured only then.
func (c captures) match(want, got string) []string {
	m := matcher{captures: maps.Clone(c)}
	if err := jsonscan.Check([]byte(got), maxDepth); err != nil {
		return []string{"what came is no JSON: " + err.Error()}
	}
	m.compare("", jsonscan.Trim([]byte(want)), jsonscan.Trim([]byte(got)))
	if len(m.diffs) == 0 {
		maps.Copy(c, m.captures)
	}
	return m.diffs
}

// substitute puts captured values into a message of the client.
func (c captures) substitute(text string) (string, error) {
	var unknown []string
	known := func(name string) jsontext.Value {
		value, ok := c[name]
		if !ok {
			unknown = append(unknown, name)
		}
		return value
	}
	text = quotedPlaceholder.ReplaceAllStringFunc(text, func(found string) string {
		return string(known(strings.Trim(found, `"{}`)))
	})
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		raw := known(strings.Trim(found, "{}"))
		if jsonscan.KindOf(raw) == jsonscan.String {
			return string(raw[1 : len(raw)-1])
		}
		return string(raw)
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("nothing was captured under the name %s", strings.Join(unknown, ", "))
	}
	return text, nil
}

// quotedPlaceholder is a string that is nothing but a placeholder.
var quotedPlaceholder = regexp.MustCompile(`"\{\{\w+\}\}"`)

// matcher walks two values side by side.
type matcher struct {
	captures captures
	diffs    []string
}

func (m *matcher) differ(path, format string, args ...any) {
	if path == "" {
		path = "the message"
	}
	m.diffs = append(m.diffs, path+": "+fmt.Sprintf(format, args...))
}

func (m *matcher) compare(path string, want, got jsontext.Value) {
	kind := jsonscan.KindOf(want)
	if kind == jsonscan.String {
		m.text(path, want, got)
		return
	}
	if kind != jsonscan.KindOf(got) {
		m.differ(path, "got %s, want %s", shorten(string(got)), shorten(string(want)))
		return
	}
	switch kind {
	case jsonscan.Object:
		m.object(path, want, got)
	case jsonscan.Array:
		m.array(path, want, got)
	default:
		if !bytes.Equal(want, got) {
			m.differ(path, "got %s, want %s", got, want)
		}
	}
}

func (m *matcher) object(path string, want, got jsontext.Value) {
	for name, value := range jsonscan.Members(want) {
		at := path + "." + string(name)
		if path == "" {
			at = string(name)
		}
		if have := jsonscan.Get(got, string(name)); have != nil {
			m.compare(at, value, have)
		} else {
			m.differ(at, "got nothing, want %s", shorten(string(value)))
		}
	}
	for name, value := range jsonscan.Members(got) {
		if jsonscan.Get(want, string(name)) == nil {
			m.differ(strings.TrimPrefix(path+"."+string(name), "."), "got %s, want nothing", shorten(string(value)))
		}
	}
}

func (m *matcher) array(path string, want, got jsontext.Value) {
	wants, gots := elements(want), elements(got)
	for i := range max(len(wants), len(gots)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(gots):
			m.differ(at, "got nothing, want %s", shorten(string(wants[i])))
		case i >= len(wants):
			m.differ(at, "got %s, want nothing", shorten(string(gots[i])))
		default:
			m.compare(at, wants[i], gots[i])
		}
	}
}

// text compares with a string, which may hold placeholders.
func (m *matcher) text(path string, want, got jsontext.Value) {
	pattern := jsonscan.Unquote(want)
	if pattern == anything {
		return
	}
	if found := placeholder.FindStringSubmatch(pattern); found != nil && found[0] == pattern {
		if old, known := m.captures[found[1]]; !known {
			m.captures[found[1]] = bytes.Clone(got)
		} else if !bytes.Equal(old, got) {
			m.differ(path, "got %s, want %s as %s was before", shorten(string(got)), shorten(string(old)), pattern)
		}
		return
	}
	if jsonscan.KindOf(got) != jsonscan.String || !m.textMatches(pattern, jsonscan.Unquote(got)) {
		m.differ(path, "got %s, want %s", shorten(string(got)), shorten(string(want)))
	}
}

// textMatches compares texts and captures what placeholders stand for.
func (m *matcher) textMatches(pattern, got string) bool {
	if pattern == got {
		return true
	}
	names := placeholder.FindAllStringSubmatch(pattern, -1)
	if names == nil && !strings.Contains(pattern, anything) {
		return false
	}
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), anything, ".*")
	for _, name := range names {
		within := "(.+)"
		if known, ok := m.captures[name[1]]; ok {
			within = "(" + regexp.QuoteMeta(jsonscan.Unquote(known)) + ")"
		}
		expr = strings.Replace(expr, regexp.QuoteMeta(name[0]), within, 1)
	}
	found := regexp.MustCompile("(?s)^" + expr + "$").FindStringSubmatch(got)
	if found == nil {
		return false
	}
	for i, name := range names {
		if _, known := m.captures[name[1]]; !known {
			m.captures[name[1]] = jsonscan.AppendQuote(nil, found[i+1])
		}
	}
	return true
}

func elements(array jsontext.Value) []jsontext.Value {
	var all []jsontext.Value
	for value := range jsonscan.Elements(array) {
		all = append(all, value)
	}
	return all
}
