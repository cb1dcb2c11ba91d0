package pairs_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
)

// fixture is a server with something of everything that a story tells.
type fixture struct {
	*server.Server
	started, stopped chan struct{} // the tool wait
}

const note = "memo://note"

func newFixture() *fixture {
	f := &fixture{server.New("pairs", "1", nil), make(chan struct{}), make(chan struct{})}
	server.Tool(f.Server, "add", "", func(_ context.Context, in struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (struct {
		Sum int `json:"sum"`
	}, error) {
		return struct {
			Sum int `json:"sum"`
		}{in.A + in.B}, nil
	})
	f.AddTool(mcp.Tool{Name: "ask"}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
		answer, err := c.Sample("colour", &mcp.CreateMessageParams{
			Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.Contents{mcp.Text("Which colour?")}}}, MaxTokens: 9,
		})
		if err != nil {
			return "", err
		}
		return client.TextOf(answer.Content), nil
	}))
	server.Tool(f.Server, "touch", "", func(context.Context, struct{}) (string, error) {
		f.ResourceUpdated(note)
		return "touched", nil
	})
	server.Tool(f.Server, "wait", "", func(ctx context.Context, _ struct{}) (string, error) {
		close(f.started)
		<-ctx.Done()
		close(f.stopped)
		return "", ctx.Err()
	})
	f.AddResource(mcp.Resource{URI: note, Name: "note"}, func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("nobody reads it")
	})
	return f
}

// connect dials as a client of one side would.
func (r *rig) connect(from side) (*client.Client, error) {
	return client.Connect(r.t.Context(), r.dialer, &client.Options{
		Info:     mcp.Implementation{Name: "pair", Version: "1"},
		Revision: from.revisions,
		Logger:   quiet,
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.Contents{mcp.Text("red")}}, nil
		},
	})
}

// converse tells the story after the greeting. Each step ends when all that
// belongs to it has come, so that a recording is the same every time.
func (r *rig) converse(c *client.Client, f *fixture) {
	t, ctx := r.t, r.t.Context()
	if r.http != nil && revision.Lookup(c.Server().Revision).Sessions {
		r.await("the session's own stream", func() bool { return r.http.last("GET") == " 200 text/event-stream" })
	}
	if tools, err := client.Collect(c.Tools(ctx)); err != nil || len(tools) != 4 {
		t.Errorf("list: %v, %v", tools, err)
	}
	call := func(ctx context.Context, tool string, arguments any, want string) {
		t.Helper()
		result, err := c.CallTool(ctx, tool, arguments, nil)
		if err != nil {
			t.Errorf("call %s: %v", tool, err)
		} else if got := client.TextOf(result.Content); got != want {
			t.Errorf("call %s: got %s, want %s", tool, got, want)
		}
	}
	call(ctx, "add", jsontext.Value(`{"a":2,"b":3}`), `{"sum":5}`)
	call(ctx, "ask", nil, "red")

	events := make(chan mcp.Event, 1)
	sub, err := c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{note}}, func(e mcp.Event) { events <- e })
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	call(ctx, "touch", nil, "touched")
	if e := <-events; e.URI != note {
		t.Errorf("got the event %+v", e)
	}
	r.cancel(c, f)
	sub.Close()
	if err := sub.Err(); err != nil {
		t.Errorf("the subscription ended with %v", err)
	}
}

// cancel gives up a call when the server is at it, and waits until the server has
// heard.
func (r *rig) cancel(c *client.Client, f *fixture) {
	ctx, giveUp := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { // awaited below
		_, err := c.CallTool(ctx, "wait", nil, nil)
		done <- err
	}()
	<-f.started
	spoken := revision.Lookup(c.Server().Revision)
	if r.http != nil && !spoken.Sessions && !spoken.Stateless {
		r.await("the call to be accepted", func() bool { return r.http.last("POST tools/call") == " 202" })
	}
	giveUp()
	if err := <-done; !errors.Is(err, context.Canceled) {
		r.t.Errorf("the call that was given up ended with %v", err)
	}
	<-f.stopped
	if r.http != nil && !spoken.Stateless {
		r.await("the cancellation to be accepted", func() bool { return r.http.last("POST notifications/cancelled") == " 202" })
	}
}

// finish ends the conversation, compares it with the story in the file, or
// writes that.
func (r *rig) finish(path, title, spoken string, c *client.Client) {
	t := r.t
	if c != nil {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	r.close()
	if err := r.recorder.Close(); err != nil {
		t.Fatal(err)
	}
	comment := title + "\nrevision: " + spoken + "\n"
	if r.http != nil {
		comment += "\n" + r.http.String()
	}
	got := tidy(comment+"\n", r.recording.Bytes())
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s tells another story (go test -args -update rewrites it):\n%s", path, difference(string(want), string(got)))
	}
}

// tidy gives a recording another comment and an end. What the server says in one
// section may come in any order, and is sorted. A ping that describes itself,
// which tells servers of the other era, is marked as of neither era.
func tidy(comment string, recording []byte) []byte {
	story := txtar.Parse(recording)
	story.Comment = []byte(comment)
	mark := ""
	for i := range story.Files {
		file := &story.Files[i]
		if !strings.HasPrefix(file.Name, "server") {
			mark = ""
			if text := string(file.Data); strings.Contains(text, `"ping"`) && strings.Contains(text, mcp.MetaProtocolVersion) {
				mark = " invalid"
			}
			file.Name += mark
			continue
		}
		var messages []string
		for line := range strings.Lines(string(file.Data)) {
			if last := len(messages) - 1; strings.HasPrefix(line, " ") && last >= 0 {
				messages[last] += line
			} else {
				messages = append(messages, line)
			}
		}
		if file.Name = "server"; len(messages) > 1 {
			file.Name = "server any order"
		}
		file.Name += mark
		slices.Sort(messages)
		file.Data = []byte(strings.Join(messages, ""))
	}
	story.Files = append(story.Files, txtar.File{Name: "end"})
	return txtar.Format(story)
}

// difference shows the first line in which two texts differ.
func difference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return "want: " + wants[i] + "\ngot:  " + gots[i]
		}
	}
	return "one is longer than the other"
}
