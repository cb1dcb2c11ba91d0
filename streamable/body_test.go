package streamable_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

// chunked hides the length of a body.
type chunked struct{ io.Reader }

func TestBodiesAreCapped(t *testing.T) { // R030
	const most = 256 << 10
	s := open(t, newBench(), &streamable.Options{MaxBody: most})
	big := func(size int) string {
		body := modernBody("tools/call", `"name":"echo","arguments":{"x":"%"}`)
		return strings.Replace(body, "%", strings.Repeat("x", size-len(body)+1), 1)
	}
	tests := []struct {
		name string
		size int
		want int
	}{
		{"a small one", 1000, 200},
		{"one that outgrows the first buffer", 5000, 200},
		{"one that just fits the second", 64<<10 - 1, 200},
		{"one that fills it", 64 << 10, 200},
		{"one that outgrows it", 100_000, 200},
		{"one of the cap", most, 200},
		{"one byte more", most + 1, 413},
		{"far more", 10 * most, 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := big(tt.size)
			if len(body) != tt.size {
				t.Fatalf("the test's body has %d bytes, want %d", len(body), tt.size)
			}
			for _, reader := range []io.Reader{strings.NewReader(body), chunked{strings.NewReader(body)}} {
				req := s.request(t.Context(), http.MethodPost, "", modernHeaders("tools/call", "echo")...)
				req.Body, req.ContentLength = io.NopCloser(reader), -1
				if _, isChunked := reader.(chunked); !isChunked {
					req.ContentLength = int64(tt.size)
				}
				res, err := s.client.Do(req)
				if err != nil {
					if tt.want == 413 { // the server may close before we have sent it all
						continue
					}
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if res.StatusCode != tt.want {
					t.Errorf("length %d: got %d, want %d", req.ContentLength, res.StatusCode, tt.want)
				}
			}
		})
	}
	s.callTool("hello", "{}").wantText(t, "hello")
	t.Run("4 MiB and a byte, unless told otherwise", func(t *testing.T) {
		head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
		if got := open(t, newBench(), nil).raw(fmt.Sprintf(head, 4<<20+1)); got != 413 {
			t.Errorf("got %d, want 413", got)
		}
	})
}

func TestAnEndlessBodyCostsNoMoreThanTheCap(t *testing.T) { // R030
	const most = 1 << 20
	s := open(t, newBench(), &streamable.Options{MaxBody: most})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const clients = 5
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			req := s.request(t.Context(), http.MethodPost, "", modernHeaders("tools/call", "echo")...)
			req.Body, req.ContentLength = io.NopCloser(io.LimitReader(endless{}, 200<<20)), -1
			res, err := s.client.Do(req)
			if err != nil {
				return // closed in the middle of it
			}
			res.Body.Close()
			if res.StatusCode != 413 {
				t.Errorf("got %d, want 413", res.StatusCode)
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	// Doubling a buffer up to the cap allocates twice the cap in all; the client
	// is counted too.
	if grown := (after.TotalAlloc - before.TotalAlloc) / clients; grown > 4*most {
		t.Errorf("each body allocated %d bytes, want less than four times the cap", grown)
	}
	s.callTool("hello", "{}").wantText(t, "hello")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestLengthsThatLie(t *testing.T) { // R030
	s := open(t, newBench(), &streamable.Options{BodyTimeout: 500 * time.Millisecond})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMCP-Protocol-Version: " + newest + "\r\nMcp-Method: tools/list\r\n"
	body := modernBody("tools/list", "")
	t.Run("a claim of 4 MiB and nothing sent costs little and ends soon", func(t *testing.T) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := s.raw(head + "Content-Length: 4194304\r\n\r\n{"); got != 408 {
					t.Errorf("got %d, want 408", got)
				}
			})
		}
		wg.Wait()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 50*256<<10 {
			t.Errorf("50 empty claims allocated %d bytes", grown)
		}
	})
	t.Run("more than was claimed is not served", func(t *testing.T) {
		conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%sthis is no request\r\n\r\n", head, len(body), body)
		in := bufio.NewReader(conn)
		for _, want := range []int{200, 400} {
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("got %d, want %d", res.StatusCode, want)
			}
		}
	})
	t.Run("less than was claimed is not served", func(t *testing.T) {
		if got := s.raw(head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+1, body)); got != 408 {
			t.Errorf("got %d, want 408", got)
		}
	})
}

func TestMalformedMessages(t *testing.T) { // R001 to R011 as HTTP sees them
	s := open(t, newBench(), nil)
	c := s.join(lastSession)
	deep := strings.Repeat("[", 100_000)
	tests := []struct {
		name, body string
		code       int
		id         string
	}{
		{"no JSON", `{"jsonrpc":"2.0","id":1,`, -32700, ""},
		{"nothing", ``, -32700, ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, -32700, ""},
		{"a duplicate member", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}`, -32700, ""},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, ""},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + deep + `}}`, -32700, ""},
		{"a string", `"hello"`, -32600, ""},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, ""},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, ""},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, ""},
		{"no version", `{"id":1,"method":"ping"}`, -32600, "1"},
		{"a wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "1"},
		{"a number as method", `{"jsonrpc":"2.0","id":1,"method":5}`, -32600, "1"},
		{"the wrong case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, -32600, "1"},
		{"an array as params", `{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}`, -32602, `"x"`},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, -32600, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.post(tt.body, modernHeaders("ping", "")...).wantError(t, 400, tt.code, tt.id)
			c.post(tt.body).wantError(t, 400, tt.code, tt.id)
		})
	}
	t.Run("ids are echoed as they were written", func(t *testing.T) { // R007
		for _, id := range []string{"9007199254740993", "-9223372036854775808", `""`, `"0"`, "123456789012345678901234567890", `"\u0041"`} {
			body := strings.Replace(modernBody("tools/list", ""), `"id":1`, `"id":`+id, 1)
			for _, res := range []response{s.post(body, modernHeaders("tools/list", "")...), c.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)} {
				if got := string(parse(t, res.body).ID); got != id {
					t.Errorf("got id %s, want %s", got, id)
				}
			}
		}
	})
}
