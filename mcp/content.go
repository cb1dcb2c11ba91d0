package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Role says whose turn a message is.
type Role string

// The two roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Annotations tell a client how an object is meant to be used or shown. They
// are hints of the server, never proof.
type Annotations struct {
	// Audience names who should see the object; empty means anybody.
	Audience []Role `json:"audience,omitzero"`
	// Priority runs from 0, entirely optional, to 1, effectively required.
	Priority *float64 `json:"priority,omitzero"`
	// LastModified is a time in the ISO 8601 form, kept as it was written.
	LastModified string `json:"lastModified,omitzero"`
}

// Content is one block of a message or of a tool's answer. It is always one of
// *TextContent, *ImageContent, *AudioContent, *ResourceLink, *EmbeddedResource,
// *ToolUseContent, *ToolResultContent or *UnknownContent; a tool use or tool
// result stands in sampling messages only. Other packages cannot add types.
type Content interface {
	json.MarshalerTo
	contentType() string // the value of the member "type"
}

// Wire names of the content types, the values of the member "type".
const (
	typeText         = "text"
	typeImage        = "image"
	typeAudio        = "audio"
	typeResourceLink = "resource_link"
	typeResource     = "resource"
	typeToolUse      = "tool_use"
	typeToolResult   = "tool_result"
)

// TextContent is text for a model or a person.
type TextContent struct {
	Text        string       `json:"text"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ImageContent is an image. Data is the image itself: the base64 of the wire is
// made and undone on the way.
type ImageContent struct {
	Data        []byte       `json:"data"`
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// AudioContent is sound. Data is the sound itself: the base64 of the wire is
// made and undone on the way. The oldest revision does not know it.
type AudioContent struct {
	Data        []byte       `json:"data"`
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ResourceLink points at a resource that the client may read. The resource need
// not be in any list.
type ResourceLink struct {
	Resource
}

// EmbeddedResource carries a resource's contents inside a message.
type EmbeddedResource struct {
	Resource    ResourceContents `json:"resource"`
	Annotations *Annotations     `json:"annotations,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
}

// ToolUseContent is a model's wish to call a tool, in a sampling message.
type ToolUseContent struct {
	ID   string `json:"id"` // what the tool's result refers to
	Name string `json:"name"`
	// Input is the object of arguments; nil is written as an empty object.
	Input jsontext.Value `json:"input"`
	// Meta should come back unchanged when the block is sent again.
	Meta Meta `json:"_meta,omitzero"`
}

// ToolResultContent answers a ToolUseContent, in a sampling message.
type ToolResultContent struct {
	ToolUseID string `json:"toolUseId"`
	// Content holds what a tool may answer. A tool use or a tool result has no
	// place inside a tool result: one that is read there becomes UnknownContent.
	Content           Contents       `json:"content"`
	StructuredContent jsontext.Value `json:"structuredContent,omitzero"` // any JSON
	IsError           bool           `json:"isError,omitzero"`
	// Meta should come back unchanged when the block is sent again.
	Meta Meta `json:"_meta,omitzero"`
}

// UnknownContent keeps a block whose type this package does not know. It is
// written as it was read, but for white space and escapes.
type UnknownContent struct {
	Type string         // empty when the block has none
	Raw  jsontext.Value // the whole object
}

func (*TextContent) contentType() string       { return typeText }
func (*ImageContent) contentType() string      { return typeImage }
func (*AudioContent) contentType() string      { return typeAudio }
func (*ResourceLink) contentType() string      { return typeResourceLink }
func (*EmbeddedResource) contentType() string  { return typeResource }
func (*ToolUseContent) contentType() string    { return typeToolUse }
func (*ToolResultContent) contentType() string { return typeToolResult }
func (c *UnknownContent) contentType() string  { return c.Type }

// Text makes a block of text.
func Text(text string) *TextContent { return &TextContent{Text: text} }

// Image makes a block of an image. The block refers to data, it does not copy it.
func Image(data []byte, mimeType string) *ImageContent {
	return &ImageContent{Data: data, MIMEType: mimeType}
}

// Audio makes a block of sound. The block refers to data, it does not copy it.
func Audio(data []byte, mimeType string) *AudioContent {
	return &AudioContent{Data: data, MIMEType: mimeType}
}

// Link makes a block that points at r.
func Link(r Resource) *ResourceLink { return &ResourceLink{Resource: r} }

// Embed makes a block that carries contents.
func Embed(contents ResourceContents) *EmbeddedResource {
	return &EmbeddedResource{Resource: contents}
}
