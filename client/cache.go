package client

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/mcp"
)

// Cache keeps results for as long as their server allows. Clients of one server
// may share it: what the server calls public is then shared too, the rest is kept
// apart by [Options.CacheKey]. Servers of the handshake era allow nothing.
type Cache struct {
	maxBytes int
	callers  atomic.Int64 // clients without a key of their own

	mu      sync.Mutex
	entries map[cacheKey]cacheEntry
	bytes   int
	changes map[string]int // by method: how often it was invalidated
	cleared int
}

type cacheKey struct {
	caller string // empty: anybody
	method string
	params string // what tells requests of the method apart
}

type cacheEntry struct {
	result  jsontext.Value
	expires time.Time
}

// maxEntry is the largest result that is kept.
const maxEntry = 1 << 20

// NewCache returns an empty cache for at most maxBytes of results. 0: 16 MiB.
func NewCache(maxBytes int) *Cache {
	if maxBytes <= 0 {
		maxBytes = 16 << 20
	}
	return &Cache{maxBytes: maxBytes, entries: make(map[cacheKey]cacheEntry), changes: make(map[string]int)}
}

// Clear drops everything.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleared++
	c.dropLocked(func(cacheKey, cacheEntry) bool { return true })
}

// Invalidate drops the results of a method, for all callers.
func (c *Cache) Invalidate(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[method]++
	c.dropLocked(func(k cacheKey, _ cacheEntry) bool { return k.method == method })
}

func (c *Cache) dropLocked(which func(cacheKey, cacheEntry) bool) {
	for k, e := range c.entries {
		if which(k, e) {
			c.bytes -= len(e.result)
			delete(c.entries, k)
		}
	}
}

// partition is the part of a cache that one caller sees.
type partition struct {
	cache  *Cache
	caller string
}

func (c *Cache) partition(key string) partition {
	if key == "" { // nobody else's, whatever their key
		return partition{c, "#" + strconv.FormatInt(c.callers.Add(1), 10)}
	}
	return partition{c, "=" + key}
}

// stamp is a moment in the life of a cache: what was asked before a change must
// not be kept after it.
type stamp struct{ changes, cleared int }

// get returns what is kept, nil if nothing is, and the moment.
func (p partition) get(method, params string) (jsontext.Value, stamp) {
	c := p.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	now, at := time.Now(), stamp{c.changes[method], c.cleared}
	for _, caller := range [...]string{p.caller, ""} {
		if e, ok := c.entries[cacheKey{caller, method, params}]; ok && now.Before(e.expires) {
			return e.result, at
		}
	}
	return nil, at
}

// put keeps a reply in the place of an older one, unless something changed since
// it was asked for.
func (p partition) put(method, params string, reply lifecycle.Reply, asked stamp) {
	c, size := p.cache, len(reply.Result)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, caller := range [...]string{p.caller, ""} {
		k := cacheKey{caller, method, params}
		c.bytes -= len(c.entries[k].result)
		delete(c.entries, k)
	}
	if reply.TTL <= 0 || size > min(maxEntry, c.maxBytes) || asked != (stamp{c.changes[method], c.cleared}) {
		return
	}
	now := time.Now()
	if c.bytes+size > c.maxBytes {
		c.dropLocked(func(_ cacheKey, e cacheEntry) bool { return !now.Before(e.expires) })
	}
	if c.bytes+size > c.maxBytes {
		c.dropLocked(func(cacheKey, cacheEntry) bool { return true })
	}
	k := cacheKey{p.caller, method, params}
	if reply.Public {
		k.caller = ""
	}
	c.bytes += size
	c.entries[k] = cacheEntry{reply.Result, now.Add(reply.TTL)}
}

// cached makes a call whose result may be kept. Params must be told apart by key,
// and be an object without _meta.
func (c *Client) cached(ctx context.Context, method, key string, params any, opts *CallOptions) (result jsontext.Value, hit bool, err error) {
	r, err := c.newRequest(method, params, opts)
	if err != nil {
		return nil, false, err
	}
	kept, asked := c.lookup.get(method, key)
	if kept != nil && !r.opts.Fresh {
		return kept, true, nil
	}
	reply, questions, err := c.run(ctx, r)
	if err == nil && !questions && r.opts.Meta == nil {
		c.lookup.put(method, key, reply, asked)
	}
	return reply.Result, false, err
}

// outdate ends the results that a change makes worthless.
func (c *Client) outdate(e mcp.Event) {
	switch e.Method {
	case mcp.NotificationToolsListChanged:
		c.tools.clear()
		c.opts.Cache.Invalidate(mcp.MethodListTools)
	case mcp.NotificationPromptsListChanged:
		c.opts.Cache.Invalidate(mcp.MethodListPrompts)
	case mcp.NotificationResourcesListChanged:
		c.opts.Cache.Invalidate(mcp.MethodListResources)
		c.opts.Cache.Invalidate(mcp.MethodListResourceTemplates)
	case mcp.NotificationResourceUpdated:
		// The URI may be that of a part of what was read.
		c.opts.Cache.Invalidate(mcp.MethodReadResource)
	}
}
