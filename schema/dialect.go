package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// dialect is a version of JSON Schema.
type dialect int

// The dialects, oldest first; the zero dialect stands for the newest.
const (
	draft4 dialect = iota + 1
	draft6
	draft7
	draft2019
	draft2020
)

func (d dialect) library() *jsonschema.Draft {
	switch d {
	case draft4:
		return jsonschema.Draft4
	case draft6:
		return jsonschema.Draft6
	case draft7:
		return jsonschema.Draft7
	case draft2019:
		return jsonschema.Draft2019
	}
	return jsonschema.Draft2020
}

// dialectOf reads $schema. An unknown one is an error, since guessing could
// make a schema permissive.
func dialectOf(text []byte, h hooks) (dialect, error) {
	raw := jsonscan.Get(text, "$schema")
	if raw == nil {
		return h.dialect, nil
	}
	if jsonscan.KindOf(raw) != jsonscan.String {
		return 0, fmt.Errorf("$schema: must be a string, got %s", describe(raw))
	}
	name := jsonscan.Unquote(raw)
	rest, secure := strings.CutPrefix(name, "https://")
	if !secure {
		rest, _ = strings.CutPrefix(name, "http://")
	}
	switch strings.TrimSuffix(rest, "#") {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020, nil
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, nil
	case "json-schema.org/draft-07/schema":
		return draft7, nil
	case "json-schema.org/draft-06/schema":
		return draft6, nil
	case "json-schema.org/draft-04/schema":
		return draft4, nil
	}
	if h.load != nil {
		return unknownDialect, nil
	}
	return 0, fmt.Errorf("dialect %s is not supported; supported: 2020-12, 2019-09, draft-07, draft-06, draft-04", shorten(string(raw), 200))
}

// unknownDialect is one that a test's loader will explain.
const unknownDialect dialect = -1
