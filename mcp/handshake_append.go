package mcp

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
	o.outset(r.ResultType, r.TTLMs, r.CacheScope)
	o.strings("supportedVersions", r.SupportedVersions)
	o.capabilities(&r.Capabilities)
	if r.Instructions != "" {
		o.text("instructions", r.Instructions)
	}
	return o.close(dst, r)
}

// AppendJSON appends the params as package json writes them, but for white space in
// Meta, which stays.
func (p *SubscriptionsListenParams) AppendJSON(dst []byte) ([]byte, error) {
	o := object{dst: append(dst, '{')}
	if p.Meta != nil {
		o.raw("_meta", p.Meta)
	}
	wanted := &p.Notifications
	o.begin("notifications")
	o.flags(
		flag{"toolsListChanged", wanted.ToolsListChanged},
		flag{"promptsListChanged", wanted.PromptsListChanged},
		flag{"resourcesListChanged", wanted.ResourcesListChanged},
	)
	if wanted.ResourceSubscriptions != nil {
		o.strings("resourceSubscriptions", wanted.ResourceSubscriptions)
	}
	if wanted.TaskIDs != nil {
		o.strings("taskIds", wanted.TaskIDs)
	}
	o.end()
	return o.close(dst, p)
}

// capabilities writes those of a server.
func (o *object) capabilities(c *ServerCapabilities) {
	o.odd = o.odd || c.Experimental != nil || c.Extensions != nil
	o.begin("capabilities")
	if c.Logging != nil {
		o.capability("logging")
	}
	if c.Completions != nil {
		o.capability("completions")
	}
	if c.Prompts != nil {
		o.capability("prompts", flag{"listChanged", c.Prompts.ListChanged})
	}
	if c.Resources != nil {
		o.capability("resources", flag{"subscribe", c.Resources.Subscribe}, flag{"listChanged", c.Resources.ListChanged})
	}
	if c.Tools != nil {
		o.capability("tools", flag{"listChanged", c.Tools.ListChanged})
	}
	o.end()
}

func (o *object) capability(name string, parts ...flag) {
	o.begin(name)
	o.flags(parts...)
	o.end()
}

// flag is a member that is written if it is set.
type flag struct {
	name string
	set  bool
}

func (o *object) flags(flags ...flag) {
	for _, f := range flags {
		if f.set {
			o.name(f.name)
			o.dst = append(o.dst, "true"...)
		}
	}
}

func (o *object) strings(name string, list []string) {
	o.name(name)
	o.dst = append(o.dst, '[')
	for i, text := range list {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.string(text)
	}
	o.dst = append(o.dst, ']')
}
