package mcptest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
)

// head is the comment of a story in a test.
var head = "A story.\nrevision: " + revision.NewestHandshake().Name + "\n\n"

func parse(t *testing.T, sections string) *mcptest.Transcript {
	t.Helper()
	story, err := mcptest.ParseTranscript("story.txtar", []byte(head+sections))
	if err != nil {
		t.Fatal(err)
	}
	return story
}

func TestATranscriptIsReadWithItsLines(t *testing.T) {
	story, err := mcptest.ParseTranscript("s.txtar", []byte(
		"Prose, with: a colon.\nrevision: R\r\nserver:  small \n\n-- client --\n{\"a\":\n  1,\n\t\"b\":2}\n\nnot json\n-- server any order invalid --\n[1]\n-- end --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if story.Revision != "R" || story.Server != "small" || len(story.Sections) != 3 {
		t.Fatalf("got %+v", story)
	}
	client, server, end := story.Sections[0], story.Sections[1], story.Sections[2]
	if client.Kind != mcptest.Client || client.Line != 5 || client.Invalid || len(client.Lines) != 2 {
		t.Errorf("the client's section is %+v", client)
	}
	if first, second := client.Lines[0], client.Lines[1]; first.Text != `{"a": 1, "b":2}` || first.Number != 6 || second.Text != "not json" || second.Number != 10 {
		t.Errorf("the client's lines are %+v", client.Lines)
	}
	if server.Kind != mcptest.Server || !server.AnyOrder || !server.Invalid || server.Lines[0].Number != 12 {
		t.Errorf("the server's section is %+v", server)
	}
	if end.Kind != mcptest.End || end.Kind.String() != "end" {
		t.Errorf("the end is %+v", end)
	}
}

func TestABadTranscriptIsRefusedWithTheLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no revision", "Prose.\n-- client --\n", "s.txtar: a line in front"},
		{"two revisions", "revision: a\nrevision: b\n-- client --\n", "s.txtar:2: a second"},
		{"no sections", "revision: a\n", "no sections"},
		{"a section of another name", "revision: a\n-- clint --\n", "s.txtar:2: section"},
		{"a word too many", "revision: a\n-- server in order --\n", `s.txtar:2: section "server in order": cannot`},
		{"an order for the client", "revision: a\n-- client any order --\n", "s.txtar:2: section"},
		{"an end that is invalid", "revision: a\n-- end invalid --\n", "s.txtar:2: section"},
		{"lines in an end", "revision: a\n-- end --\n\n{}\n", "s.txtar:4: nobody speaks"},
		{"an indented start", "revision: a\n-- client --\n  {}\n", "s.txtar:3: the first message is indented"},
		{"a server that sends no JSON", "revision: a\n-- server --\n{}\n{\n", "s.txtar:4: what the server sends is no JSON"},
		{"a server that sends a member twice", "revision: a\n-- server --\n{\"a\":1,\"a\":1}\n", "s.txtar:3: what the server sends is no JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := mcptest.ParseTranscript("s.txtar", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestAFolderWithoutTranscriptsIsAnError(t *testing.T) {
	dir := t.TempDir()
	if _, err := mcptest.Find(dir); err == nil {
		t.Error("an empty folder is accepted")
	}
	if _, err := mcptest.Find(filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that is not there is accepted")
	}
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one.txtar", "two.txt"} {
		if err := os.WriteFile(filepath.Join(deep, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := mcptest.Find(dir); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want one.txtar", found, err)
	}
}

func TestMessagesAreComparedAsJSON(t *testing.T) {
	for _, test := range []struct{ name, want, got, diff string }{
		{"white space and order do not matter", `{"a":1,"b":[1,2]}`, ` {"b" : [ 1 , 2 ] , "a":1}`, ""},
		{"escapes do not matter", `{"a":"é/"}`, `{"a":"\u00e9\/"}`, ""},
		{"numbers are compared as they are written", `1.0`, `1`, "got 1, want 1.0"},
		{"the order of an array matters", `[1,2]`, `[2,1]`, "[0]: got 2, want 1"},
		{"a missing member", `{"a":{"b":1}}`, `{"a":{}}`, "a.b: got nothing, want 1"},
		{"a member too many", `{"a":{}}`, `{"a":{"b":null}}`, "a.b: got null, want nothing"},
		{"a missing element", `[1,2]`, `[1]`, "[1]: got nothing, want 2"},
		{"an element too many", `{"l":[1]}`, `{"l":[1,[2]]}`, "l[1]: got [2], want nothing"},
		{"another kind", `{"a":1}`, `{"a":"1"}`, `a: got "1", want 1`},
		{"another string", `{"a":"x"}`, `{"a":"y"}`, `a: got "y", want "x"`},
		{"null is not absence", `{"a":null}`, `{}`, "a: got nothing, want null"},
		{"what is no JSON", `{}`, `{`, "no JSON"},
		{"anything", `{"a":"…"}`, `{"a":[{}]}`, ""},
		{"anything must be there", `{"a":"…"}`, `{}`, `a: got nothing`},
		{"any text within a text", `"from … to …"`, `"from here\nto there"`, `from`},
		{"any text over lines", `"from …to …"`, `"from here\nto there"`, ""},
		{"any text is a text", `"x…"`, `7`, "got 7"},
		{"a pattern's other characters stand for themselves", `"a.c…"`, `"abc"`, "abc"},
		{"a capture takes any value", `{"a":"{{x}}","b":"{{x}}"}`, `{"a":[1],"b":[1]}`, ""},
		{"a capture keeps its value", `["{{x}}","{{x}}"]`, `[1,2]`, "as {{x}} was before"},
		{"a capture within a text", `["id {{x}}.","{{x}}"]`, `["id 7.","7"]`, ""},
		{"a capture within a text keeps its value", `["{{x}}","id {{x}}."]`, `["7","id 8."]`, `got "id 8."`},
	} {
		t.Run(test.name, func(t *testing.T) {
			diffs := strings.Join(mcptest.Compare(test.want, test.got), "\n")
			if (diffs == "") != (test.diff == "") || !strings.Contains(diffs, test.diff) {
				t.Errorf("the differences are %q, want %q", diffs, test.diff)
			}
		})
	}
}

func TestAWrongTranscriptFails(t *testing.T) {
	const (
		askPing = "-- client --\n" + ping + "\n"
		two     = "-- client --\n" + ping + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
		answer1 = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		answer2 = `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n"
	)
	for _, test := range []struct{ name, story, want string }{
		{"the right one passes", askPing + "-- server --\n" + answer1, ""},
		{"any order passes", two + "-- server any order --\n" + answer2 + answer1, ""},
		{"an end passes", askPing + "-- server --\n" + answer1 + "-- end --\n", ""},
		{"another value", askPing + "-- server --\n" + answer2, "story.txtar:7: the server said something else:\n\tid: got 1, want 2"},
		{"a message that does not come", askPing + "-- server --\n" + answer1 + answer2, "story.txtar:8: nothing came in time\n\twant: {"},
		{"a message that does not come, in any order", askPing + "-- server any order --\n" + answer2 + answer1, "story.txtar:6: only 1 of 2 messages came"},
		{"a message too many", askPing, "went on:\n\tgot:  {"},
		{"a message after the end", askPing + "-- end --\n", "the story is over"},
		{"one of several in any order", two + "-- server any order --\n" + answer2 + `{"jsonrpc":"2.0","id":1,"result":{"x":1}}` + "\n", "story.txtar:9: the server said something else:\n\tresult.x: got nothing, want 1"},
		{"a name that nothing has", "-- client --\n" + `{"id":"{{x}}"}` + "\n", "story.txtar:5: send: nothing was captured under the name x"},
		{"a client that goes on after the end", "-- end --\n" + askPing, "story.txtar:6: send:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var err error
				said := failures(func(tb testing.TB) {
					err = parse(t, test.story).Replay(mcptest.Connect(tb, fixture(t, ""), nil))
				})
				if said != "" {
					t.Errorf("the test said %q", said)
				}
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v\nwant %s", err, test.want)
				}
			})
		})
	}
}

func TestBatchesMatchInAnyOrder(t *testing.T) {
	story := func(answers string) *mcptest.Transcript {
		rev := revision.All()[1].Name // the one with batches
		init := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + rev + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		return parse(t, "-- client --\n"+init+"\n-- server --\n"+`{"jsonrpc":"2.0","id":0,"result":"…"}`+"\n-- client --\n"+
			`[`+ping+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`+"\n-- server any order --\n"+answers+"\n")
	}
	a, b := `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`
	for _, answers := range []string{"[" + a + "," + b + "]", "[" + b + "," + a + "]"} {
		if err := story(answers).Replay(mcptest.Connect(t, fixture(t, ""), nil)); err != nil {
			t.Error(err)
		}
	}
	if err := story("[" + a + "," + a + "]").Replay(mcptest.Connect(t, fixture(t, ""), nil)); err == nil {
		t.Error("a batch with an answer twice is accepted")
	}
}

func TestAnUpdateKeepsWhatMatches(t *testing.T) {
	const story = `-- client --
{"jsonrpc":"2.0","id":1,"method":"ping"}
-- server --
{"jsonrpc":"2.0", "id":"{{id}}",
  "result":{}}
-- client --
{"jsonrpc":"2.0","id":"{{id}}","method":"tools/dance"}
-- server --
{"jsonrpc":"2.0","id":"{{id}}","error":{"code":-1,"message":"Method …"}}
{"jsonrpc":"2.0","method":"never"}
-- client --
{"jsonrpc":"2.0","id":3,"method":"ping"}
-- client --
{"jsonrpc":"2.0","method":"notifications/x"}
`
	const want = `-- client --
{"jsonrpc":"2.0","id":1,"method":"ping"}
-- server --
{"jsonrpc":"2.0", "id":"{{id}}",
  "result":{}}
-- client --
{"jsonrpc":"2.0","id":"{{id}}","method":"tools/dance"}
-- server --
{"jsonrpc":"2.0","id":"{{id}}","error":{"code":-32601,"message":"Method …"}}
-- client --
{"jsonrpc":"2.0","id":3,"method":"ping"}
-- server --
{"jsonrpc":"2.0","id":3,"result":{}}
-- client --
{"jsonrpc":"2.0","method":"notifications/x"}
`
	synctest.Test(t, func(t *testing.T) {
		got, err := mcptest.Update(parse(t, story), mcptest.Connect(t, fixture(t, ""), nil))
		if err != nil || got != head+want {
			t.Errorf("got %v\n%s\nwant\n%s", err, got, head+want)
		}
		if err := parse(t, want).Replay(mcptest.Connect(t, fixture(t, ""), nil)); err != nil {
			t.Errorf("the updated story does not replay: %v", err)
		}
	})
}

func TestAnUpdateAddsTheEnd(t *testing.T) {
	late := mcp.HandlerFunc(func(ctx context.Context, _ *mcp.Call) (any, error) {
		<-ctx.Done()
		return jsontext.Value(`{"late":true}`), nil
	})
	synctest.Test(t, func(t *testing.T) {
		got, err := mcptest.Update(parse(t, "-- client --\n"+`{"jsonrpc":"2.0","id":1,"method":"late"}`+"\n"), mcptest.Connect(t, late, nil))
		want := "-- end --\n-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{"late":true}}` + "\n"
		if err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("got %v\n%s\nwant the end\n%s", err, got, want)
		}
	})
}

func TestLongMessagesAreLaidOut(t *testing.T) {
	short := `{"jsonrpc":"2.0","id":1,"result":{}}`
	if got := mcptest.Layout(" " + short); got != short {
		t.Errorf("a short message became %s", got)
	}
	if got := mcptest.Layout("{"); got != "{" {
		t.Errorf("what is no JSON became %s", got)
	}
	got := mcptest.Layout(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"` + strings.Repeat("a", 90) + `","x":[1,2]},{"name":"b"}]}}`)
	want := `{"jsonrpc":"2.0","id":1,"result":{"tools":[
      {"name":"` + strings.Repeat("a", 90) + `","x":[1,2]},
      {"name":"b"}]}}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzLayout(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"` + strings.Repeat("a", 200) + `"}]}}`)
	f.Add(`[[[[["` + strings.Repeat("b", 100) + `"],{"c":{}}]]],1]`)
	f.Add("{\"\x80\":0,\"\":\"" + strings.Repeat("d", 200) + "\"}") // no UTF-8
	f.Add(`{"\u0065":0,"e":"` + strings.Repeat("e", 200) + `"}`)
	f.Fuzz(func(t *testing.T, text string) {
		flat := jsontext.Value(text)
		if flat.Compact() != nil {
			return
		}
		out := mcptest.Layout(text)
		for i, line := range strings.Split(out, "\n") {
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Fatalf("line %d is not indented:\n%s", i+1, out)
			}
		}
		if back := jsontext.Value(out); back.Compact() != nil || string(back) != string(flat) {
			t.Fatalf("laid out it reads\n%s\nwant\n%s", back, flat)
		}
	})
}

func FuzzParseTranscript(f *testing.F) {
	f.Add(head + "-- client --\n{\"a\":\n  1}\n-- server any order --\n[1]\n-- end --\n")
	f.Add("revision: x\n-- server invalid --\n\"…\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		story, err := mcptest.ParseTranscript("f", []byte(text))
		if err != nil {
			return
		}
		written := mcptest.Format(story)
		again, err := mcptest.ParseTranscript("f", []byte(written))
		if err != nil {
			t.Fatalf("written and read again: %v\n%q", err, written)
		}
		if twice := mcptest.Format(again); twice != written {
			t.Fatalf("written twice it is\n%q\nonce\n%q", twice, written)
		}
	})
}
