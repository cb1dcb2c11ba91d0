package schema_test

import (
	"errors"
	"fmt"

	"github.com/bossman-mcp/bossman/schema"
)

func ExampleFor() {
	type Issue struct {
		Title string `json:"title" doc:"One line" maxLen:"80"`
		State string `json:"state" doc:"Where it stands" enum:"open,closed" default:"open"`
	}
	s, err := schema.For[Issue]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	// Output:
	// {"type":"object","properties":{"title":{"type":"string","description":"One line","maxLength":80},"state":{"type":"string","description":"Where it stands","enum":["open","closed"],"default":"open"}},"required":["title"],"additionalProperties":false}
}

func ExampleSchema_Validate() {
	type Issue struct {
		Title string   `json:"title"`
		State string   `json:"state,omitempty" enum:"open,closed"`
		Tags  []string `json:"tags,omitempty"`
	}
	s, err := schema.For[Issue]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate([]byte(`{"title":"Fix the parser"}`)))

	err = s.Validate([]byte(`{"titel":"Fix the parser","state":"opne","tags":["a",7]}`))
	var invalid *schema.Invalid
	if errors.As(err, &invalid) {
		for _, problem := range invalid.Problems {
			fmt.Println(problem)
		}
	}
	// Output:
	// <nil>
	// unknown argument "titel"; did you mean "title"? allowed: title, state, tags
	// state: got string "opne"; did you mean "open"? allowed: "open", "closed"
	// tags[1]: must be a string, got number 7
	// missing required argument "title"
}

func ExampleSchema_Defaults() {
	s := schema.MustParse(`{"properties":{"query":{"type":"string"},"limit":{"type":"integer","default":20}}}`)
	value, err := s.Defaults([]byte(`{"query":"lease"}`))
	fmt.Println(string(value), err)
	// Output:
	// {"query":"lease","limit":20} <nil>
}

func ExampleParse() {
	s, err := schema.Parse([]byte(`{"$ref":"https://example.com/schema.json"}`))
	fmt.Println(err)
	fmt.Println(s.Compile())
	// Output:
	// <nil>
	// compile schema: reference to "https://example.com/schema.json": external references are not fetched
}

func ExampleDocuments() {
	known := schema.Documents{"https://example.com/port": []byte(`{"type":"integer","minimum":1,"maximum":65535}`)}
	s, err := known.Parse([]byte(`{"properties":{"port":{"$ref":"https://example.com/port"}}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Validate([]byte(`{"port":70000}`)))
	// Output: port: must be at most 65535, got 70000
}
