package mcptest

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// object is a JSON object in the making: raw values under names, in order.
type object struct{ members []member }

type member struct {
	name  string
	value jsontext.Value
}

func (o *object) set(name string, value jsontext.Value) {
	o.members = append(o.members, member{name, value})
}

// marshal sets a value that can be written as JSON for certain.
func (o *object) marshal(name string, v any) {
	value, err := json.Marshal(v)
	if err != nil {
		panic("mcptest: write " + name + ": " + err.Error())
	}
	o.set(name, value)
}

func (o *object) get(name string) jsontext.Value {
	for _, m := range o.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// JSON returns the object as text.
func (o *object) JSON() jsontext.Value {
	text := jsontext.Value{'{'}
	for i, m := range o.members {
		if i > 0 {
			text = append(text, ',')
		}
		text = jsonscan.AppendQuote(text, m.name)
		text = append(append(text, ':'), m.value...)
	}
	return append(text, '}')
}
