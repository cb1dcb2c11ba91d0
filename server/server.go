package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// Options are what a [Server] can be told; nil means the zero value of each.
type Options struct {
	// Title, Description, WebsiteURL and Icons tell people what the server is.
	Title       string
	Description string
	WebsiteURL  string
	Icons       []mcp.Icon
	// Instructions help a model to use the server.
	Instructions string
	// FixedLists says that nothing is registered or removed while serving, so
	// that no list-changed events are announced.
	FixedLists bool
	// ListTTL is how long clients may keep lists without asking again. 0: they
	// should not.
	ListTTL time.Duration
	// PrivateLists says that lists differ from caller to caller, so that shared
	// caches must not keep them. Set it when middleware filters lists.
	PrivateLists bool
	// PageSize is the most entries of one page of a list. 0: 1,000.
	PageSize int
	// Logger hears of what callers must not. Nil: slog.Default().
	Logger *slog.Logger
}

// Server is a set of features as an [mcp.Handler]. Its methods may be called
// from many goroutines, also while it serves.
type Server struct {
	info []byte // our name, as the _meta of results carries it
	opts Options
	log  *slog.Logger

	tools       registry[*tool]
	resources   registry[*resource]
	templates   registry[*template]
	prompts     registry[*prompt]
	completions registry[Completer]
	events      hub

	mu         sync.Mutex
	custom     custom
	handler    atomic.Pointer[mcp.Handler] // dispatch, wrapped in the middleware
	methods    atomic.Pointer[methodTable] // a copy of the custom ones
	discovered atomic.Pointer[mcp.Memo]    // answer to server/discover
}

// custom is what a server has beyond the protocol's features.
type custom struct {
	middleware []mcp.Middleware
	methods    methodTable
	extensions map[string]jsontext.Value // settings by identifier
}

type methodTable map[string]mcp.HandlerFunc

// New returns a server without features. Name and version are how it introduces
// itself.
func New(name, version string, opts *Options) *Server {
	s := &Server{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.PageSize <= 0 {
		s.opts.PageSize = 1000
	}
	if s.log = s.opts.Logger; s.log == nil {
		s.log = slog.Default()
	}
	self := &mcp.Implementation{
		Name: name, Version: version, Title: s.opts.Title,
		Description: s.opts.Description, WebsiteURL: s.opts.WebsiteURL, Icons: s.opts.Icons,
	}
	info, err := self.AppendJSON([]byte(`{"` + mcp.MetaServerInfo + `":`))
	if err != nil {
		panic("server: New: " + err.Error())
	}
	s.info = append(info, '}')
	s.tools.kind, s.resources.kind, s.templates.kind, s.prompts.kind, s.completions.kind = 't', 'r', 'm', 'p', 'c'
	s.Use()
	return s
}

// Use wraps the server in middleware: the first given sees a Call first.
// Middleware of an earlier Use is outside of that of a later one.
func (s *Server) Use(middleware ...mcp.Middleware) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.custom.middleware = append(s.custom.middleware, middleware...)
	var h mcp.Handler = mcp.HandlerFunc(s.dispatch)
	for i := len(s.custom.middleware) - 1; i >= 0; i-- {
		h = s.custom.middleware[i](h)
	}
	s.handler.Store(&h)
}

// Method answers a method of its own, outside the protocol's. Clients of the
// handshake era may call it without a handshake.
func (s *Server) Method(name string, h mcp.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := methodTable{name: h}
	for known, handler := range s.custom.methods {
		if known == name {
			panic("server: method " + name + " is registered twice")
		}
		next[known] = handler
	}
	s.custom.methods = next
	s.methods.Store(&next)
}

// Extension announces a protocol extension with its settings, which must be a
// JSON object; nil stands for an empty one.
func (s *Server) Extension(id string, settings any) {
	if settings == nil {
		settings = struct{}{}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		panic("server: extension " + id + ": " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.custom.extensions == nil {
		s.custom.extensions = make(map[string]jsontext.Value)
	}
	s.custom.extensions[id] = text
	s.discovered.Store(nil)
}

// Handle answers a Call; it makes the server an [mcp.Handler].
func (s *Server) Handle(ctx context.Context, c *mcp.Call) (any, error) {
	return (*s.handler.Load()).Handle(ctx, c)
}

// dispatch finds who answers a method. Methods of features that the server does
// not have are not found.
func (s *Server) dispatch(ctx context.Context, c *mcp.Call) (any, error) {
	switch c.Method {
	case mcp.MethodCallTool:
		if s.tools.used() {
			return s.callTool(ctx, c)
		}
	case mcp.MethodListTools:
		if s.tools.used() {
			return s.listTools(c)
		}
	case mcp.MethodDiscover:
		return s.discover()
	case mcp.MethodSubscriptionsListen:
		return s.listen(c)
	case mcp.MethodListResources:
		if s.hasResources() {
			return s.listResources(c)
		}
	case mcp.MethodListResourceTemplates:
		if s.hasResources() {
			return s.listTemplates(c)
		}
	case mcp.MethodReadResource:
		if s.hasResources() {
			return s.readResource(ctx, c)
		}
	case mcp.MethodListPrompts:
		if s.prompts.used() {
			return s.listPrompts(c)
		}
	case mcp.MethodGetPrompt:
		if s.prompts.used() {
			return s.getPrompt(ctx, c)
		}
	case mcp.MethodComplete:
		if s.completions.used() {
			return s.complete(ctx, c)
		}
	default:
		if methods := s.methods.Load(); methods != nil {
			if h := (*methods)[c.Method]; h != nil {
				return h(ctx, c)
			}
		}
	}
	return nil, jsonrpc.MethodNotFound(c.Method)
}

func (s *Server) hasResources() bool { return s.resources.used() || s.templates.used() }

// discover says what the server is and has.
func (s *Server) discover() (any, error) {
	if memo := s.discovered.Load(); memo != nil {
		return memo, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := !s.opts.FixedLists
	result := &mcp.DiscoverResult{
		Meta: s.info, Instructions: s.opts.Instructions,
		Capabilities: mcp.ServerCapabilities{Logging: &mcp.Supported{}},
	}
	result.TTLMs, result.CacheScope = s.hints()
	have := &result.Capabilities
	if s.tools.used() {
		have.Tools = &mcp.ToolsCapability{ListChanged: changes}
	}
	if s.hasResources() {
		have.Resources = &mcp.ResourcesCapability{ListChanged: changes, Subscribe: true}
	}
	if s.prompts.used() {
		have.Prompts = &mcp.PromptsCapability{ListChanged: changes}
	}
	if s.completions.used() {
		have.Completions = &mcp.Supported{}
	}
	if len(s.custom.extensions) > 0 {
		have.Extensions = make(map[string]jsontext.Value, len(s.custom.extensions))
		for id, settings := range s.custom.extensions {
			have.Extensions[id] = settings
		}
	}
	memo := &mcp.Memo{Result: result}
	s.discovered.Store(memo)
	return memo, nil
}

// hints are the cache hints of lists.
func (s *Server) hints() (*int64, string) {
	ttl := s.opts.ListTTL.Milliseconds()
	if ttl == 0 || s.opts.PrivateLists {
		return &ttl, mcp.CachePrivate
	}
	return &ttl, mcp.CachePublic
}
