package schema

import (
	"bytes"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// A dynamic reference leads to any anchor of its name, depending on the way to
// it. The meter, which does not follow ways, counts them all; so they are all
// looked up when a schema is compiled. Few schemas have any.

const (
	maxAnchors     = 50
	recursive      = "\x00recursive" // the name under which 2019-09 has its one anchor
	metaschemas    = "https://json-schema.org/"
	metaschemaCost = 16 // checks that a dynamic reference of a metaschema stands for
)

// findAnchors compiles the schemas that dynamic references may lead to, by name.
func findAnchors(c *jsonschema.Compiler, text []byte) (map[string][]*jsonschema.Schema, error) {
	if !bytes.Contains(text, []byte("$dynamicAnchor")) && !bytes.Contains(text, []byte("$recursiveAnchor")) {
		return nil, nil
	}
	pointers := map[string]string{}
	anchorsIn(text, "", pointers)
	if len(pointers) > maxAnchors {
		return nil, errors.New("too many dynamic anchors")
	}
	found := map[string][]*jsonschema.Schema{}
	for pointer, name := range pointers {
		if s, err := c.Compile(base + "#" + pointer); err == nil {
			found[name] = append(found[name], s)
		}
	}
	return found, nil
}

// anchorsIn records the pointers of the objects that have an anchor.
func anchorsIn(text []byte, at string, pointers map[string]string) {
	if len(pointers) > maxAnchors {
		return
	}
	for name, value := range jsonscan.Members(text) {
		switch string(name) {
		case "$dynamicAnchor":
			pointers[at] = jsonscan.Unquote(value)
		case "$recursiveAnchor":
			pointers[at] = recursive
		}
		step := strings.NewReplacer("~", "~0", "/", "~1").Replace(string(name))
		anchorsIn(value, at+"/"+url.PathEscape(step), pointers)
	}
	i := 0
	for value := range jsonscan.Elements(text) {
		anchorsIn(value, at+"/"+strconv.Itoa(i), pointers)
		i++
	}
}

// dynamic counts the checks of all schemas that a dynamic reference may mean.
func (m *meter) dynamic(target *jsonschema.Schema, name string, v any) bool {
	if strings.HasPrefix(target.Location, metaschemas) {
		m.left -= metaschemaCost
	}
	listed := false
	for _, s := range m.anchors[name] {
		listed = listed || s == target
		if !m.value(s, v) {
			return false
		}
	}
	return listed || m.value(target, v)
}
