package mcptest_test

import (
	"context"
	"flag"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

var _ = flag.Bool("update", false, "rewrite the transcripts from what the servers say now")

// TestTranscripts replays a story for every method in every revision.
func TestTranscripts(t *testing.T) { mcptest.Transcripts(t, "testdata/transcripts", fixture) }

// fixture returns one of the servers that the transcripts name.
func fixture(t *testing.T, name string) mcp.Handler {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	switch name {
	case "":
		return everything(&server.Options{Logger: quiet})
	case "introduced":
		return everything(&server.Options{
			Title: "Fixture", Description: "A server to be tested with", WebsiteURL: "https://example.com/fixture",
			Icons:        []mcp.Icon{{Src: "https://example.com/fixture.png", MIMEType: "image/png", Sizes: []string{"48x48"}}},
			Instructions: "Ask it anything.", Logger: quiet,
		})
	case "listed":
		return listed(quiet)
	case "paged":
		return paged(quiet)
	case "bare":
		return server.New("bare", "1.0.0", &server.Options{Logger: quiet})
	}
	t.Fatalf("there is no server %q", name)
	return nil
}

// everything is a server with a feature of each kind.
func everything(opts *server.Options) *server.Server {
	s := server.New("fixture", "1.0.0", opts)
	addPlainTools(s)
	addSpeakingTools(s)
	addAskingTools(s)
	addChangingTools(s)
	addResources(s)
	addPrompts(s)
	s.Method("example/echo", func(_ context.Context, c *mcp.Call) (any, error) {
		return struct {
			Echo   string `json:"echo"`
			Client string `json:"client"`
		}{string(jsonscan.Get(c.Params, "say")), c.Client.Info.Name}, nil
	})
	s.Extension("com.example/stamp", map[string]bool{"ink": true})
	return s
}

// listed is a server whose lists are short and whose descriptions are full.
func listed(log *slog.Logger) *server.Server {
	s := server.New("listed", "1.0.0", &server.Options{FixedLists: true, ListTTL: time.Minute, Logger: log})
	addListedTools(s)
	icon := []mcp.Icon{{Src: "data:image/png;base64,iVBORw0KGgo=", MIMEType: "image/png", Sizes: []string{"16x16"}, Theme: "light"}}
	high, size := 1.0, int64(11)
	s.AddResource(mcp.Resource{
		URI: "memo://note", Name: "note", Title: "A note", Description: "Some text", MIMEType: "text/plain",
		Size: &size, Icons: icon, Meta: mcp.Meta(`{"com.example/shelf":1}`),
		Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: &high, LastModified: "2025-01-12T15:00:58Z"},
	}, readText("Hello notes"))
	s.AddTemplate(mcp.ResourceTemplate{
		URITemplate: "memo://page/{number}", Name: "page", Title: "A page", MIMEType: "text/plain", Icons: icon,
		Annotations: &mcp.Annotations{LastModified: "2025-01-12T15:00:58Z"}, Meta: mcp.Meta(`{"com.example/shelf":2}`),
	}, readText("A page"))
	s.AddPrompt(mcp.Prompt{
		Name: "greet", Title: "Greeting", Description: "Greet someone", Icons: icon,
		Arguments: []mcp.PromptArgument{{Name: "name", Title: "Name", Required: true}, {Name: "tone", Description: "How"}},
		Meta:      mcp.Meta(`{"com.example/shelf":3}`),
	}, greet)
	return s
}

// paged is a server whose pages hold two entries.
func paged(log *slog.Logger) *server.Server {
	s := server.New("paged", "1.0.0", &server.Options{PageSize: 2, Logger: log})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		server.Tool(s, name, "", func(context.Context, struct{}) (string, error) { return name, nil })
		s.AddResource(mcp.Resource{URI: "memo://" + name, Name: name}, readText(name))
		s.AddTemplate(mcp.ResourceTemplate{URITemplate: "memo://" + name + "/{x}", Name: name}, readText(name))
		s.AddPrompt(mcp.Prompt{Name: name}, greet)
	}
	return s
}

func readText(text string) server.ReadFunc {
	return func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{{Text: text}}, nil
	}
}

func addResources(s *server.Server) {
	s.AddResource(mcp.Resource{URI: "memo://note", Name: "note", MIMEType: "text/plain"}, readText("Hello notes"))
	s.AddResource(mcp.Resource{URI: "memo://pixel", Name: "pixel", MIMEType: "image/gif"},
		func(context.Context, *mcp.Call, server.ReadRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{{Blob: []byte("GIF89a"), Meta: mcp.Meta(`{"com.example/shelf":4}`)}}, nil
		})
	s.AddResource(mcp.Resource{URI: "memo://locked", Name: "locked"},
		func(_ context.Context, c *mcp.Call, _ server.ReadRequest) ([]mcp.ResourceContents, error) {
			answer, err := c.Elicit("key", form("Which key?", "key"))
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{{Text: "unlocked: " + string(answer.Action)}}, nil
		})
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "memo://page/{number}", Name: "page", MIMEType: "text/plain"},
		func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			if n, err := strconv.Atoi(r.Vars["number"]); err != nil || n > 100 {
				return nil, &mcp.ResourceNotFoundError{URI: r.URI}
			}
			return []mcp.ResourceContents{{Text: "Page " + r.Vars["number"]}}, nil
		})
	s.CompleteTemplate("memo://page/{number}", func(_ context.Context, _ *mcp.Call, r server.CompleteRequest) ([]string, error) {
		var pages []string
		for n := range 120 {
			if page := strconv.Itoa(n); strings.HasPrefix(page, r.Value) {
				pages = append(pages, page)
			}
		}
		return pages, nil
	})
}

func addPrompts(s *server.Server) {
	s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name", Required: true}, {Name: "tone"}}}, greet)
	s.AddPrompt(mcp.Prompt{Name: "interview"}, func(_ context.Context, c *mcp.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
		answer, err := c.Elicit("topic", form("About what?", "topic"))
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
			{Role: mcp.RoleUser, Content: mcp.Text("Interview me: " + string(answer.Content))},
		}}, nil
	})
	s.CompletePrompt("greet", func(_ context.Context, _ *mcp.Call, r server.CompleteRequest) ([]string, error) {
		if r.Given["name"] == "the king" {
			return []string{"formal"}, nil
		}
		return []string{"formal", "friendly"}, nil
	})
}

func greet(_ context.Context, _ *mcp.Call, arguments map[string]string) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Description: "A greeting", Messages: []mcp.PromptMessage{
		{Role: mcp.RoleUser, Content: mcp.Text("Greet " + arguments["name"] + " " + arguments["tone"])},
		{Role: mcp.RoleAssistant, Content: mcp.Audio([]byte("hum"), "audio/wav")},
		{Role: mcp.RoleUser, Content: mcp.Embed(mcp.ResourceContents{URI: "memo://note", Text: "Hello notes"})},
	}}, nil
}
