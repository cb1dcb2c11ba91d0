package client

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

// Extension returns the settings with which the server announced a protocol
// extension, a JSON object, and nil if it did not announce it. It dials if the
// client is not connected yet.
func (c *Client) Extension(ctx context.Context, id string) (settings jsontext.Value, err error) {
	k, err := c.connection(ctx)
	if err != nil {
		return nil, local(mcp.MethodDiscover, err)
	}
	return k.agreement.Load().Capabilities.Extensions[id], nil
}

// List says how to read a list that is not the protocol's own but an extension's.
type List[T any] struct {
	Method string // of the request for one page, such as "skills/list"
	Member string // of its result: the array of entries
	// Key tells entries apart. An entry whose key is empty is passed over.
	Key func(entry *T) string
	// URI is sent with each request beside the cursor: what the list is of. Empty:
	// nothing is.
	URI string
}

// Walk reads such a list as the protocol's own lists are read: page by page as the
// caller goes on, and from the cache where the server allows that. An entry that
// makes no sense costs only itself.
func Walk[T any](ctx context.Context, c *Client, l List[T]) iter.Seq2[T, error] {
	return walk(ctx, c, &list[T]{method: l.Method, member: l.Member, key: l.Key, uri: l.URI})
}
