package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/plain"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// What every server says at its start is written by hand: package json is not slow
// at it, but takes longer than all the rest to make ready.

// AppendJSON appends the object as package json writes it.
func (i *Implementation) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{')}
	o.implementation(i)
	return o.close(dst, i)
}

// AppendJSON appends the page as package json writes it, but for white space in
// schemas, which stays.
func (r *ListToolsResult) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{'), odd: r.Meta != nil}
	o.outset(r.ResultType, r.TTLMs, r.CacheScope)
	o.name("tools")
	o.dst = append(o.dst, '[')
	for i := range r.Tools {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.tool(&r.Tools[i])
	}
	o.dst = append(o.dst, ']')
	if r.NextCursor != nil {
		o.text("nextCursor", *r.NextCursor)
	}
	return o.close(dst, r)
}

// object is an object that is written member by member.
type object struct {
	dst []byte
	odd bool // package json must write it: it has more than the usual, or is wrong
}

func (o *object) name(name string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(append(append(o.dst, '"'), name...), '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.string(value)
}

func (o *object) string(value string) {
	var valid bool
	o.dst, valid = jsonscan.AppendValid(o.dst, value)
	o.odd = o.odd || !valid
}

// begin starts an object that is a member, and end ends it.
func (o *object) begin(name string) {
	o.name(name)
	o.dst = append(o.dst, '{')
}

func (o *object) end() { o.dst = append(o.dst, '}') }

// raw writes a member that is raw JSON. Line breaks in it are for package json to
// take out.
func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.dst = append(o.dst, value...)
	o.odd = o.odd || bytes.IndexByte(value, '\n') >= 0 || jsonscan.Check(value, jsonrpc.MaxDepth-4) != nil
}

// outset writes the members with which a result begins that may be kept.
func (o *object) outset(resultType string, ttlMs *int64, cacheScope string) {
	if resultType != "" {
		o.text("resultType", resultType)
	}
	if ttlMs != nil {
		o.name("ttlMs")
		o.dst = strconv.AppendInt(o.dst, *ttlMs, 10)
	}
	if cacheScope != "" {
		o.text("cacheScope", cacheScope)
	}
}

func (o *object) implementation(i *Implementation) {
	o.text("name", i.Name)
	if i.Title != "" {
		o.text("title", i.Title)
	}
	o.text("version", i.Version)
	if i.Description != "" {
		o.text("description", i.Description)
	}
	if i.WebsiteURL != "" {
		o.text("websiteUrl", i.WebsiteURL)
	}
	o.odd = o.odd || i.Icons != nil
}

func (o *object) number(name string, value float64) {
	o.name(name)
	var valid bool
	o.dst, valid = plain.AppendFloat(o.dst, value)
	o.odd = o.odd || !valid
}

func (o *object) tool(t *Tool) {
	o.dst = append(o.dst, '{')
	o.text("name", t.Name)
	if t.Title != "" {
		o.text("title", t.Title)
	}
	if t.Description != "" {
		o.text("description", t.Description)
	}
	if t.InputSchema != nil {
		o.raw("inputSchema", t.InputSchema)
	} else {
		o.raw("inputSchema", []byte(`{"type":"object"}`))
	}
	if t.OutputSchema != nil {
		o.raw("outputSchema", t.OutputSchema)
	}
	if t.Annotations != nil {
		o.annotations(t.Annotations)
	}
	o.odd = o.odd || t.Icons != nil || t.Execution != nil || t.Meta != nil
	o.dst = append(o.dst, '}')
}

func (o *object) annotations(a *ToolAnnotations) {
	o.begin("annotations")
	if a.Title != "" {
		o.text("title", a.Title)
	}
	for _, hint := range [...]struct {
		name string
		is   *bool
	}{
		{"readOnlyHint", a.ReadOnlyHint}, {"destructiveHint", a.DestructiveHint},
		{"idempotentHint", a.IdempotentHint}, {"openWorldHint", a.OpenWorldHint},
	} {
		if hint.is != nil {
			o.name(hint.name)
			o.dst = strconv.AppendBool(o.dst, *hint.is)
		}
	}
	o.end()
}

// close ends the object that began behind dst, or lets package json write v there.
func (o *object) close(dst []byte, v any) ([]byte, error) {
	if !o.odd {
		return append(o.dst, '}'), nil
	}
	buf := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(buf, v); err != nil {
		return dst, err
	}
	return buf.Bytes(), nil
}
