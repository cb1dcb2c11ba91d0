package client_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

func TestASeedServerIsUsedInOrder(t *testing.T) {
	s := client.NewServer(os.Args[0], asServer)
	if _, err := s.ListTools(); err == nil {
		t.Error("tools were listed before the start")
	}
	if _, err := s.Call("add", nil); err == nil {
		t.Error("a tool was called before the start")
	}
	if err := s.Close(); err != nil {
		t.Errorf("close before the start: %v", err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err == nil {
		t.Error("started twice")
	}
	tools, err := s.ListTools()
	if err != nil || len(tools) != 2 {
		t.Errorf("tools: %v, %v", tools, err)
	}
	if _, found := tools.ByName("Add"); found {
		t.Error("names are not case-sensitive")
	}
	content, err := s.Call("add", map[string]any{"a": "two"})
	var failure *client.ToolError
	if !errors.As(err, &failure) || len(content) != 1 || !strings.Contains(content[0].Text, "invalid arguments") {
		t.Errorf("a call that fails: %v, %v", content, err)
	}
	var theirs *jsonrpc.Error
	if _, err := s.Call("subtract", nil); !errors.As(err, &theirs) {
		t.Errorf("a tool that is not there: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := client.NewServer("/no/such/program").Start(); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestContentOfEveryKindHasTheSeedsForm(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			f.reply(m, `{"resultType":"complete","content":[
				{"type":"text","text":"a"},
				{"type":"image","data":"aGk=","mimeType":"image/png"},
				{"type":"audio","data":"aGk=","mimeType":"audio/wav"},
				{"type":"resource_link","uri":"u","name":"n","mimeType":"text/plain"},
				{"type":"resource","resource":{"uri":"u","text":"t","mimeType":"text/plain"}},
				{"type":"resource","resource":{"uri":"u","blob":"aGk="}},
				{"type":"hologram","x":1}]}`)
		})
	}}
	c := connect(t, s, nil)
	result, err := c.CallTool(t.Context(), "x", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []client.ToolResultContent
	for _, block := range result.Content {
		got = append(got, client.Flat(block))
	}
	want := []client.ToolResultContent{
		{Type: "text", Text: "a"},
		{Type: "image", Data: "aGk=", MimeType: "image/png"},
		{Type: "audio", Data: "aGk=", MimeType: "audio/wav"},
		{Type: "resource_link", Text: "u", MimeType: "text/plain"},
		{Type: "resource", Text: "t", MimeType: "text/plain"},
		{Type: "resource", Data: "aGk="},
		{Type: "hologram", Text: `{"type":"hologram","x":1}`},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if client.TextOf(result.Content) != "a" || client.TextOf(mcp.Contents{mcp.Text("a"), mcp.Text("b")}) != "a\nb" {
		t.Error("the text is not what was said")
	}
}

func TestAnRPCClientAnswersAndEnds(t *testing.T) {
	near, far := peer.Pipe()
	rpc := client.NewRPC(near)
	listened := make(chan error, 1)
	go func() { listened <- rpc.Listen() }() // awaited below
	if err := far.Send(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"who"}`)); err != nil {
		t.Fatal(err)
	}
	if answer, err := far.Receive(t.Context()); err != nil || !strings.Contains(string(answer), "-32601") {
		t.Errorf("answered %s, %v", answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rpc.Call(ctx, "x", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := rpc.Close(); err != nil {
		t.Error(err)
	}
	if err := <-listened; err != nil {
		t.Errorf("listen: %v", err)
	}
	if err := rpc.Call(t.Context(), "x", nil, nil); !errors.Is(err, peer.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
