package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
)

// ErrBlocked is matched by the errors for addresses that were not named by the
// caller and that nobody else may make us reach. See the package comment.
var ErrBlocked = errors.New("address is off limits")

// shared is the space between customers and their carrier (RFC 6598): as private
// as the private networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// special are networks that are no host's address on the internet, or that lead
// into another network (RFC 6890 and its registries).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("fec0::/10"),
}

// guard knows which addresses may be reached for an MCP server.
type guard struct {
	loopback bool // the server is on this machine
	private  bool // the server is in a private network
	networks []netip.Prefix
	named    map[string]bool // host:port of what the caller named
}

// newGuard opens what the URL of the MCP server itself implies.
func newGuard(server *url.URL, networks []netip.Prefix) *guard {
	g := &guard{networks: networks, named: map[string]bool{hostPort(server): true}}
	host := server.Hostname()
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil:
		g.loopback, g.private = addr.Unmap().IsLoopback(), isPrivate(addr.Unmap())
	default:
		g.loopback = isLocalhost(host)
	}
	return g
}

// name opens the host of a URL that the caller gave. Others are ignored.
func (g *guard) name(address string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		g.named[hostPort(u)] = true
	}
}

// check refuses URLs that no endpoint or document may have. It looks at names
// without resolving them: see dial.
func (g *guard) check(address string) error {
	if err := oauth.CheckURL(address); err != nil {
		return err
	}
	u, err := url.Parse(address)
	if err != nil {
		return oauth.ErrAddress
	}
	if g.named[hostPort(u)] {
		return nil
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil:
		return g.allow(addr)
	case isLocalhost(host) && !g.loopback, looksNumeric(host):
		return fmt.Errorf("%w: %s", ErrBlocked, host)
	default:
		return nil
	}
}

// allow decides about an address that is about to be dialled.
func (g *guard) allow(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	contains := func(p netip.Prefix) bool { return p.Contains(addr) }
	switch {
	case slices.ContainsFunc(g.networks, contains):
		return nil
	case addr.IsLoopback() && g.loopback, isPrivate(addr) && g.private:
		return nil
	case addr.IsLoopback(), isPrivate(addr), !addr.IsGlobalUnicast(), slices.ContainsFunc(special, contains):
		return fmt.Errorf("%w: %s", ErrBlocked, addr)
	default:
		return nil
	}
}

// dial connects to a host after its name was resolved, and looks at the address
// at the last moment, when it cannot change any more.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if !g.named[strings.ToLower(address)] {
		d.Control = func(_, to string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(to)
			if err != nil {
				return ErrBlocked
			}
			return g.allow(at.Addr())
		}
	}
	return d.DialContext(ctx, network, address)
}

// transport sends requests where the guard allows. It keeps no connections, so
// there is nothing to close: requests are few and far between.
func (g *guard) transport() *http.Transport {
	return &http.Transport{
		DialContext:            g.dial,
		TLSHandshakeTimeout:    5 * time.Second,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func isPrivate(addr netip.Addr) bool { return addr.IsPrivate() || shared.Contains(addr) }

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// looksNumeric tells names that some resolvers take for an address in an unusual
// form, such as 0x7f.1: their last part begins with a digit, as no domain does.
func looksNumeric(host string) bool {
	last := strings.TrimSuffix(host, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	return last == "" || '0' <= last[0] && last[0] <= '9'
}

// hostPort names where a URL leads, as dial is told.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}
