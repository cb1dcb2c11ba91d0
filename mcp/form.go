package mcp

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FormSchema is the part of JSON Schema that a form may use: a flat object of
// simple fields. It reads and writes ElicitParams.RequestedSchema.
type FormSchema struct {
	Dialect    string     `json:"$schema,omitzero"`
	Type       string     `json:"type"` // always "object"
	Properties FormFields `json:"properties"`
	Required   []string   `json:"required,omitzero"` // names of fields
}

// FormField is a field of a form and its name.
type FormField struct {
	Name   string
	Schema FieldSchema
}

// FormFields is an object on the wire, and a list here to keep the order of the
// fields.
type FormFields []FormField

// MarshalJSONTo writes an object.
func (fs FormFields) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := writer{enc: enc}
	w.token(jsontext.BeginObject)
	for i := range fs {
		w.token(jsontext.String(fs[i].Name))
		w.value(&fs[i].Schema)
	}
	w.token(jsontext.EndObject)
	return w.err
}

// UnmarshalJSONFrom reads an object. Null makes the list nil.
func (fs *FormFields) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch kind := tok.Kind(); kind {
	case 'n':
		*fs = nil
		return nil
	case '{':
	default:
		return fmt.Errorf("properties is %s, want an object", kind)
	}
	list := FormFields{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		field := FormField{Name: name.String()}
		if err := json.UnmarshalDecode(dec, &field.Schema); err != nil {
			return err
		}
		list = append(list, field)
	}
	*fs = list
	_, err = dec.ReadToken()
	return err
}

// FieldSchema describes a field of a form. Type decides which members count:
//
//   - "string": MinLength, MaxLength and Format; or a choice of one, by Enum or,
//     with titles, OneOf;
//   - "number", "integer": Minimum and Maximum;
//   - "boolean": none;
//   - "array": MinItems, MaxItems and Items, a choice of many.
type FieldSchema struct {
	Type        string         `json:"type"`
	Title       string         `json:"title,omitzero"`
	Description string         `json:"description,omitzero"`
	MinLength   *int64         `json:"minLength,omitzero"`
	MaxLength   *int64         `json:"maxLength,omitzero"`
	Format      string         `json:"format,omitzero"` // "email", "uri", "date" or "date-time"
	Minimum     *float64       `json:"minimum,omitzero"`
	Maximum     *float64       `json:"maximum,omitzero"`
	Enum        []string       `json:"enum,omitzero"`
	EnumNames   []string       `json:"enumNames,omitzero"` // titles for Enum: older revisions only
	OneOf       []FormOption   `json:"oneOf,omitzero"`
	MinItems    *int64         `json:"minItems,omitzero"`
	MaxItems    *int64         `json:"maxItems,omitzero"`
	Items       *FormItems     `json:"items,omitzero"`
	Default     jsontext.Value `json:"default,omitzero"` // a value of the field's type
}

// FormOption is one option of a choice.
type FormOption struct {
	Const string `json:"const"` // the value
	Title string `json:"title"` // what to show
}

// FormItems are the options of a choice of many: Type "string" and Enum, or
// AnyOf when they have titles.
type FormItems struct {
	Type  string       `json:"type,omitzero"`
	Enum  []string     `json:"enum,omitzero"`
	AnyOf []FormOption `json:"anyOf,omitzero"`
}
