package mcp

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Each content type is written as its fields behind the member "type". The
// wire structs below do that by embedding a twin of the type without methods.
type (
	textFields       TextContent
	imageFields      ImageContent
	audioFields      AudioContent
	embeddedFields   EmbeddedResource
	toolUseFields    ToolUseContent
	toolResultFields ToolResultContent

	textWire struct { // for reading only
		Type string `json:"type"`
		*textFields
	}
	imageWire struct {
		Type string `json:"type"`
		*imageFields
	}
	audioWire struct {
		Type string `json:"type"`
		*audioFields
	}
	linkWire struct {
		Type string `json:"type"`
		*Resource
	}
	embeddedWire struct {
		Type string `json:"type"`
		*embeddedFields
	}
	toolUseWire struct {
		Type string `json:"type"`
		*toolUseFields
	}
	toolResultWire struct {
		Type      string        `json:"type"`
		ToolUseID string        `json:"toolUseId"` // this and the next shadow the twin's
		Content   innerContents `json:"content"`
		*toolResultFields
	}
)

// MarshalJSONTo writes the block by hand, since nearly every answer has one: it
// allocates nothing.
func (c *TextContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := writer{enc: enc}
	w.token(jsontext.BeginObject)
	w.member("type", c.contentType())
	w.member("text", c.Text)
	if c.Annotations != nil {
		w.token(jsontext.String("annotations"))
		w.value(c.Annotations)
	}
	if c.Meta != nil {
		w.token(jsontext.String("_meta"))
		w.value(&c.Meta)
	}
	w.token(jsontext.EndObject)
	return w.err
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *TextContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := textWire{textFields: (*textFields)(c)}
	return readTyped(dec, &w, &w.Type, typeText)
}

// MarshalJSONTo writes the block with its type first.
func (c *ImageContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &imageWire{c.contentType(), (*imageFields)(c)})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *ImageContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := imageWire{imageFields: (*imageFields)(c)}
	return readTyped(dec, &w, &w.Type, typeImage)
}

// MarshalJSONTo writes the block with its type first.
func (c *AudioContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &audioWire{c.contentType(), (*audioFields)(c)})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *AudioContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := audioWire{audioFields: (*audioFields)(c)}
	return readTyped(dec, &w, &w.Type, typeAudio)
}

// MarshalJSONTo writes the block with its type first.
func (c *ResourceLink) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &linkWire{c.contentType(), &c.Resource})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *ResourceLink) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := linkWire{Resource: &c.Resource}
	return readTyped(dec, &w, &w.Type, typeResourceLink)
}

// MarshalJSONTo writes the block with its type first.
func (c *EmbeddedResource) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &embeddedWire{c.contentType(), (*embeddedFields)(c)})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *EmbeddedResource) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := embeddedWire{embeddedFields: (*embeddedFields)(c)}
	return readTyped(dec, &w, &w.Type, typeResource)
}

// MarshalJSONTo writes the block with its type first.
func (c *ToolUseContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	fields := toolUseFields(*c)
	if fields.Input == nil {
		fields.Input = jsontext.Value("{}")
	}
	return json.MarshalEncode(enc, &toolUseWire{c.contentType(), &fields})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *ToolUseContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := toolUseWire{toolUseFields: (*toolUseFields)(c)}
	return readTyped(dec, &w, &w.Type, typeToolUse)
}

// MarshalJSONTo writes the block with its type first.
func (c *ToolResultContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &toolResultWire{c.contentType(), c.ToolUseID, innerContents(c.Content), (*toolResultFields)(c)})
}

// UnmarshalJSONFrom reads a block of this type and no other.
func (c *ToolResultContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	w := toolResultWire{toolResultFields: (*toolResultFields)(c)}
	if err := readTyped(dec, &w, &w.Type, typeToolResult); err != nil {
		return err
	}
	c.ToolUseID, c.Content = w.ToolUseID, Contents(w.Content)
	return nil
}

// MarshalJSONTo writes Raw, or an object with only a type when there is none.
func (c *UnknownContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	if c.Raw != nil {
		return enc.WriteValue(c.Raw)
	}
	w := writer{enc: enc}
	w.token(jsontext.BeginObject)
	w.member("type", c.contentType())
	w.token(jsontext.EndObject)
	return w.err
}

// readTyped reads an object into the wire struct and checks the type it found
// there.
func readTyped(dec *jsontext.Decoder, wire any, got *string, want string) error {
	if err := json.UnmarshalDecode(dec, wire); err != nil {
		return err
	}
	if *got != want {
		return fmt.Errorf("content has type %q, want %q", *got, want)
	}
	return nil
}

// writer writes tokens until one fails, and keeps that error.
type writer struct {
	enc *jsontext.Encoder
	err error
}

func (w *writer) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

// member writes a name and a string.
func (w *writer) member(name, value string) {
	w.token(jsontext.String(name))
	w.token(jsontext.String(value))
}

// value writes what p points at.
func (w *writer) value(p any) {
	if w.err == nil {
		w.err = json.MarshalEncode(w.enc, p)
	}
}
