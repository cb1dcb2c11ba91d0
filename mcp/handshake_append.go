package mcp

import "strconv"

// AppendJSON appends the result as package json writes it.
func (r *InitializeResult) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{'), odd: r.Meta != nil}
	o.text("protocolVersion", r.ProtocolVersion)
	o.capabilities(&r.Capabilities)
	o.begin("serverInfo")
	o.implementation(&r.ServerInfo)
	o.end()
	if r.Instructions != "" {
		o.text("instructions", r.Instructions)
	}
	return o.close(dst, r)
}

// AppendJSON appends the result as package json writes it, but for white space in
// Meta, which stays.
func (r *DiscoverResult) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{')}
	if r.Meta != nil {
		o.raw("_meta", r.Meta)
	}
	if r.ResultType != "" {
		o.text("resultType", r.ResultType)
	}
	if r.TTLMs != nil {
		o.name("ttlMs")
		o.dst = strconv.AppendInt(o.dst, *r.TTLMs, 10)
	}
	if r.CacheScope != "" {
		o.text("cacheScope", r.CacheScope)
	}
	o.name("supportedVersions")
	o.dst = append(o.dst, '[')
	for i, version := range r.SupportedVersions {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.string(version)
	}
	o.dst = append(o.dst, ']')
	o.capabilities(&r.Capabilities)
	if r.Instructions != "" {
		o.text("instructions", r.Instructions)
	}
	return o.close(dst, r)
}

// capabilities writes those of a server.
func (o *object) capabilities(c *ServerCapabilities) {
	o.odd = o.odd || c.Experimental != nil || c.Extensions != nil
	o.begin("capabilities")
	if c.Logging != nil {
		o.promise("logging")
	}
	if c.Completions != nil {
		o.promise("completions")
	}
	if c.Prompts != nil {
		o.promise("prompts", promised{"listChanged", c.Prompts.ListChanged})
	}
	if c.Resources != nil {
		o.promise("resources", promised{"subscribe", c.Resources.Subscribe}, promised{"listChanged", c.Resources.ListChanged})
	}
	if c.Tools != nil {
		o.promise("tools", promised{"listChanged", c.Tools.ListChanged})
	}
	o.end()
}

// promised is a part of a capability, which is written if it is so.
type promised struct {
	name string
	so   bool
}

func (o *object) promise(name string, parts ...promised) {
	o.begin(name)
	for _, p := range parts {
		if p.so {
			o.name(p.name)
			o.dst = append(o.dst, "true"...)
		}
	}
	o.end()
}
