package streamable_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/streamable"
)

// raw sends text on a new connection and returns the status line's code.
func (s *site) raw(text string) int {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, text); err != nil {
		s.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func TestOriginIsChecked(t *testing.T) { // R027
	b := newBench()
	s := open(t, b, &streamable.Options{AllowedOrigins: []string{"https://good.example"}})
	own := s.srv.URL
	port := own[strings.LastIndex(own, ":")+1:]
	tests := []struct {
		name, origin string
		allowed      bool
	}{
		{"the server's own", own, true},
		{"a listed one", "https://good.example", true},
		{"a foreign one", "https://evil.example", false},
		{"null", "null", false},
		{"one that begins like a listed one", "https://good.example.evil.example", false},
		{"one that ends like a listed one", "https://evil-good.example", false},
		{"a listed one with a port", "https://good.example:8443", false},
		{"a listed one with another scheme", "http://good.example", false},
		{"a listed one in upper case", "HTTPS://GOOD.EXAMPLE", false},
		{"a listed one with a path", "https://good.example/", false},
		{"the own with another scheme", "https://127.0.0.1:" + port, false},
		{"the own with another port", "http://127.0.0.1:1", false},
		{"the own under another name", "http://localhost:" + port, false},
		{"the own in upper case", strings.ToUpper(own), false},
		{"none at all", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodOptions} {
				res := s.do(method, "this is not JSON", "Origin: "+tt.origin)
				if (res.status != 403) != tt.allowed {
					t.Errorf("%s: got %d, want allowed %v", method, res.status, tt.allowed)
				}
				if !tt.allowed && res.header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s: a refused origin was told %v", method, res.header)
				}
				if !tt.allowed {
					res.wantError(t, 403, -32600, "")
				}
			}
		})
	}
	t.Run("two of them", func(t *testing.T) {
		if res := s.post("{}", "Origin: "+own, "+Origin: "+own); res.status != 403 {
			t.Errorf("got %d, want 403", res.status)
		}
	})
}

func TestHostIsChecked(t *testing.T) { // R028
	s := open(t, newBench(), nil)
	tests := []struct {
		host    string
		allowed bool
	}{
		{"localhost", true}, {"localhost:1234", true}, {"LOCALHOST", true}, {"127.0.0.1", true}, {"127.0.0.1:80", true},
		{"[::1]", true}, {"[::1]:80", true}, {"127.8.9.10", true},
		{"evil.example", false}, {"localhost.evil.example", false}, {"127.0.0.1.evil.example", false}, {"localhost.", false},
		{"evil.example:80", false}, {"10.0.0.1", false}, {"[fe80::1]", false}, {"0.0.0.0", false}, {"user@localhost", false}, {"0x7f.1", false},
	}
	for _, tt := range tests {
		t.Run(tt.host, func(t *testing.T) {
			res := s.post("this is not JSON", "Host: "+tt.host)
			if (res.status != 403) != tt.allowed {
				t.Errorf("got %d, want allowed %v", res.status, tt.allowed)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if got := s.raw("POST /mcp HTTP/1.0\r\nContent-Length: 0\r\n\r\n"); got != 403 {
			t.Errorf("got %d, want 403", got)
		}
	})
	t.Run("in the request's target", func(t *testing.T) {
		if got := s.raw("POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); got != 403 {
			t.Errorf("got %d, want 403", got)
		}
	})
	t.Run("the own origin of a foreign host does not help", func(t *testing.T) {
		if res := s.post("{}", "Host: evil.example", "Origin: http://evil.example"); res.status != 403 {
			t.Errorf("got %d, want 403", res.status)
		}
	})
}

func TestAllowedHosts(t *testing.T) {
	s := open(t, newBench(), &streamable.Options{AllowedHosts: []string{"MCP.example", "other.example:8443"}})
	for host, allowed := range map[string]bool{
		"mcp.example": true, "mcp.example:99": true, "other.example:8443": true, "other.example": false,
		"localhost": true, "evil.example": false, "a.mcp.example": false,
	} {
		if res := s.post("not JSON", "Host: "+host); (res.status != 403) != allowed {
			t.Errorf("%s: got %d, want allowed %v", host, res.status, allowed)
		}
	}
	if res := s.post("not JSON", "Host: mcp.example", "Origin: http://mcp.example"); res.status == 403 {
		t.Error("a listed host's own page was refused")
	}
	any := open(t, newBench(), &streamable.Options{AllowedHosts: []string{"*"}})
	if res := any.post("not JSON", "Host: whatever.example"); res.status == 403 {
		t.Error(`"*" did not allow any host`)
	}
	if res := any.post("not JSON", "Host: whatever.example", "Origin: http://whatever.example"); res.status != 403 {
		t.Error("the origin of a host that anybody can name was trusted")
	}
}

func TestAllowedOriginsAreCheckedAtSetup(t *testing.T) {
	for _, origin := range []string{"example.com", "https://example.com/", "*", "https://", "HTTPS://example.com", "null"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken for an origin", origin)
				}
			}()
			streamable.Handler(newBench(), &streamable.Options{AllowedOrigins: []string{origin}})
		}()
	}
}

