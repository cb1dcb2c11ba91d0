package fleet

import (
	"fmt"

	"github.com/bossman-mcp/bossman/client"
)

// Dialer returns the way to the server called name, as a [Fleet] with these
// options would go it: for those who want one server and no fleet.
func (c *ServerConfig) Dialer(name string, opts *Options) (client.Dialer, error) {
	if c.Err != nil {
		return nil, fmt.Errorf("server %q: %w", name, c.Err)
	}
	full := opts.withDefaults()
	return full.dialer(name, c)
}
