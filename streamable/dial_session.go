package streamable

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// footing is what the two sides agreed on by initialize. Each initialize makes a
// new one. The connection's lock guards it.
type footing struct {
	session string   // the session's id; empty if there is none
	version string   // the value of the version header; empty: it is not sent
	post    *url.URL // where messages go in HTTP with SSE; nil otherwise
	lost    bool     // the server has forgotten it
}

// stand returns the footing for a request of the handshake era. For initialize it
// is a new one, and what still flows on the old one ends.
func (c *conn) stand(opens bool) *footing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && !opens {
		return c.current
	}
	for f := range c.flows {
		if f.on != nil && f.on == c.current {
			f.cancel(ErrSessionLost)
		}
	}
	c.current = new(footing)
	return c.current
}

// footing returns the present one, nil if there was no request of the handshake
// era.
func (c *conn) footing() *footing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// lastVersion returns the version of the last request of the stateless era.
func (c *conn) lastVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// sessionHeader returns the headers of the handshake era, and where messages go
// if not to the endpoint.
func (c *conn) sessionHeader(on *footing) (http.Header, *url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := make(http.Header, 8)
	if on.session != "" {
		h[headerSession] = []string{on.session}
	}
	if on.version != "" {
		h[headerVersion] = []string{on.version}
	}
	return h, on.post
}

// adopt keeps the session id that came with the response to initialize.
func (c *conn) adopt(on *footing, h http.Header) error {
	ids := h[headerSession]
	if len(ids) == 0 {
		return nil
	}
	if len(ids) > 1 || !isVisible(ids[0]) {
		return fmt.Errorf("the server's %s cannot be used", headerSession)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	on.session = ids[0]
	return nil
}

// isVisible reports whether s has only visible ASCII characters, of which 1 to
// 4,096.
func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 4096
}

// agree keeps what the result of initialize says.
func (c *conn) agree(on *footing, result []byte) {
	rev := revision.Lookup(jsonscan.Unquote(jsonscan.Get(result, "protocolVersion")))
	if rev == nil || !rev.VersionHeader {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	on.version = rev.Name
}

// checkLost returns an error if a refusal means that the session is gone, and
// remembers that. A 404 means it, unless it says that the request's method is
// what was not found.
func (c *conn) checkLost(on *footing, id jsonrpc.ID, r *refusal) error {
	if on == nil || r.http.Status != http.StatusNotFound {
		return nil
	}
	if r.rpc != nil && r.rpc.Code == jsonrpc.CodeMethodNotFound && !id.IsZero() && r.id.Key() == id {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if on.session == "" && on.post == nil {
		return nil
	}
	on.lost = true
	return fmt.Errorf("%w: %w", ErrSessionLost, r.http)
}

// leave tells the server that its session is not needed any more.
func (c *conn) leave() {
	c.mu.Lock()
	on := c.current
	none := on == nil || on.session == "" || on.lost
	c.mu.Unlock()
	if none {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	a := &ask{method: http.MethodDelete, url: c.base}
	a.header, _ = c.sessionHeader(on)
	a.header["Accept"] = acceptBoth
	res, err := c.out.do(ctx, a)
	if err != nil {
		c.opts.Logger.Debug("end session", "error", err)
		return
	}
	discard(res) // whatever it says: servers need not allow it
}
