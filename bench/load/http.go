package load

import (
	"fmt"
	"time"
)

// HTTP is a server that listens on an address, with its endpoint at /mcp.
type HTTP struct {
	era     Era
	addr    string
	session string // of the legacy era
}

// OpenHTTP greets a server as its era wants.
func OpenHTTP(addr string, era Era) (*HTTP, error) {
	h := &HTTP{era: era, addr: addr}
	if era != Legacy {
		return h, nil
	}
	w, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer w.conn.Close()
	h.session, err = h.greet(w)
	return h, err
}

// greet opens a session on a connection and returns its id.
func (h *HTTP) greet(w *wire) (string, error) {
	body := Legacy.body(1, "initialize", initializeParams[1:len(initializeParams)-1], "")
	res, err := w.exchange(post(h.addr, body), 20*time.Second)
	if err != nil {
		return "", fmt.Errorf("greet the server: %w", err)
	}
	if res.status != 200 || res.session == "" {
		return "", fmt.Errorf("the server greets with status %d, session %q: %s", res.status, res.session, abridged(res.body))
	}
	if err := res.messages(checkGreeting); err != nil {
		return "", err
	}
	session := res.session
	res, err = w.exchange(post(h.addr, []byte(initialized), h.headersFor(session)...), 20*time.Second)
	if err == nil && res.status != 202 {
		err = fmt.Errorf("status %d after the greeting: %s", res.status, abridged(res.body))
	}
	return session, err
}

func (h *HTTP) headersFor(session string) []string {
	return []string{"MCP-Protocol-Version: " + legacyDate, "Mcp-Session-Id: " + session}
}

// headers are those of a request for a method and, if it calls one, a tool.
func (h *HTTP) headers(method, tool string) []string {
	if h.era == Legacy {
		return h.headersFor(h.session)
	}
	lines := []string{"MCP-Protocol-Version: " + modernDate, "Mcp-Method: " + method}
	if tool != "" {
		lines = append(lines, "Mcp-Name: "+tool)
	}
	return lines
}

// Run sends work over as many connections as requests are to be in flight, and
// waits for every answer.
func (h *HTTP) Run(w *Work, o Options) (Result, error) {
	o = o.withDefaults()
	run := &httpRun{o: o, work: w, opens: time.Now().Add(o.Warmup)}
	headers := h.headers(w.method, w.tool)
	bodies := w.requests(h.era)
	lines := make([]*line, o.InFlight)
	for i := range lines {
		conn, err := dial(h.addr)
		if err != nil {
			return Result{}, err
		}
		defer conn.conn.Close()
		lines[i] = &line{run: run, wire: conn, judge: newJudge(w), turn: i}
		for _, body := range bodies {
			lines[i].requests = append(lines[i].requests, post(h.addr, body, headers...))
			lines[i].idAt = append(lines[i].idAt, len(lines[i].requests[len(lines[i].requests)-1])-len(body)+len(head))
		}
	}
	if len(lines) == 1 {
		return run.single(lines[0])
	}
	return run.all(lines)
}

// Finish does nothing: over HTTP, what is too much shows in each response.
func (h *HTTP) Finish() error { return nil }
