package client_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func TestListsOfExtensionsAreReadLikeTheProtocols(t *testing.T) {
	s := server.New("x", "1", nil)
	s.Extension("org.example/numbers", map[string]int{"most": 6})
	calls := 0
	s.Method("numbers/list", func(_ context.Context, c *mcp.Call) (any, error) {
		calls++
		of := jsonscan.Unquote(jsonscan.Get(c.Params, "uri"))
		at, _ := strconv.Atoi(jsonscan.Unquote(jsonscan.Get(c.Params, "cursor")))
		result := map[string]any{"numbers": []any{of + strconv.Itoa(at), of + strconv.Itoa(at+1), 7}, "ttlMs": 60_000, "cacheScope": "private"}
		if at < 4 {
			result["nextCursor"] = strconv.Itoa(at + 2)
		}
		return result, nil
	})
	c := connect(t, &inMemory{handler: s}, nil)
	for range 2 {
		for _, of := range []string{"", "a:"} {
			got, err := client.Collect(client.Walk(t.Context(), c, client.List[string]{
				Method: "numbers/list", Member: "numbers", URI: of, Key: func(s *string) string { return *s },
			}))
			want := []string{of + "0", of + "1", of + "2", of + "3", of + "4", of + "5"}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("of %q: %q, %v", of, got, err)
			}
		}
	}
	if calls != 6 {
		t.Errorf("%d requests for six pages that could be kept", calls)
	}
	for id, want := range map[string]string{"org.example/numbers": `{"most":6}`, "org.example/none": ""} {
		if settings, err := c.Extension(t.Context(), id); err != nil || string(settings) != want {
			t.Errorf("%s: %s, %v", id, settings, err)
		}
	}
}

func TestExtensionDialsFirst(t *testing.T) {
	s := server.New("x", "1", nil)
	s.Extension("org.example/x", nil)
	c, err := client.New(&inMemory{handler: s}, &client.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if settings, err := c.Extension(t.Context(), "org.example/x"); err != nil || string(settings) != "{}" {
		t.Errorf("%s, %v", settings, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Extension(t.Context(), "org.example/x"); err == nil {
		t.Error("a closed client knows an extension")
	}
}
