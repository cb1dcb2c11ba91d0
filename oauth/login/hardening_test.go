package login_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// R042: no redirect of a request that carries secrets is followed, of whatever
// kind and to wherever, and the error names it.
func TestR042SecretsFollowNoRedirectOfAnyKind(t *testing.T) {
	for _, path := range []string{"/token", "/register"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, to := range []string{
				"https://evil.example.com/stolen", "http://auth.example.com/stolen", "https://auth.example.com:8443/stolen", "/stolen",
				"https://10.0.0.1/stolen", "http://localhost/stolen", "https://169.254.169.254/stolen", "//evil.example.com/stolen",
			} {
				t.Run(fmt.Sprint(path, " ", status, " ", to), func(t *testing.T) {
					w := newWorld(t)
					w.hosts["auth.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
						if r.URL.Path == path {
							rw.Header().Set("Location", to)
							rw.WriteHeader(status)
							return
						}
						w.auth.ServeHTTP(rw, r)
					})
					if text := w.mustFail("tools/list", login.ErrRedirect); !strings.Contains(text, "/stolen") || strings.Contains(text, "code-") {
						t.Errorf("the error is %s", text)
					}
					if strings.Contains(w.story(), "stolen") {
						t.Errorf("followed: %s", w.story())
					}
				})
			}
		}
	}
}

// names is a resolver in memory. It knows only what it is told.
type names map[string]string

// use makes it the resolver of this process until the test ends.
func (n names) use(t *testing.T) {
	t.Helper()
	before := net.DefaultResolver
	var answering sync.WaitGroup
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe() // not a packet connection: messages have their length before them
		answering.Go(func() {
			defer there.Close()
			for n.answer(there) == nil {
			}
		})
		return here, nil
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		answering.Wait()
	})
}

// answer reads one question and answers it (RFC 1035, section 4).
func (n names) answer(conn net.Conn) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, question); err != nil {
		return err
	}
	end, name := 12, ""
	for question[end] != 0 {
		size := int(question[end])
		name += string(question[end+1:end+1+size]) + "."
		end += size + 1
	}
	kind := binary.BigEndian.Uint16(question[end+1:])
	end += 5
	answer := append([]byte{question[0], question[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[12:end]...)
	addr, err := netip.ParseAddr(n[strings.TrimSuffix(name, ".")])
	if err == nil && (kind == 1) == addr.Is4() && (kind == 1 || kind == 28) {
		data := addr.AsSlice()
		answer[7] = 1
		answer = append(answer, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 60, 0, byte(len(data)))
		answer = append(answer, data...)
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}

// R059: names that lead to addresses that are off limits are stopped at the
// address, and nobody is reached.
func TestR059NamesThatLeadInside(t *testing.T) {
	l, visitors := listen(t)
	_, port, _ := net.SplitHostPort(l)
	inside := names{
		"loopback.evil.example": "127.0.0.1", "loopback2.evil.example": "127.255.0.1", "loopback6.evil.example": "::1", "any.evil.example": "0.0.0.0", "any6.evil.example": "::",
		"ten.evil.example": "10.0.0.1", "seventeen.evil.example": "172.16.0.1", "end.evil.example": "172.31.255.254", "home.evil.example": "192.168.0.1",
		"cloud.evil.example": "169.254.169.254", "carrier.evil.example": "100.64.0.1", "carrier2.evil.example": "100.127.255.254",
		"unique.evil.example": "fc00::1", "unique2.evil.example": "fdff::1", "link.evil.example": "fe80::1", "link2.evil.example": "febf::1",
		"mapped.evil.example": "::ffff:10.0.0.1", "mapped2.evil.example": "::ffff:127.0.0.1", "cloud6.evil.example": "fd00:ec2::254", "nat64.evil.example": "64:ff9b::7f00:1",
	}
	inside.use(t)
	for name, address := range inside {
		for _, scheme := range []string{"https", "http"} {
			err := challengeWith(t, mcpURL, nil, scheme+"://"+net.JoinHostPort(name, port)+"/doc")
			switch {
			case scheme == "https" && !errors.Is(err, login.ErrBlocked), scheme == "http" && !errors.Is(err, oauth.ErrAddress):
				t.Errorf("%s, which is %s: %v", name, address, err)
			case strings.Contains(err.Error(), "canary"):
				t.Errorf("%s: the error repeats the answer: %v", name, err)
			}
		}
	}
	if n := visitors.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	// The resolver works: where this machine is not off limits, it is reached.
	opts := &login.Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	if err := challengeWith(t, mcpURL, opts, "https://loopback.evil.example:"+port+"/doc"); errors.Is(err, login.ErrBlocked) || visitors.Load() != 1 {
		t.Errorf("an address that the caller opened: %v, %d connections", err, visitors.Load())
	}
}

// R059: an address that is off limits is not called, in whichever document it
// stands and however it is written.
func TestR059AddressesInEveryDocument(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1", "localhost", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fc00::1]", "[fe80::1]", "[fe80::1%25eth0]", "[::1]",
		"[::ffff:10.0.0.1]", "[::ffff:a00:1]", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "0", "[::]", "%31%32%37.0.0.1", "127.0.0.1.", "①②⑦.0.0.1",
	} {
		for place, set := range map[string]func(w *world, at string){
			"the challenge": func(w *world, at string) {
				w.server.headers = http.Header{"Www-Authenticate": {fmt.Sprintf("Bearer resource_metadata=%q", at)}}
			},
			"the issuer": func(w *world, at string) { w.server.doc["authorization_servers"] = []string{at} },
			"the token endpoint": func(w *world, at string) {
				w.auth.edit = func(m object) { m["token_endpoint"] = at }
			},
			"the registration endpoint": func(w *world, at string) {
				w.auth.edit = func(m object) { m["registration_endpoint"] = at }
			},
			"the authorization endpoint": func(w *world, at string) {
				w.auth.edit = func(m object) { m["authorization_endpoint"] = at }
			},
		} {
			for _, scheme := range []string{"https", "http"} {
				w := newWorld(t)
				set(w, scheme+"://"+host+"/inside")
				if status, err := w.call("tools/list"); err == nil {
					t.Errorf("%s://%s in %s: let in with %d", scheme, host, place, status)
				}
				for _, c := range w.calls {
					if u, err := url.Parse(c.url); err != nil || u.Host != "mcp.example.com" && u.Host != "auth.example.com" {
						t.Errorf("%s://%s in %s: called %s", scheme, host, place, c.url)
					}
				}
			}
		}
	}
}

// R061: documents that come byte by byte are given up after ten seconds in all.
func TestR061DocumentsThatDrip(t *testing.T) {
	for name, drips := range map[string]string{
		"the server's": "/.well-known/oauth-protected-resource/mcp", "the issuer's": "/.well-known/oauth-authorization-server", "the issuer's, its head": "head",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := overPipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == drips:
						for r.Context().Err() == nil {
							_, _ = io.WriteString(w, " ")
							_ = http.NewResponseController(w).Flush()
							time.Sleep(time.Second)
						}
					case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
						writeJSON(w, 200, object{"resource": "http://localhost/mcp", "authorization_servers": []string{"http://localhost"}})
					default:
						<-r.Context().Done()
					}
				}))
				if !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
					t.Errorf("given up after %v: %v", took, err)
				}
			})
		})
	}
}

