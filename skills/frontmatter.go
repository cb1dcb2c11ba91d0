package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// The bounds of frontmatter. YAML can say much with little, so that what it means
// is bounded too.
const (
	maxFrontmatter  = 64 << 10 // bytes of YAML
	maxRendered     = 4 * maxFrontmatter
	maxDepth        = 64
	frontmatterLine = "---"
)

var errNoFrontmatter = errors.New("it does not begin with frontmatter between two lines ---")

// Frontmatter returns the YAML frontmatter that begins a SKILL.md as a JSON object,
// with every field, in the order of the file. Scalars are read by the core schema of
// YAML 1.2, so that dates, yes and no are strings. What JSON cannot say is an error,
// and so are 64 KiB of YAML, and aliases that make more than four times that of it.
func Frontmatter(text []byte) (jsontext.Value, error) {
	block, err := frontmatterBlock(text)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(block))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = errNoFrontmatter
		}
		return nil, fmt.Errorf("read frontmatter: %w", err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("read frontmatter: it has a second document")
	}
	r := renderer{}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("read frontmatter: it must be a mapping of fields")
	}
	if err := r.node(doc.Content[0], 0); err != nil {
		return nil, fmt.Errorf("read frontmatter: %w", err)
	}
	return r.out, nil
}

// frontmatterBlock returns what stands between the two lines.
func frontmatterBlock(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	first, rest, found := bytes.Cut(text, []byte("\n"))
	if !found || !isFence(first) {
		return nil, errNoFrontmatter
	}
	at := 0
	for line := range bytes.Lines(rest) {
		if isFence(line) {
			return rest[:at], nil
		}
		if at += len(line); at > maxFrontmatter {
			return nil, fmt.Errorf("the frontmatter is longer than %d bytes", maxFrontmatter)
		}
	}
	return nil, errNoFrontmatter
}

func isFence(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\r\n")) == frontmatterLine
}

// renderer writes YAML as JSON.
type renderer struct{ out []byte }

// node writes one node. Each adds at least a byte, so that the bound on the output
// holds however often aliases repeat a node, and the depth ends those that hold
// themselves.
func (r *renderer) node(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: it is nested more than %d deep", n.Line, maxDepth)
	case len(r.out) > maxRendered:
		return fmt.Errorf("line %d: its aliases make it longer than %d bytes", n.Line, maxRendered)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.node(n.Alias, depth+1)
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.SequenceNode:
		return r.sequence(n, depth)
	case yaml.ScalarNode:
		return r.scalar(n)
	}
	return fmt.Errorf("line %d: it is no value", n.Line)
}

func (r *renderer) mapping(n *yaml.Node, depth int) error {
	if err := checkTag(n, "!!map"); err != nil {
		return err
	}
	seen := make(map[string]bool, len(n.Content)/2)
	r.out = append(r.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a field's name must be text", key.Line)
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: the field %q is there twice", key.Line, clip([]byte(key.Value)))
		}
		seen[key.Value] = true
		if i > 0 {
			r.out = append(r.out, ',')
		}
		r.out = append(jsonscan.AppendQuote(r.out, key.Value), ':')
		if err := r.node(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	r.out = append(r.out, '}')
	return nil
}

func (r *renderer) sequence(n *yaml.Node, depth int) error {
	if err := checkTag(n, "!!seq"); err != nil {
		return err
	}
	r.out = append(r.out, '[')
	for i, element := range n.Content {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if err := r.node(element, depth+1); err != nil {
			return err
		}
	}
	r.out = append(r.out, ']')
	return nil
}

// checkTag refuses a container that is marked as something else.
func checkTag(n *yaml.Node, own string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != own {
		return fmt.Errorf("line %d: the tag %s means nothing in JSON", n.Line, clip([]byte(n.Tag)))
	}
	return nil
}
