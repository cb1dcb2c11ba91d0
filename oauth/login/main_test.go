package login_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/oauth/login"
	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	mcpURL = "https://mcp.example.com/mcp"
	asURL  = "https://auth.example.com"
)

// internet reaches handlers by the host in a URL, without a network, and writes
// down every request.
type internet struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
	calls []call
}

type call struct {
	method, url string
	header      http.Header
	form        url.Values // of the body
	body        string
}

var errNoHost = errors.New("no such host")

func newInternet() *internet { return &internet{hosts: make(map[string]http.Handler)} }

func (n *internet) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	form, _ := url.ParseQuery(string(body))
	n.mu.Lock()
	n.calls = append(n.calls, call{r.Method, r.URL.String(), r.Header.Clone(), form, string(body)})
	h := n.hosts[r.URL.Host]
	n.mu.Unlock()
	if h == nil {
		return nil, errNoHost
	}
	in := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
	in.Header = r.Header.Clone()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, in)
	res := w.Result()
	res.Request = r
	return res, nil
}

// find returns the calls whose method and URL (without its query) are these.
func (n *internet) find(method, address string) []call {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []call
	for _, c := range n.calls {
		if plain, _, _ := strings.Cut(c.url, "?"); c.method == method && plain == address {
			found = append(found, c)
		}
	}
	return found
}

// to returns the calls of a host.
func (n *internet) to(host string) []call {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []call
	for _, c := range n.calls {
		if u, _ := url.Parse(c.url); u.Host == host {
			found = append(found, c)
		}
	}
	return found
}

// story returns all calls as lines.
func (n *internet) story() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	for _, c := range n.calls {
		plain, _, _ := strings.Cut(c.url, "?")
		b.WriteString(c.method + " " + plain + "\n")
	}
	return b.String()
}

// world is an MCP server, its authorization server, and a client.
type world struct {
	*internet
	t      *testing.T
	server *resourceServer
	auth   *authServer
	grant  login.Grant
	opts   login.Options
	log    *lockedBuffer
	at     string // the server's URL, as the client knows it

	once   sync.Once
	client *login.Authorizer
}

func newWorld(t *testing.T) *world {
	n := newInternet()
	w := &world{internet: n, t: t, log: new(lockedBuffer), at: mcpURL}
	w.auth = newAuthServer(asURL)
	w.server = newResourceServer(mcpURL, w.auth)
	n.hosts["auth.example.com"], n.hosts["mcp.example.com"] = w.auth, w.server
	w.grant = &login.Code{UserAgent: login.Direct{Transport: n}}
	w.opts = login.Options{
		Transport: n,
		Logger:    slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return w
}

// authorizer makes the client when it is first used.
func (w *world) authorizer() *login.Authorizer {
	w.once.Do(func() {
		a, err := login.New(w.at, w.grant, &w.opts)
		if err != nil {
			w.t.Fatal(err)
		}
		w.client = a
	})
	return w.client
}

// again forgets the client, as if the program were started anew.
func (w *world) again() { w.client, w.once = nil, sync.Once{} }

// call sends a request as the HTTP dialer does: anew after each challenge that
// was met, at most four times. It returns the status and the error of the last.
func (w *world) call(method string) (int, error) {
	a := w.authorizer()
	for tries := 0; ; tries++ {
		r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.at, strings.NewReader(method))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Mcp-Protocol-Version", "whatever")
		if err := a.Authorize(w.t.Context(), r); err != nil {
			return 0, err
		}
		res, err := w.RoundTrip(r)
		if err != nil {
			return 0, err
		}
		refused := res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
		if !refused || tries == 3 {
			return res.StatusCode, nil
		}
		again, err := a.Challenge(w.t.Context(), res)
		if err != nil || !again {
			return res.StatusCode, err
		}
	}
}

// mustCall fails the test unless the server answers.
func (w *world) mustCall(method string) {
	w.t.Helper()
	if status, err := w.call(method); err != nil || status != http.StatusOK {
		w.t.Fatalf("%s: status %d, %v\n%s", method, status, err, w.story())
	}
}

// mustFail wants an error that matches, and returns its text.
func (w *world) mustFail(method string, want error) string {
	w.t.Helper()
	status, err := w.call(method)
	if !errors.Is(err, want) {
		w.t.Fatalf("%s: status %d, error %v, want %v\n%s", method, status, err, want, w.story())
	}
	return err.Error()
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
