package schema

import (
	"fmt"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Documents are schemas that others may refer to, by their absolute address
// without a fragment. A schema may also name one of them in $schema: it is then
// of the dialect that this metaschema describes, and has the keywords of the
// vocabularies that its $vocabulary lists.
//
// Each document is held to the limits of a schema when it is needed. Neither the
// map nor the texts may change while a schema uses them.
type Documents map[string][]byte

// Parse is [Parse] for a schema that may refer to the documents. All other
// references that leave the schema are refused as ever: nothing is fetched.
func (d Documents) Parse(text []byte) (*Schema, error) {
	s, err := Parse(text)
	if err == nil {
		s.documents = d
	}
	return s, err
}

// load returns a document, checked.
func (p *planner) load(uri string) ([]byte, error) {
	if text, ok := p.loaded[uri]; ok {
		return text, nil
	}
	text, ok := p.given.documents[uri]
	if !ok {
		return nil, errExternal
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("text of %d bytes is over the limit of %d", len(text), maxText)
	}
	if !p.spend(2 * len(text)) {
		return nil, p.err
	}
	if err := jsonscan.Check(text, maxDepth); err != nil {
		return nil, err
	}
	text = jsonscan.Trim(text)
	if objects, values := survey(text); objects > maxObjects || values > maxNodes {
		return nil, errTooLarge
	}
	if p.loaded == nil {
		p.loaded = make(map[string][]byte)
	}
	p.loaded[uri] = text
	return text, nil
}
