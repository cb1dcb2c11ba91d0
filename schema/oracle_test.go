package schema_test

import (
	stdjson "encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
)

// oracle is another's validator. It serves as a second opinion where it can be
// trusted: its numbers are floating-point, and it takes hostile schemas and
// values without a limit.
type oracle struct {
	resolved *jsonschema.Resolved
}

func newOracle(text []byte) (*oracle, error) {
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{BaseURI: "http://example.com/schema"})
	if err != nil {
		return nil, err
	}
	return &oracle{resolved}, nil
}

var errNoNumber = errors.New("a number that the oracle cannot hold")

// validate returns the oracle's verdict, nil for valid.
func (o *oracle) validate(value string) error {
	var v any
	if err := stdjson.Unmarshal([]byte(value), &v); err != nil {
		return errNoNumber
	}
	return o.resolved.Validate(v)
}
