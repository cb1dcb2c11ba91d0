package mcp

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Contents is a list of blocks. It is always written as an array, nil as an
// empty one.
type Contents []Content

// MarshalJSONTo writes an array. A nil block is an error.
func (cs Contents) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, c := range cs {
		if err := writeContent(enc, c); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndArray)
}

// UnmarshalJSONFrom reads an array. A block of an unknown type is kept as
// *UnknownContent; null in place of the array makes the list nil.
func (cs *Contents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readContents(dec, cs, readContent)
}

// innerContents is Contents inside a tool result: it reads tool uses and tool
// results as unknown. The schema has no place for them there, and without
// nesting the work to read a message stays in proportion to its length.
type innerContents Contents

func (cs innerContents) MarshalJSONTo(enc *jsontext.Encoder) error {
	return Contents(cs).MarshalJSONTo(enc)
}

func (cs *innerContents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readContents(dec, (*Contents)(cs), readInnerContent)
}

// messageContents is Contents inside a sampling message: one block is written
// as an object, all that older revisions understand, other numbers as an array.
// Both are read.
type messageContents Contents

func (cs messageContents) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(cs) == 1 {
		return writeContent(enc, cs[0])
	}
	return Contents(cs).MarshalJSONTo(enc)
}

func (cs *messageContents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return readContents(dec, (*Contents)(cs), readContent)
	}
	c, err := readContent(dec)
	if err != nil {
		return err
	}
	*cs = messageContents{c}
	return nil
}

// oneContent is the single block of a prompt message.
type oneContent struct{ block Content }

func (c oneContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeContent(enc, c.block)
}

func (c *oneContent) UnmarshalJSONFrom(dec *jsontext.Decoder) (err error) {
	c.block, err = readContent(dec)
	return err
}

func writeContent(enc *jsontext.Encoder, c Content) error {
	if c == nil {
		return errors.New("content is nil")
	}
	return c.MarshalJSONTo(enc)
}

// readContents replaces the list by the blocks of an array.
func readContents(dec *jsontext.Decoder, cs *Contents, read func(*jsontext.Decoder) (Content, error)) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch kind := tok.Kind(); kind {
	case 'n':
		*cs = nil
		return nil
	case '[':
	default:
		return fmt.Errorf("content is %s, want an array", kind)
	}
	list := Contents{}
	for dec.PeekKind() != ']' {
		c, err := read(dec)
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	*cs = list
	_, err = dec.ReadToken()
	return err
}

// readContent reads one block of any type.
func readContent(dec *jsontext.Decoder) (Content, error) {
	return readBlock(dec, newContent)
}

// readInnerContent reads one block of a tool result.
func readInnerContent(dec *jsontext.Decoder) (Content, error) {
	return readBlock(dec, newInnerContent)
}

// readBlock finds the type of the next object and reads it into the value that
// blank has for that type, or keeps it raw when blank has none.
func readBlock(dec *jsontext.Decoder, blank func(typ string) Content) (Content, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if kind := raw.Kind(); kind != '{' {
		return nil, fmt.Errorf("content is %s, want an object", kind)
	}
	var typ string
	if v := jsonscan.Get(raw, "type"); v != nil {
		if jsontext.Value(v).Kind() != '"' {
			return nil, fmt.Errorf("content has type %s, want a string", v)
		}
		unquoted, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return nil, err
		}
		typ = string(unquoted)
	}
	c := blank(typ)
	if c == nil {
		return &UnknownContent{Type: typ, Raw: raw.Clone()}, nil
	}
	if err := json.Unmarshal(raw, c, dec.Options()); err != nil {
		return nil, err
	}
	return c, nil
}

// newContent returns an empty value of the content type named typ, nil when
// there is no such type.
func newContent(typ string) Content {
	switch typ {
	case typeToolUse:
		return new(ToolUseContent)
	case typeToolResult:
		return new(ToolResultContent)
	}
	return newInnerContent(typ)
}

// newInnerContent is newContent without the types of sampling messages.
func newInnerContent(typ string) Content {
	switch typ {
	case typeText:
		return new(TextContent)
	case typeImage:
		return new(ImageContent)
	case typeAudio:
		return new(AudioContent)
	case typeResourceLink:
		return new(ResourceLink)
	case typeResource:
		return new(EmbeddedResource)
	}
	return nil
}
