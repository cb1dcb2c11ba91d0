package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/streamable"
)

// R013: fifty thousand pings are refused at once, in the revision that has
// batches as in those that have none, and the server is alive.
func TestHeavyBatchOfFiftyThousandPings(t *testing.T) {
	s := open(t, newBench(), nil)
	pings := "[" + strings.Repeat(ping(1)+",", 49_999) + ping(1) + "]"
	if len(pings) > 4<<20 {
		t.Fatalf("%d bytes are more than a body may have", len(pings))
	}
	senders := map[string][]string{"no session": nil, newest: {"MCP-Protocol-Version: " + newest}}
	for _, version := range append([]string{"2024-11-05"}, sessionVersions...) {
		senders[version] = s.join(version).with(nil)
	}
	for name, headers := range senders {
		best := patience // of three: the machine may be busy
		for range 3 {
			from := time.Now()
			res := s.post(pings, headers...)
			best = min(best, time.Since(from))
			res.wantError(t, 400, -32600, "")
		}
		if best > bound(100*time.Millisecond) {
			t.Errorf("%s: refused after %v", name, best)
		}
		t.Logf("%s: refused after %v", name, best)
	}
	s.callTool("hello", "{}").wantText(t, "hello")
}

// bound is a limit of time, which is not held under the race detector: it makes
// everything many times as slow.
func bound(limit time.Duration) time.Duration {
	if raceEnabled {
		return patience
	}
	return limit
}

// R013: what is a good or a bad batch in one revision is no message in the others.
func TestR013NoBatchesOfAnyKindInOtherRevisions(t *testing.T) {
	var ran atomic.Int32
	s := open(t, counting(&ran), nil)
	senders := map[string][]string{newest: {"MCP-Protocol-Version: " + newest}, "no session": nil}
	for _, version := range []string{"2024-11-05", "2025-06-18", lastSession} {
		senders[version] = s.join(version).with(nil)
	}
	ran.Store(0)
	const note = `{"jsonrpc":"2.0","method":"notifications/whatever"}`
	for name, headers := range senders {
		for kind, batch := range map[string]string{
			"mixed": "[" + ping(1) + "," + note + "," + callBody(2, "hello", "{}") + "]", "only notifications": "[" + note + "," + note + "]",
			"one": "[" + callBody(1, "hello", "{}") + "]", "none": "[]", "an invalid one": "[" + ping(1) + ",5]", "responses": `[{"jsonrpc":"2.0","id":1,"result":{}}]`,
			"self-described": "[" + modernBody("tools/list", "") + "]", "blanks before it": " \n[" + ping(1) + "]",
		} {
			t.Run(name+": "+kind, func(t *testing.T) { s.post(batch, headers...).wantError(t, 400, -32600, "") })
		}
	}
	if n := ran.Load(); n != 0 {
		t.Errorf("the handler ran %d times", n)
	}
}

// counting is a handler that counts the calls of methods that are about
// something.
func counting(ran *atomic.Int32) mcp.Handler {
	b := newBench()
	return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		if c.Method != mcp.MethodDiscover && c.Method != mcp.MethodSubscriptionsListen {
			ran.Add(1)
		}
		return b.Handle(ctx, c)
	})
}

// R027: the listed origins with the settings that everybody has, on each method
// and both endpoints; the answer comes before the body.
func TestR027ForeignOriginsAreRefusedBeforeTheirBody(t *testing.T) {
	s := open(t, newBench(), nil)
	host := s.srv.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(host)
	for name, origins := range map[string][]string{
		"a foreign one": {"https://evil.example"}, "null": {"null"}, "one that begins well": {"https://good.example.evil.example"},
		"one that begins like our own": {"http://" + host + ".evil.example"}, "the wrong port": {"http://127.0.0.1:1"}, "the wrong scheme": {"https://" + host},
		"upper case": {"HTTP://" + host}, "two": {"http://" + host, "https://evil.example"}, "our own twice": {"http://" + host, "http://" + host},
		"two in one": {"http://" + host + ", https://evil.example"}, "our own with a path": {"http://" + host + "/"}, "our own with a user": {"http://x@" + host},
		"empty": {""}, "no scheme": {host}, "a file": {"file://"}, "another loopback name": {"http://localhost:" + port}, "an extension": {"chrome-extension://abc"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
			for _, path := range []string{"/mcp", "/sse"} {
				var lines strings.Builder
				for _, origin := range origins {
					fmt.Fprintf(&lines, "Origin: %s\r\n", origin)
				}
				// A body is promised and never sent.
				request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n%s\r\n", method, path, host, lines.String())
				res := s.exchangeRaw(request)
				if res.StatusCode != 403 || res.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s with %s: got %d %v", method, path, name, res.StatusCode, res.Header)
				}
			}
		}
	}
}

// exchangeRaw sends text on a new connection and returns the head of the answer,
// which must come soon.
func (s *site) exchangeRaw(text string) *http.Response {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatalf("%.100q: %v", text, err)
	}
	res.Body.Close()
	return res
}

