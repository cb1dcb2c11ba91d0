package streamable

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// guard decides who may talk to an endpoint at all, by Host and Origin: a web
// page must not reach a local server through a visitor's browser.
type guard struct {
	hosts   map[string]bool // lower case
	anyHost bool
	origins map[string]bool
}

func newGuard(o *Options) guard {
	g := guard{hosts: make(map[string]bool), origins: make(map[string]bool)}
	for _, host := range o.AllowedHosts {
		if host == "*" {
			g.anyHost = true
		}
		g.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range o.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || origin != strings.ToLower(u.Scheme+"://"+u.Host) || u.Host == "" {
			panic("streamable: allowed origin " + origin + " is not of the form https://example.com")
		}
		g.origins[origin] = true
	}
	return g
}

// Guard returns a handler that lets a request through to next if the endpoint
// would serve its Host and Origin, and answers the others itself, and preflights
// of listed pages. It is for other paths of the same server, which web pages must
// not reach either, and for what comes before the endpoint, such as a check of
// credentials, which a preflight has none of.
func (e *Endpoint) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.guard.admit(e.exchange(w, r)) {
			next.ServeHTTP(w, r)
		}
	})
}

// admit reports whether the request may go on; if not, it was answered. It also
// answers the question that browsers ask before they let a page send a request.
func (g *guard) admit(x *exchange) bool {
	r := x.r
	if !g.hostAllowed(r) {
		x.unread()
		x.refuse(http.StatusForbidden, jsonrpc.ID{}, jsonrpc.InvalidRequest("host %q is not served here", r.Host))
		return false
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	origin := origins[0]
	if len(origins) > 1 || !g.origins[origin] && !g.sameOrigin(r, origin) {
		x.unread()
		x.refuse(http.StatusForbidden, jsonrpc.ID{}, jsonrpc.InvalidRequest("origin %q is not allowed", strings.Join(origins, ", ")))
		return false
	}
	if !g.origins[origin] {
		return true
	}
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	if !slices.Contains(h["Vary"], "Origin") { // as after Guard
		h.Add("Vary", "Origin")
	}
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return true
	}
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked) // a listed page may send what it likes
	}
	h.Set("Access-Control-Max-Age", "7200")
	x.w.WriteHeader(http.StatusNoContent)
	return false
}

// unread gives the connection up if a body is on its way, so that the refusal
// need not wait for it.
func (x *exchange) unread() {
	if x.r.ContentLength != 0 {
		x.w.Header().Set("Connection", "close")
	}
}

// hostAllowed checks the Host header. Who connects to a loopback address must
// have meant it: a name that merely resolves there is how DNS rebinding looks.
func (g *guard) hostAllowed(r *http.Request) bool {
	if g.anyHost {
		return true
	}
	name := hostname(r.Host)
	if len(g.hosts) == 0 && isUsualLoopback(name) {
		return true // wherever it came in
	}
	if len(g.hosts) > 0 && (g.hosts[strings.ToLower(name)] || g.hosts[strings.ToLower(r.Host)]) {
		return true
	}
	if onLoopback(r) {
		return isLoopback(name)
	}
	return len(g.hosts) == 0 && name != ""
}

// sameOrigin reports whether a page of this very server sent the request. Its
// word counts only if the Host is one that nobody can point elsewhere: an
// address, a loopback name, or a host that is listed.
func (g *guard) sameOrigin(r *http.Request, origin string) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	host, ok := strings.CutPrefix(origin, scheme)
	if !ok || host != strings.ToLower(r.Host) {
		return false
	}
	name := hostname(host)
	if g.hosts[name] || g.hosts[host] || isLoopback(name) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// hostname returns the Host header without its port and brackets, empty if it is
// malformed.
func hostname(host string) string {
	name, port, hasPort := strings.Cut(host, ":")
	if rest, ok := strings.CutPrefix(host, "["); ok {
		name, port, ok = strings.Cut(rest, "]")
		if port != "" {
			port, hasPort = strings.CutPrefix(port, ":")
			ok = ok && hasPort
		}
		if !ok {
			return ""
		}
	}
	if hasPort && !isNumber(port) {
		return ""
	}
	return name
}

// isNumber reports whether there are only digits in text.
func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

func isLoopback(name string) bool {
	if isUsualLoopback(name) || strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// isUsualLoopback is isLoopback for the names that most clients use.
func isUsualLoopback(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// onLoopback reports whether the request came in on a loopback address.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}
