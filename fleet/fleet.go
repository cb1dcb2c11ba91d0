package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/spelling"
	"github.com/bossman-mcp/bossman/mcp"
)

// Fleet is a set of servers. Its methods may be called from many goroutines.
type Fleet struct {
	opts Options

	reloading sync.Mutex // held while the set changes

	mu      sync.Mutex
	members map[string]*member
	closed  bool
}

// New returns the fleet of a configuration, nil for an empty one. Servers that
// are eager begin to start; nothing waits for them, and none of them can make New
// fail.
func New(c *Config, opts *Options) *Fleet {
	f := &Fleet{opts: opts.withDefaults(), members: make(map[string]*member)}
	_ = f.Reload(c) // which fails for none that runs
	return f
}

// Reload makes the fleet that of another configuration, nil for an empty one.
// Servers whose entry is the same go on as they are; where only the rules for
// tools changed, they go on under the new ones. It returns when the servers that
// had to go are gone.
func (f *Fleet) Reload(c *Config) error {
	f.reloading.Lock()
	defer f.reloading.Unlock()
	var wanted map[string]ServerConfig
	if c != nil {
		wanted = c.Servers
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return fmt.Errorf("reload: the fleet is %w", ErrClosed)
	}
	gone := f.applyLocked(wanted)
	f.mu.Unlock()
	if err := await(gone); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	return nil
}

// applyLocked changes the set, and returns the servers that are about to end.
func (f *Fleet) applyLocked(wanted map[string]ServerConfig) []ending {
	running := make(map[string]ServerConfig)
	for name, m := range f.members {
		running[name] = m.current()
	}
	var gone []ending
	for _, act := range reconcile(wanted, running) {
		var after <-chan struct{}
		switch act.verb {
		case adjust:
			f.members[act.name].adjust(wanted[act.name])
			continue
		case remove, replace:
			e := end(f.members[act.name])
			gone, after = append(gone, e), e.done
			delete(f.members, act.name)
		}
		if act.verb != remove {
			m := newMember(act.name, wanted[act.name], &f.opts, after)
			f.members[act.name] = m
			m.startIfEager()
		}
	}
	return gone
}

// ending is a server on its way out.
type ending struct {
	name string
	done <-chan struct{} // closed when it is gone
}

// end ends a server.
func end(m *member) ending {
	done := make(chan struct{})
	go func() { // await waits for it
		defer close(done)
		m.close()
	}()
	return ending{m.name, done}
}

// closePatience is how long servers may take to end. Package client and the
// transports have their own limits below it.
const closePatience = 20 * time.Second

// await waits until all are gone, or names those that are not.
func await(gone []ending) error {
	late := time.After(closePatience)
	var stuck []string
	for _, e := range gone {
		select {
		case <-e.done:
		case <-late:
			stuck = append(stuck, e.name)
			late = time.After(0)
		}
	}
	if stuck != nil {
		return fmt.Errorf("these servers do not end: %s", strings.Join(stuck, ", "))
	}
	return nil
}

// Close ends all servers at once and waits until they are gone, at most twenty
// seconds; the error names those that are not. Closing again does nothing.
func (f *Fleet) Close() error {
	f.reloading.Lock()
	defer f.reloading.Unlock()
	f.mu.Lock()
	already := f.closed
	f.closed = true
	var gone []ending
	if !already {
		for _, m := range f.sortedLocked() {
			gone = append(gone, end(m))
		}
	}
	f.mu.Unlock()
	if err := await(gone); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (f *Fleet) sortedLocked() []*member {
	var list []*member
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		list = append(list, f.members[name])
	}
	return list
}

func (f *Fleet) sorted() []*member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sortedLocked()
}

// Status returns how each server is doing, in the order of their names. It asks
// nobody and starts nothing.
func (f *Fleet) Status() []Status {
	var list []Status
	for _, m := range f.sorted() {
		list = append(list, m.snapshot())
	}
	return list
}

// Server returns the server of that name. It is the same server after a reload,
// as long as there is one of the name.
func (f *Fleet) Server(name string) (*Server, error) {
	if _, err := f.member(name); err != nil {
		return nil, err
	}
	return &Server{fleet: f, name: name}, nil
}

func (f *Fleet) member(name string) (*member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m, ok := f.members[name]; ok {
		return m, nil
	}
	err := ErrUnknown
	if meant, ok := spelling.Nearest(name, slices.Sorted(maps.Keys(f.members))); ok {
		err = fmt.Errorf("%w; did you mean %q?", ErrUnknown, meant)
	}
	return nil, about(name, err)
}

// Tool is a tool and whose it is.
type Tool struct {
	Server string
	mcp.Tool
}

// Tools lists the tools of all servers that are not disabled, in the order of the
// servers' names, and starts those that are not running. Servers are asked at
// once, and each has [Options.ListTimeout]: one that fails is among the failed,
// and what it had said before is among the tools.
func (f *Fleet) Tools(ctx context.Context) (tools []Tool, failed []*ServerError) {
	members := f.sorted()
	found := make([][]Tool, len(members))
	errs := make([]error, len(members))
	var asking sync.WaitGroup
	for i, m := range members {
		if m.current().Disabled {
			continue
		}
		asking.Go(func() { // waited for below
			ctx, cancel := context.WithTimeout(ctx, f.opts.ListTimeout)
			defer cancel()
			var list []mcp.Tool
			list, errs[i] = client.Collect((&Server{fleet: f, name: m.name}).Tools(ctx))
			for _, t := range list {
				found[i] = append(found[i], Tool{m.name, t})
			}
		})
	}
	asking.Wait()
	for i, m := range members {
		tools = append(tools, found[i]...)
		if errs[i] != nil {
			failed = append(failed, &ServerError{Server: m.name, Err: bare(errs[i])})
		}
	}
	return tools, failed
}

// Call calls a tool of a server, as [Server.CallTool] does.
func (f *Fleet) Call(ctx context.Context, server, tool string, arguments any) (*mcp.CallToolResult, error) {
	return (&Server{fleet: f, name: server}).CallTool(ctx, tool, arguments, nil)
}