// R028: each way to name a host, on both loopback addresses, each method and both
// endpoints.
func TestR028ForeignHostsAreRefusedOnLoopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			s := openAt(t, address)
			_, port, _ := net.SplitHostPort(s.srv.Listener.Addr().String())
			for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
				for _, path := range []string{"/mcp", "/sse"} {
					request := func(target, host string) int {
						return s.exchangeRaw(fmt.Sprintf("%s %s HTTP/1.1\r\n%sAccept: text/html\r\nContent-Length: 0\r\n\r\n", method, target, host)).StatusCode
					}
					for _, host := range []string{
						"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost.", "127.0.0.1.", "evil.example:" + port, "xlocalhost",
						"localhost.:" + port, "[::1].evil.example", "[::2]", "::1", "10.0.0.1", "localhost@evil.example", "0", "2130706433",
					} {
						if got := request(path, "Host: "+host+"\r\n"); got != 403 && got != 400 {
							t.Errorf("%s %s with host %s: got %d", method, path, host, got)
						}
					}
					for _, host := range []string{"localhost", "localhost:" + port, "127.0.0.1", "127.0.0.1:" + port, "[::1]", "[::1]:" + port} {
						if got := request(path, "Host: "+host+"\r\n"); got == 403 {
							t.Errorf("%s %s with host %s was refused", method, path, host)
						}
					}
					if got := request("http://evil.example"+path, "Host: localhost\r\n"); got != 403 {
						t.Errorf("%s %s with a foreign target: got %d", method, path, got)
					}
					if got := request("http://localhost"+path, "Host: localhost\r\n"); got == 403 {
						t.Errorf("%s %s with our own target was refused", method, path)
					}
					for _, none := range []string{"", "Host: \r\n", "Host: localhost\r\nHost: evil.example\r\n"} {
						if got := request(path, none); got != 403 && got != 400 {
							t.Errorf("%s %s with %q: got %d", method, path, none, got)
						}
					}
				}
			}
		})
	}
}

// openAt is open at an address of this machine.
func openAt(t *testing.T, address string) *site {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("NOT RUN: there is no %s here: %v", address, err)
	}
	e := streamable.Handler(newBench(), nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", e)
	mux.Handle("/sse", e.SSE())
	srv := httptest.NewUnstartedServer(nil)
	srv.Listener.Close()
	srv.Listener, srv.Config = l, streamable.NewServer("", mux)
	srv.Start()
	t.Cleanup(func() {
		shutdown(t, e)
		srv.Close()
	})
	return &site{t: t, e: e, srv: srv, client: srv.Client(), url: srv.URL + "/mcp"}
}

// R029: a preflight of an unknown page is told nothing, with the settings that
// everybody has, and what pages can send without one does not run.
func TestR029PagesGetNothingByDefault(t *testing.T) {
	var ran atomic.Int32
	s := open(t, counting(&ran), nil)
	for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
		res := s.do(http.MethodOptions, "", "Origin: https://evil.example", "Access-Control-Request-Method: "+method,
			"Access-Control-Request-Headers: content-type, mcp-session-id", "Access-Control-Request-Private-Network: true")
		for name := range res.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("a preflight of %s was told %s: %s", method, name, res.header.Get(name))
			}
		}
		if res.status != 403 {
			t.Errorf("a preflight of %s: got %d", method, res.status)
		}
	}
	c := s.join(lastSession)
	ran.Store(0)
	for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/plain;charset=UTF-8"} {
		s.post(modernBody("tools/call", `"name":"hello","arguments":{}`), modernHeaders("tools/call", "hello", "Content-Type: "+contentType)...).wantError(t, 415, -32600, "")
		c.post(callBody(1, "hello", "{}"), "Content-Type: "+contentType).wantError(t, 415, -32600, "")
		s.post(fmt.Sprintf(initialize, lastSession), "Content-Type: "+contentType).wantError(t, 415, -32600, "")
	}
	s.post(callBody(1, "hello", "{}"), "Content-Type: application/json", "+Content-Type: text/plain").wantError(t, 415, -32600, "")
	if n := ran.Load(); n != 0 {
		t.Errorf("the handler ran %d times", n)
	}
}

// R033: HTTP/2 is off in all its forms: a client that knows before, one that asks
// to change over, and one that asks in the handshake of TLS.
func TestR033HTTP2IsOff(t *testing.T) {
	s := open(t, newBench(), nil)
	if res := s.exchangeRaw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); res.ProtoMajor != 1 || res.StatusCode < 400 {
		t.Errorf("prior knowledge: got %s", res.Status)
	}
	res := s.exchangeRaw("GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
	if res.StatusCode == http.StatusSwitchingProtocols || res.ProtoMajor != 1 {
		t.Errorf("an upgrade: got %s", res.Status)
	}
	if srv := streamable.NewServer("", nil); srv.Protocols.HTTP2() || srv.Protocols.UnencryptedHTTP2() || !srv.Protocols.HTTP1() {
		t.Errorf("the server speaks %v", srv.Protocols)
	}
}

