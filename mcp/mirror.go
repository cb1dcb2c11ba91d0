package mcp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// HeaderParam is a parameter of a tool that requests over HTTP repeat in a
// header, so that what stands between client and server can see it.
type HeaderParam struct {
	Name string   // the header is Mcp-Param- and this name
	Path []string // the names of the properties that lead to the parameter
	Type string   // "string", "integer" or "boolean"
}

// headerKeyword marks such a parameter in a tool's input schema.
const headerKeyword = "x-mcp-header"

// HeaderParams finds the parameters that a tool's input schema marks with
// x-mcp-header, in the schema's order. The error says which mark is not allowed;
// a tool with one must not be offered, and clients over HTTP leave it out.
func HeaderParams(inputSchema jsontext.Value) ([]HeaderParam, error) {
	if !bytes.Contains(inputSchema, []byte(headerKeyword)) && !bytes.Contains(inputSchema, []byte(`\u`)) {
		return nil, nil
	}
	var w headerWalk
	if err := w.schema(inputSchema, nil, true); err != nil {
		return nil, err
	}
	return w.found, nil
}

type headerWalk struct{ found []HeaderParam }

// schema looks at one schema and those in it. Marks may stand only where a chain
// of properties leads from the root.
func (w *headerWalk) schema(text []byte, path []string, reachable bool) error {
	for keyword, value := range jsonscan.Members(text) {
		var err error
		switch string(keyword) {
		case headerKeyword:
			err = w.add(value, text, path, reachable)
		case "properties":
			for name, property := range jsonscan.Members(value) {
				if err == nil {
					err = w.schema(property, append(path[:len(path):len(path)], string(name)), reachable)
				}
			}
		case "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies":
			for name, schema := range jsonscan.Members(value) {
				if err == nil {
					err = w.schema(schema, append(path[:len(path):len(path)], string(name)), false)
				}
			}
		case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties",
			"unevaluatedProperties", "propertyNames", "contentSchema", "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
			err = w.apart(value, append(path[:len(path):len(path)], string(keyword)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apart looks at a schema, or an array of them, where no mark may stand.
func (w *headerWalk) apart(value []byte, path []string) error {
	for schema := range jsonscan.Elements(value) {
		if err := w.schema(schema, path, false); err != nil {
			return err
		}
	}
	return w.schema(value, path, false)
}

func (w *headerWalk) add(mark, schema []byte, path []string, reachable bool) error {
	p := HeaderParam{Name: jsonscan.Unquote(mark), Path: path, Type: primitive(jsonscan.Get(schema, "type"))}
	where := strings.Join(path, ".")
	switch {
	case !reachable || len(path) == 0:
		return fmt.Errorf("%s at %q: only properties that lead straight from the root can be headers", headerKeyword, where)
	case !isToken(p.Name):
		return fmt.Errorf("%s at %q: %s is not the name of a header", headerKeyword, where, mark)
	case p.Type == "":
		return fmt.Errorf("%s at %q: the type must be string, integer or boolean", headerKeyword, where)
	}
	for _, other := range w.found {
		if strings.EqualFold(other.Name, p.Name) {
			return fmt.Errorf("%s at %q: the header %s is used twice", headerKeyword, where, p.Name)
		}
	}
	w.found = append(w.found, p)
	return nil
}

// primitive returns the one type of a schema that a header can carry, empty if
// there is none. Besides it the schema may allow null, which is no header.
func primitive(raw []byte) string {
	found := ""
	switch jsonscan.KindOf(raw) {
	case jsonscan.String:
		found = jsonscan.Unquote(raw)
	case jsonscan.Array:
		for element := range jsonscan.Elements(raw) {
			switch t := jsonscan.Unquote(element); {
			case t == "null":
			case found != "":
				return ""
			default:
				found = t
			}
		}
	}
	switch found {
	case "string", "integer", "boolean":
		return found
	}
	return ""
}

// isToken reports whether s can be (part of) the name of an HTTP header.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