func TestPreflight(t *testing.T) { // R029
	s := open(t, newBench(), &streamable.Options{AllowedOrigins: []string{"https://good.example"}})
	ask := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type, mcp-param-region"}
	res := s.do(http.MethodOptions, "", append(ask, "Origin: https://good.example")...)
	if res.status != 204 || res.header.Get("Access-Control-Allow-Origin") != "https://good.example" ||
		res.header.Get("Access-Control-Allow-Headers") != "content-type, mcp-param-region" ||
		!strings.Contains(res.header.Get("Access-Control-Allow-Methods"), "POST") || res.header.Get("Vary") != "Origin" {
		t.Errorf("a listed page was told %d %v", res.status, res.header)
	}
	res = s.do(http.MethodOptions, "", append(ask, "Origin: https://evil.example")...)
	if res.status != 403 || res.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("an unknown page was told %d %v", res.status, res.header)
	}
	res = s.post(fmt.Sprintf(initialize, lastSession), "Origin: https://good.example")
	if res.status != 200 || !strings.Contains(res.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("a listed page cannot see its session: %d %v", res.status, res.header)
	}
	res = s.post(fmt.Sprintf(initialize, lastSession), "Origin: "+s.srv.URL)
	if res.status != 200 || res.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the own page needs no CORS, got %d %v", res.status, res.header)
	}
}

func TestContentTypeIsChecked(t *testing.T) { // R029
	b := newBench()
	s := open(t, b, nil)
	body := modernBody("tools/call", `"name":"wait","arguments":{}`)
	for _, contentType := range []string{
		"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp",
		"text/plain; application/json", "application/json; charset=iso-8859-1", "application/json, text/plain",
	} {
		res := s.post(body, modernHeaders("tools/call", "wait", "Content-Type: "+contentType)...)
		res.wantError(t, 415, -32600, "")
	}
	s.post(body, modernHeaders("tools/call", "wait", "Content-Encoding: gzip")...).wantError(t, 415, -32600, "")
	select {
	case <-b.began:
		t.Error("the handler ran")
	default:
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON", `application/json;charset="UTF-8"; x=y`} {
		if res := s.post(modernBody("tools/list", ""), modernHeaders("tools/list", "", "Content-Type: "+contentType)...); res.status != 200 {
			t.Errorf("%s: got %d %s, want 200", contentType, res.status, res.body)
		}
	}
}

func TestAcceptIsParsed(t *testing.T) { // R039
	s := open(t, newBench(), nil)
	tests := []struct {
		accept string
		want   int
	}{
		{"application/json, text/event-stream", 200},
		{"text/event-stream, application/json", 200}, // as some clients have it
		{"text/event-stream;q=0.5,application/json;q=0.9", 200},
		{"*/*", 200},
		{"application/*, text/*", 200},
		{"APPLICATION/JSON, Text/Event-Stream", 200},
		{"", 200}, // who says nothing takes anything
		{"application/json", 406},
		{"text/event-stream", 406},
		{"text/html", 406},
		{"application/json, text/event-stream;q=0", 406},
		{"application/json, text/event-stream;q=0.0", 406},
		{"application/json-seq, text/event-stream", 406},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			res := s.post(modernBody("tools/list", ""), modernHeaders("tools/list", "", "Accept: "+tt.accept)...)
			if res.status != tt.want {
				t.Errorf("got %d %s, want %d", res.status, res.body, tt.want)
			}
		})
	}
}
