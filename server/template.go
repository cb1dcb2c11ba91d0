package server

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"
)

// pattern matches URIs against a template (RFC 6570). The library's regular
// expression decides, in linear time, and captures one text for each
// expression; its own extraction of values is quadratic for exploded lists, so
// the texts are taken apart here.
type pattern struct {
	prefix      string // what every URI of the family starts with: a quick first look
	template    *uritemplate.Template
	expressions []expression
}

// expression is one {…} of a template.
type expression struct {
	separator string
	named     bool // values come as name=value
	vars      []string
}

func parsePattern(text string) (*pattern, error) {
	t, err := uritemplate.New(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{template: t}
	p.prefix, _, _ = strings.Cut(text, "{")
	for _, part := range strings.Split(text, "{")[1:] {
		inner, _, _ := strings.Cut(part, "}")
		p.expressions = append(p.expressions, parseExpression(inner))
	}
	return p, nil
}

func parseExpression(inner string) expression {
	e := expression{separator: ","}
	switch inner[0] { // the library has refused an empty expression
	case '+', '#':
		inner = inner[1:]
	case '.', '/':
		e.separator, inner = inner[:1], inner[1:]
	case ';':
		e.separator, e.named, inner = ";", true, inner[1:]
	case '?', '&':
		e.separator, e.named, inner = "&", true, inner[1:]
	}
	for _, spec := range strings.Split(inner, ",") {
		name, _, _ := strings.Cut(strings.TrimSuffix(spec, "*"), ":")
		e.vars = append(e.vars, name)
	}
	return e
}

// match returns the variables of uri, decoded, or nil if it is none of the
// family. The values of an exploded list stay joined by their separator.
func (p *pattern) match(uri string) map[string]string {
	if !strings.HasPrefix(uri, p.prefix) {
		return nil
	}
	return p.assign(p.template.Regexp(), uri)
}

func (p *pattern) assign(re *regexp.Regexp, uri string) map[string]string {
	captured := re.FindStringSubmatch(uri)
	if captured == nil || len(captured) != len(p.expressions)+1 {
		return nil
	}
	vars := make(map[string]string)
	for i, e := range p.expressions {
		e.assign(captured[i+1], vars)
	}
	return vars
}

func (e *expression) assign(text string, vars map[string]string) {
	if text == "" {
		return
	}
	if e.named {
		for _, pair := range strings.Split(text, e.separator) {
			name, value, _ := strings.Cut(pair, "=")
			vars[decode(name)] = decode(value)
		}
		return
	}
	parts := strings.SplitN(text, e.separator, len(e.vars))
	for i, part := range parts {
		vars[e.vars[i]] = decode(part)
	}
}

// decode undoes percent-encoding; text that is not encoded properly stays as it
// is.
func decode(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