// overPipes answers a challenge of a server on this machine over connections in
// memory, and returns how long that took.
func overPipes(t *testing.T, h http.Handler) (time.Duration, error) {
	t.Helper()
	conns := make(chan net.Conn)
	srv := &http.Server{Handler: h}
	l := pipes{conns, make(chan struct{})}
	over := make(chan struct{})
	go func() { // awaited below
		defer close(over)
		_ = srv.Serve(l)
	}()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		conns <- there
		return here, nil
	}}
	begin := time.Now()
	err := challengeWith(t, "http://localhost/mcp", &login.Options{Transport: transport}, "http://localhost/.well-known/oauth-protected-resource/mcp")
	took := time.Since(begin)
	transport.CloseIdleConnections()
	_ = srv.Close()
	<-over
	time.Sleep(2 * time.Second) // until the last handler has seen its end
	return took, err
}

// pipes is a listener for connections in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// R062: when all documents are gone, what was stored goes to nobody but the
// issuer that it came from.
func TestR062NothingStoredGoesElsewhereWhenDocumentsAreGone(t *testing.T) {
	for name, revoked := range map[string]bool{"the login can be renewed": false, "the login is worthless": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.auth.refresh, w.opts.Store = true, login.Memory()
				w.auth.register = func(m object) object {
					m["client_secret"], m["token_endpoint_auth_method"] = "own-secret", login.MethodPost
					return m
				}
				w.mustCall("tools/list")
				w.auth.revoke(revoked)
				w.server.docAt = ""
				metadata := w.hosts["auth.example.com"]
				w.hosts["auth.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/.well-known/") {
						http.NotFound(rw, r)
						return
					}
					metadata.ServeHTTP(rw, r)
				})
				time.Sleep(2 * time.Hour)
				w.again()
				before := len(w.calls)
				status, err := w.call("tools/call")
				if err != nil || revoked == (status == http.StatusOK) {
					t.Errorf("got %d, %v", status, err)
				}
				for _, c := range w.calls[before:] {
					text := c.url + c.body + fmt.Sprint(c.header)
					if strings.HasPrefix(c.url, asURL+"/token") {
						continue
					}
					for _, secret := range []string{"refresh-", "own-secret", "code-"} {
						if strings.Contains(text, secret) {
							t.Errorf("%s %s was told %s", c.method, c.url, secret)
						}
					}
				}
			})
		})
	}
}

// R065: a server that refuses every token, though they can be renewed, is not
// stormed: not by logins, not by renewals, not by requests.
func TestR065NoStormOfRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.auth.refresh = true
		w.mustCall("tools/list")
		w.hosts["mcp.example.com"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.server.challenge(rw, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})
				return
			}
			w.server.ServeHTTP(rw, r)
		})
		w.slow("auth.example.com")
		before := len(w.find(http.MethodPost, mcpURL))
		for range 5 {
			if _, in := w.crowd(); in != 0 {
				t.Errorf("%d were let in", in)
			}
		}
		logins, renewals, requests := len(w.asked(asURL)), w.refreshes(), len(w.find(http.MethodPost, mcpURL))-before
		t.Logf("250 calls made %d logins, %d renewals and %d requests", logins-1, renewals, requests)
		if logins > 1+3 || renewals > 3 || requests > 250*4 {
			t.Errorf("250 calls made %d logins, %d renewals and %d requests", logins-1, renewals, requests)
		}
	})
}