// R036, R037: headers that cannot be, or do not fit the body, and nothing runs.
func TestR036NothingRunsThatTheHeadersDoNotName(t *testing.T) {
	var ran atomic.Int32
	s := open(t, counting(&ran), nil)
	for method, member := range map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"} {
		body := modernBody(method, `"`+member+`":"hello"`)
		for name, headers := range map[string][]string{
			"no version":                  {"MCP-Protocol-Version:"},
			"another version":             {"MCP-Protocol-Version: 2025-06-18"},
			"two versions":                {"+MCP-Protocol-Version: 2025-06-18"},
			"two versions in one":         {"MCP-Protocol-Version: " + newest + ", " + newest},
			"no method":                   {"Mcp-Method:"},
			"another method":              {"Mcp-Method: tools/list"},
			"two methods":                 {"+Mcp-Method: tools/list"},
			"the same method twice":       {"+Mcp-Method: " + method},
			"a method in another case":    {"Mcp-Method: " + strings.ToUpper(method)},
			"no name":                     {"Mcp-Name:"},
			"another name":                {"Mcp-Name: who"},
			"two names":                   {"+Mcp-Name: who"},
			"two names, ours last":        {"Mcp-Name: who", "+Mcp-Name: hello"},
			"two names in one":            {"Mcp-Name: hello, who"},
			"a name in another case":      {"Mcp-Name: HELLO"},
			"base64 with another case":    {"Mcp-Name: =?Base64?aGVsbG8=?="},
			"base64 of something else":    {"Mcp-Name: " + sentinel("who")},
			"base64 without its end":      {"Mcp-Name: =?base64?aGVsbG8="},
			"base64 with a blank in it":   {"Mcp-Name: =?base64?aGVs bG8=?="},
			"base64 in base64":            {"Mcp-Name: " + sentinel(sentinel("hello"))},
			"base64 of what is no UTF-8":  {"Mcp-Name: =?base64?//4=?="},
			"a name in quotation marks":   {`Mcp-Name: "hello"`},
			"a name as a URL writes it":   {"Mcp-Name: h%65llo"},
			"a letter that looks alike":   {"Mcp-Name: hеllo"}, // with the Cyrillic e
			"a name with a NUL in base64": {"Mcp-Name: " + sentinel("hello\x00")},
		} {
			t.Run(method+": "+name, func(t *testing.T) {
				s.post(body, append(modernHeaders(method, "hello"), headers...)...).wantError(t, 400, mcp.CodeHeaderMismatch, "1")
			})
		}
	}
	if n := ran.Load(); n != 0 {
		t.Errorf("the handler ran %d times", n)
	}
}

// R037: line breaks and control characters in headers do not get as far as the
// endpoint, or are refused there.
func TestR037HeadersWithControlCharacters(t *testing.T) {
	var ran atomic.Int32
	s := open(t, counting(&ran), nil)
	body := modernBody("tools/call", `"name":"hello","arguments":{}`)
	for name, line := range map[string]string{
		"a carriage return": "Mcp-Name: hel\rlo", "a NUL": "Mcp-Name: hello\x00", "a folded line": "Mcp-Name: hel\r\n lo", "an escape": "Mcp-Name: \x1b[31mhello",
		"a delete": "Mcp-Name: hello\x7f", "a blank before the colon": "Mcp-Name : hello", "bytes that are no UTF-8": "Mcp-Name: hello\xff",
		"a line feed in a parameter": "Mcp-Name: hello\r\nMcp-Param-X: a\nMcp-Name: who",
	} {
		got := s.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: " + newest + "\r\nMcp-Method: tools/call\r\n" +
			line + "\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
		if got != 400 {
			t.Errorf("%s: got %d, want 400", name, got)
		}
	}
	if n := ran.Load(); n != 0 {
		t.Errorf("the handler ran %d times", n)
	}
}

// Other paths of a server can be kept from web pages in the same way.
func TestGuardKeepsPagesFromOtherPaths(t *testing.T) {
	e := streamable.Handler(newBench(), &streamable.Options{AllowedOrigins: []string{"https://good.example"}})
	srv := httptest.NewServer(e.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })))
	defer srv.Close()
	s := &site{t: t, e: e, srv: srv, client: srv.Client(), url: srv.URL}
	for header, want := range map[string]int{
		"Host: evil.example": 403, "Host: localhost": 418, "Origin: https://evil.example": 403, "Origin: https://good.example": 418, "Origin: " + srv.URL: 418,
	} {
		if res := s.do(http.MethodGet, "", header); res.status != want {
			t.Errorf("%s: got %d, want %d", header, res.status, want)
		}
	}
	res := s.do(http.MethodOptions, "", "Origin: https://good.example", "Access-Control-Request-Method: GET")
	if res.status != 204 || res.header.Get("Access-Control-Allow-Origin") != "https://good.example" {
		t.Errorf("a preflight: got %d %v", res.status, res.header)
	}
}
