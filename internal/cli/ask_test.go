package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
)

// typing returns an asker at which somebody types text.
func typing(t *testing.T, text string) (*asker, *strings.Builder) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	out := &strings.Builder{}
	return &asker{in: file, out: out, force: true}, out
}

const personForm = `{"type":"object","properties":{
	"name":{"type":"string","description":"Your name","minLength":2},
	"age":{"type":"integer","minimum":0,"default":30},
	"plan":{"type":"string","enum":["free","paid"]},
	"news":{"type":"boolean"}},"required":["name","plan"]}`

func TestFormsAreFilledInAtTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		name, typed, content string
		action               mcp.ElicitAction
	}{
		{"every field", "y\nAda\n36\nfree\ntrue\n", `{"name":"Ada","age":36,"plan":"free","news":true}`, mcp.ElicitAccept},
		{"defaults and optional fields", "\nAda\n\npaid\n\n", `{"name":"Ada","age":30,"plan":"paid"}`, mcp.ElicitAccept},
		{"asked again until it fits", "y\nA\nAda\n-1\n7\ngold\nfree\n\n", `{"name":"Ada","age":7,"plan":"free"}`, mcp.ElicitAccept},
		{"no", "n\n", "", mcp.ElicitDecline},
		{"the end", "", "", mcp.ElicitCancel},
		{"the end in between", "y\nAda\n", "", mcp.ElicitCancel},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, out := typing(t, tc.typed)
			got, err := a.form(t.Context(), &mcp.ElicitParams{Message: "Who\nare you?", RequestedSchema: jsontext.Value(personForm)})
			if err != nil || got.Action != tc.action || string(got.Content) != tc.content {
				t.Errorf("got %+v, %v\n%s", got, err, out)
			}
			if !strings.Contains(out.String(), "The server asks: Who are you?") {
				t.Error(out)
			}
		})
	}
}

func TestAddressesAreShownAndNotOpened(t *testing.T) {
	for typed, want := range map[string]mcp.ElicitAction{"y\n": mcp.ElicitAccept, "\n": mcp.ElicitDecline, "": mcp.ElicitCancel} {
		a, out := typing(t, typed)
		got, err := a.visit(t.Context(), &mcp.ElicitParams{Message: "Sign in", URL: "https://example.com/x\x1b[2J"})
		if err != nil || got != want || !strings.Contains(out.String(), "https://example.com/x[2J") {
			t.Errorf("%q: %v, %v\n%q", typed, got, err, out)
		}
	}
}

func TestWithoutATerminalNobodyIsAsked(t *testing.T) {
	a, _ := typing(t, "y\n")
	a.force = false
	if _, err := a.form(t.Context(), &mcp.ElicitParams{RequestedSchema: jsontext.Value(personForm)}); !errors.Is(err, errNoTerminal) {
		t.Errorf("form: %v", err)
	}
}

func TestContentsArePrintedOrSaved(t *testing.T) {
	dir := t.TempDir()
	var out, notes strings.Builder
	err := printContents(&out, &notes, dir, mcp.Contents{
		mcp.Text("hello"), mcp.Image([]byte("png!"), "image/png"), mcp.Audio([]byte("wav!"), "audio/wav"),
		mcp.Embed(mcp.ResourceContents{URI: "a:b", Text: "embedded"}), mcp.Embed(mcp.ResourceContents{URI: "a:c", Blob: []byte{1}, MIMEType: "../../evil"}),
		mcp.Link(mcp.Resource{URI: "a:d", Name: "linked"}),
	})
	if err != nil || out.String() != "hello\nembedded\na:d linked\n" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 3 || strings.Count(notes.String(), "saved ") != 3 {
		t.Errorf("files %v\n%s", files, notes.String())
	}
	if pngs, _ := filepath.Glob(filepath.Join(dir, "image-*.png")); len(pngs) != 1 {
		t.Errorf("files %v", files)
	}
}

func TestTheBarSaysHowFar(t *testing.T) {
	total := 200.0
	if got := barText(&mcp.ProgressParams{Progress: 100, Total: &total}); got != "["+strings.Repeat("#", 15)+strings.Repeat(" ", 15)+"]  50%" {
		t.Errorf("%q", got)
	}
	if got := barText(&mcp.ProgressParams{Progress: 3}); got != "3" {
		t.Errorf("%q", got)
	}
}
