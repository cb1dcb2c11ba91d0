package lifecycle

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// shape gives a result the members that every result of the stateless era has.
func (d *Stateless) shape(ctx context.Context, in *Incoming, result any) (any, error) {
	self, hints := d.identity(ctx), needsHints(in.Method)
	memo, ok := result.(*mcp.Memo)
	if !ok {
		done := &in.notes.done
		*done = completed{d.withVersions(result), self, hints}
		return done, nil
	}
	text, err := memo.Text(d.rev.Name, func(result any) ([]byte, error) {
		return completed{d.withVersions(result), self, hints}.AppendJSON(nil)
	})
	return jsontext.Value(text), err
}

// withVersions names the revisions that this door serves in the answer to
// server/discover, since handlers know none.
func (d *Stateless) withVersions(result any) any {
	found, ok := result.(*mcp.DiscoverResult)
	if !ok || found.SupportedVersions != nil {
		return result
	}
	c := *found
	c.SupportedVersions = revision.Names(d.opts.Revisions.Stateless)
	return &c
}

// identity asks the handler who it is, until it has said so once.
func (d *Stateless) identity(ctx context.Context) *identity {
	if self := d.self.Load(); self != nil {
		return self
	}
	self := &identity{opening: []byte(`{"resultType":"` + mcp.ResultComplete + `"`)}
	if info := serverInfo(ctx, d.handler); info != nil {
		self.opening = append(self.opening, `,"_meta":{"`+mcp.MetaServerInfo+`":`...)
		self.opening = append(append(self.opening, info...), '}')
		self.name = jsonscan.Unquote(jsonscan.Get(info, "name"))
		d.self.Store(self)
	}
	return self
}

// serverInfo asks a handler for its name, as raw JSON; nil if it does not say.
func serverInfo(ctx context.Context, h mcp.Handler) jsontext.Value {
	found, err := discover(ctx, h, &mcp.Client{})
	if err != nil {
		return nil
	}
	return jsonscan.Get(found.Meta, mcp.MetaServerInfo)
}

// discover asks a handler what it is.
func discover(ctx context.Context, h mcp.Handler, client *mcp.Client) (*mcp.DiscoverResult, error) {
	result, err := h.Handle(ctx, &mcp.Call{Method: mcp.MethodDiscover, Client: client})
	if err != nil {
		return nil, err
	}
	if memo, ok := result.(*mcp.Memo); ok {
		result = memo.Result
	}
	if found, ok := result.(*mcp.DiscoverResult); ok {
		return found, nil
	}
	text, err := jsonrpc.AppendValue(nil, result)
	if err != nil {
		return nil, err
	}
	found := new(mcp.DiscoverResult)
	return found, json.Unmarshal(text, found)
}

// completed writes a result with the opening in front. What the result has
// itself wins.
type completed struct {
	result any
	self   *identity
	hints  bool // it must say how long it may be kept
}

// AppendJSON writes the result in place behind the opening, which is undone only
// for the rare result that brings such members itself.
func (c completed) AppendJSON(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = append(dst, c.self.opening...)
	at := len(dst)
	dst, err := jsonrpc.AppendValue(dst, c.result)
	if err != nil {
		return dst[:from], err
	}
	text := dst[at:]
	if trimmed := jsonscan.Trim(text); len(trimmed) < len(text) { // as raw JSON may come
		dst = append(dst[:at], trimmed...)
		text = dst[at:]
	}
	if jsonscan.KindOf(text) != jsonscan.Object { // a custom method's own business
		return append(dst[:from], text...), nil
	}
	has := c.members(text)
	if has.resultType != nil || has.meta != nil {
		return c.appendMerged(dst[:from], append([]byte(nil), text...), has), nil
	}
	if has.first {
		text[0] = ','
	} else {
		dst = append(dst[:at], '}')
	}
	if c.hints && !has.ttl {
		dst = append(dst[:len(dst)-1], noCache+"}"...)
	}
	return dst, nil
}

// noCache are the hints of a result whose handler gave none.
const noCache = `,"ttlMs":0,"cacheScope":"private"`

// resultMembers are the members of an encoded result that the opening may clash
// with.
type resultMembers struct {
	resultType, meta []byte
	ttl, first       bool // first: it has any member at all
}

// members finds them in the text of the result, unless its type tells.
func (c completed) members(text []byte) resultMembers {
	if r, ok := c.result.(*mcp.CallToolResult); ok && r.ResultType == "" && r.Meta == nil {
		return resultMembers{first: true}
	}
	return membersOf(text)
}

func membersOf(text []byte) (has resultMembers) {
	for name, value := range jsonscan.Members(text) {
		has.first = true
		switch string(name) {
		case "resultType":
			has.resultType = value
		case "_meta":
			has.meta = value
		case "ttlMs":
			has.ttl = true
		}
	}
	return has
}

// appendMerged writes a result that brings a result type or a _meta of its own.
func (c completed) appendMerged(dst, text []byte, has resultMembers) []byte {
	const complete = `"` + mcp.ResultComplete + `"`
	if has.resultType == nil {
		has.resultType = []byte(complete)
	}
	dst = append(append(dst, `{"resultType":`...), has.resultType...)
	ours := jsonscan.Get(append(append([]byte(nil), c.self.opening...), '}'), "_meta")
	if ours != nil || has.meta != nil {
		dst = append(dst, `,"_meta":`...)
		dst = appendObjects(dst, has.meta, ours)
	}
	for name, value := range jsonscan.Members(text) {
		if s := string(name); s != "resultType" && s != "_meta" {
			dst = jsonscan.AppendQuote(append(dst, ','), s)
			dst = append(append(dst, ':'), value...)
		}
	}
	if c.hints && !has.ttl && string(has.resultType) == complete {
		dst = append(dst, noCache...)
	}
	return append(dst, '}')
}

// appendObjects writes one object with the members of a, and those of b that a
// lacks.
func appendObjects(dst, a, b []byte) []byte {
	dst = append(dst, '{')
	from := len(dst)
	add := func(name, value []byte) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendQuote(dst, string(name))
		dst = append(append(dst, ':'), value...)
	}
	for name, value := range jsonscan.Members(a) {
		add(name, value)
	}
	for name, value := range jsonscan.Members(b) {
		if jsonscan.Get(a, string(name)) == nil {
			add(name, value)
		}
	}
	return append(dst, '}')
}

// needsHints reports whether the results of a method must say how long they may
// be kept.
func needsHints(method string) bool {
	switch method {
	case mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources,
		mcp.MethodListResourceTemplates, mcp.MethodReadResource:
		return true
	}
	return false
}
