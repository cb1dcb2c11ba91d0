package skills_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

// about is the text of a SKILL.md.
func about(name string) string {
	return "---\nname: " + name + "\ndescription: About " + name + "\n---\n\nDo it.\n"
}

// folder makes a file system of pairs of names and contents.
func folder(pairs ...string) fstest.MapFS {
	files := make(fstest.MapFS)
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), ModTime: time.Unix(1, 0)}
	}
	return files
}

func serve(t testing.TB, fsys fs.FS, opts *skills.Options) *server.Server {
	t.Helper()
	s := server.New("test", "1", nil)
	if err := skills.Serve(s, fsys, opts); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask makes a Call and decodes its result; it returns the code of an error.
func ask(t testing.TB, s *server.Server, method string, params map[string]any, into any) (code int) {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Handle(t.Context(), &mcp.Call{Method: method, Params: text, Client: &mcp.Client{}})
	var refused *jsonrpc.Error
	var missing *mcp.ResourceNotFoundError
	switch {
	case errors.As(err, &missing):
		return jsonrpc.CodeInvalidParams
	case errors.As(err, &refused):
		return refused.Code
	case err != nil:
		return jsonrpc.CodeInternalError
	}
	if memo, ok := result.(*mcp.Memo); ok {
		result = memo.Result
	}
	if text, err = json.Marshal(result); err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	return 0
}

func read(t testing.TB, s *server.Server, uri string) (*mcp.ResourceContents, int) {
	t.Helper()
	var result mcp.ReadResourceResult
	if code := ask(t, s, mcp.MethodReadResource, map[string]any{"uri": uri}, &result); code != 0 {
		return nil, code
	}
	return &result.Contents[0], 0
}

func TestSkillsAreOfferedWithAllTheirFiles(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\xff"
	s := serve(t, folder(
		"refunds/SKILL.md", about("refunds"),
		"refunds/examples/an email.md", "Dear customer",
		"refunds/assets/logo.png", png,
		"refunds/LICENSE", "MIT",
		"refunds/.env", "SECRET=1",
		"refunds/.git/config", "secret",
		"README.md", "not of a skill",
	), &skills.Options{Prefix: "acme/billing", TTL: time.Minute, Public: true})

	var listed struct {
		skills.ListResult
		Skills []skills.Skill `json:"skills"`
	}
	if code := ask(t, s, skills.MethodList, nil, &listed); code != 0 || len(listed.Skills) != 1 {
		t.Fatalf("list: %d, %+v", code, listed)
	}
	if listed.TTLMs != 60_000 || listed.CacheScope != mcp.CachePublic || listed.NextCursor != nil {
		t.Errorf("hints: %+v", listed.ListResult)
	}
	const root = "skill://acme/billing/refunds/"
	skill := listed.Skills[0]
	if err := skill.Check(); err != nil {
		t.Error(err)
	}
	if skill.URI != root+"SKILL.md" || string(skill.Frontmatter) != `{"name":"refunds","description":"About refunds"}` {
		t.Errorf("%+v", skill)
	}
	types := map[string]string{"SKILL.md": "text/markdown", "examples/an%20email.md": "text/markdown", "assets/logo.png": "image/png", "LICENSE": "text/plain"}
	if len(skill.Files) != len(types) {
		t.Errorf("files: %+v", skill.Files)
	}
	for name, want := range types {
		contents, code := read(t, s, root+name)
		if code != 0 || contents.MIMEType != want || contents.URI != root+name || (contents.Blob != nil) != (want == "image/png") {
			t.Errorf("%s: %d, %+v", name, code, contents)
			continue
		}
		if err := skill.Verify(contents.URI, append([]byte(contents.Text), contents.Blob...)); err != nil {
			t.Error(err)
		}
	}
	var got struct {
		Skill skills.Skill `json:"skill"`
	}
	if code := ask(t, s, skills.MethodGet, map[string]any{"uri": skill.URI}, &got); code != 0 || !same(got.Skill, skill) {
		t.Errorf("get: %d, %+v", code, got)
	}
	for _, uri := range []any{"skill://acme/billing/none/SKILL.md", root, root + "LICENSE", "", 7, nil, strings.Repeat("x", 10_000)} {
		if code := ask(t, s, skills.MethodGet, map[string]any{"uri": uri}, nil); code != jsonrpc.CodeInvalidParams {
			t.Errorf("get %v: %d", uri, code)
		}
	}
	var resources mcp.ListResourcesResult
	ask(t, s, mcp.MethodListResources, nil, &resources)
	if len(resources.Resources) != 1 || resources.Resources[0].Name != "refunds" || resources.Resources[0].Description != "About refunds" ||
		resources.Resources[0].MIMEType != "text/markdown" || resources.Resources[0].URI != skill.URI {
		t.Errorf("resources: %+v", resources.Resources)
	}
	var found mcp.DiscoverResult
	ask(t, s, mcp.MethodDiscover, nil, &found)
	if got := found.Capabilities.Extensions[skills.Extension]; string(got) != `{"directoryRead":true}` || found.Capabilities.Resources == nil {
		t.Errorf("capabilities: %+v", found.Capabilities)
	}
}

func same(a, b skills.Skill) bool {
	return a.URI == b.URI && bytes.Equal(a.Frontmatter, b.Frontmatter) && slices.Equal(a.Files, b.Files) && a.Dynamic == b.Dynamic
}

func TestSkillsAndFoldersCanBePaged(t *testing.T) {
	var pairs []string
	for i := range 7 {
		name := fmt.Sprintf("s%d", i)
		pairs = append(pairs, name+"/SKILL.md", about(name), "s0/f/"+name, "x")
	}
	s := serve(t, folder(pairs...), &skills.Options{PageSize: 3})
	for method, params := range map[string]map[string]any{skills.MethodList: {}, skills.MethodReadDirectory: {"uri": "skill://s0/f"}} {
		var uris, sizes []string
		for {
			var page struct {
				Skills     []mcp.Resource `json:"skills"`
				Resources  []mcp.Resource `json:"resources"`
				NextCursor *string        `json:"nextCursor"`
			}
			if code := ask(t, s, method, params, &page); code != 0 {
				t.Fatalf("%s: %d", method, code)
			}
			for _, e := range append(page.Skills, page.Resources...) {
				uris = append(uris, e.URI)
			}
			sizes = append(sizes, fmt.Sprint(len(page.Skills)+len(page.Resources)))
			if page.NextCursor == nil {
				break
			}
			params["cursor"] = *page.NextCursor
		}
		if len(uris) != 7 || !slices.IsSorted(uris) || strings.Join(sizes, " ") != "3 3 1" {
			t.Errorf("%s: %q in pages of %s", method, uris, sizes)
		}
		for _, cursor := range []any{"x", "", 1, "!!!", "eA", "Pg"} {
			params["cursor"] = cursor
			if code := ask(t, s, method, params, nil); code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s from %v: %d", method, cursor, code)
			}
		}
	}
}

func TestFoldersCanBeListed(t *testing.T) {
	s := serve(t, folder(
		"acme/refunds/SKILL.md", about("refunds"),
		"acme/refunds/a/b/c.md", "x",
		"acme/refunds/a/z.py", "x",
		"acme/notes.md", "not of a skill",
	), nil)
	for uri, want := range map[string]string{
		"skill://acme":             "skill://acme/refunds=inode/directory",
		"skill://acme/refunds":     "skill://acme/refunds/SKILL.md=text/markdown skill://acme/refunds/a=inode/directory",
		"skill://acme/refunds/a":   "skill://acme/refunds/a/b=inode/directory skill://acme/refunds/a/z.py=text/x-python",
		"skill://acme/refunds/a/b": "skill://acme/refunds/a/b/c.md=text/markdown",
	} {
		var result skills.DirectoryResult
		code := ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": uri}, &result)
		var got []string
		for _, r := range result.Resources {
			got = append(got, r.URI+"="+r.MIMEType)
		}
		if code != 0 || strings.Join(got, " ") != want {
			t.Errorf("%s: %d, %q", uri, code, got)
		}
	}
	for _, uri := range []string{"skill://acme/refunds/SKILL.md", "skill://acme/refunds/", "skill://", "skill://none", "skill://acme/notes.md", "file:///", ""} {
		if code := ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": uri}, nil); code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %d", uri, code)
		}
	}
}

func TestWhatBreaksTheRulesIsNotServed(t *testing.T) {
	many := folder("s/SKILL.md", about("s"))
	for i := range skills.MaxFiles {
		many[fmt.Sprintf("s/%d", i)] = &fstest.MapFile{}
	}
	for name, test := range map[string]struct {
		fsys fs.FS
		opts *skills.Options
	}{
		"a name that is not that of the folder": {fsys: folder("a/SKILL.md", about("b"))},
		"a name in upper case":                  {fsys: folder("Ab/SKILL.md", about("Ab"))},
		"a name with two hyphens":               {fsys: folder("a--b/SKILL.md", about("a--b"))},
		"a name that ends in a hyphen":          {fsys: folder("a-/SKILL.md", about("a-"))},
		"a name that begins with one":           {fsys: folder("-a/SKILL.md", about("-a"))},
		"a name that is too long":               {fsys: folder(strings.Repeat("a", 65)+"/SKILL.md", about(strings.Repeat("a", 65)))},
		"a name that is a number":               {fsys: folder("1/SKILL.md", about("1"))},
		"no name":                               {fsys: folder("a/SKILL.md", "---\ndescription: d\n---\n")},
		"no description":                        {fsys: folder("a/SKILL.md", "---\nname: a\n---\n")},
		"an empty description":                  {fsys: folder("a/SKILL.md", "---\nname: a\ndescription: ' '\n---\n")},
		"a description that is too long":        {fsys: folder("a/SKILL.md", "---\nname: a\ndescription: "+strings.Repeat("é", 1025)+"\n---\n")},
		"no frontmatter":                        {fsys: folder("a/SKILL.md", "# a")},
		"a SKILL.md that is a folder":           {fsys: folder("a/SKILL.md/x", "")},
		"a SKILL.md without a folder":           {fsys: folder("SKILL.md", about("a"))},
		"too many files":                        {fsys: many},
		"too many bytes":                        {fsys: folder("a/SKILL.md", about("a"), "a/b", strings.Repeat("x", skills.MaxBytes))},
		"a backslash in a name":                 {fsys: folder("a/SKILL.md", about("a"), `a/b\c`, "x")},
		"folders without end":                   {fsys: folder(strings.Repeat("a/", 40)+"SKILL.md", about("a"))},
		"a link":                                {fsys: fstest.MapFS{"a/b": {Mode: fs.ModeSymlink, Data: []byte("c")}, "a/c": {}}},
		"a pipe":                                {fsys: fstest.MapFS{"a/b": {Mode: fs.ModeNamedPipe}}},
		"a dynamic skill that is not there":     {folder("a/SKILL.md", about("a")), &skills.Options{Dynamic: []string{"b"}}},
		"a prefix that climbs":                  {folder("a/SKILL.md", about("a")), &skills.Options{Prefix: "../x"}},
		"a prefix with slashes around it":       {folder("a/SKILL.md", about("a")), &skills.Options{Prefix: "/x/"}},
		"a skill inside that is not valid":      {folder("a/SKILL.md", about("a"), "a/b/SKILL.md", "x"), &skills.Options{Nested: true}},
		"a dynamic skill inside of one that is not": {
			folder("a/SKILL.md", about("a"), "a/b/SKILL.md", about("b")), &skills.Options{Nested: true, Dynamic: []string{"a/b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := server.New("test", "1", nil)
			err := skills.Serve(s, test.fsys, test.opts)
			if err == nil {
				t.Fatal("it is served")
			}
			t.Log(err)
			if code := ask(t, s, skills.MethodList, nil, nil); code != jsonrpc.CodeMethodNotFound {
				t.Errorf("the method is there: %d", code)
			}
		})
	}
}

func TestTheLargestSkillIsServed(t *testing.T) {
	files := folder("s/SKILL.md", about("s"), "s/big", strings.Repeat("x", skills.MaxBytes-len(about("s"))))
	for i := range skills.MaxFiles - 2 {
		files[fmt.Sprintf("s/%d", i)] = &fstest.MapFile{}
	}
	var result struct {
		Skill skills.Skill `json:"skill"`
	}
	if code := ask(t, serve(t, files, nil), skills.MethodGet, map[string]any{"uri": "skill://s/SKILL.md"}, &result); code != 0 {
		t.Fatal(code)
	}
	if err := result.Skill.Check(); err != nil || len(result.Skill.Files) != skills.MaxFiles {
		t.Errorf("%v, %d files", err, len(result.Skill.Files))
	}
}

func TestSkillsInsideSkills(t *testing.T) {
	files := folder("a/SKILL.md", about("a"), "a/x/b/SKILL.md", about("b"), "a/x/b/c", "c")
	for nested, want := range map[bool]string{false: "a:3", true: "a:3 b:2"} {
		var result struct {
			Skills []skills.Skill `json:"skills"`
		}
		ask(t, serve(t, files, &skills.Options{Nested: nested}), skills.MethodList, nil, &result)
		var got []string
		for _, s := range result.Skills {
			got = append(got, fmt.Sprintf("%s:%d", s.Name(), len(s.Files)))
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("nested %v: %q", nested, got)
		}
	}
}

func TestAnEntrySaysWhatItsFilesAre(t *testing.T) {
	for text, valid := range map[string]bool{
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[]}`:                                              true,
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[{"uri":"u","digest":"d","size":1,"x":2}],"y":3}`: true,
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":"dynamic"}`:                                       true,
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":"static"}`:                                        false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":null}`:                                            false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{}}`:                                                             false,
		`{"uri":"skill://a/SKILL.md","frontmatter":[],"resources":[]}`:                                              false,
		`{"uri":"skill://a/SKILL.md","resources":[]}`:                                                               false,
		`{"frontmatter":{},"resources":[]}`:                                                                         false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[{"uri":"u","digest":"d","size":"1"}]}`:           false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","name":"b"},"resources":[]}`:                         false,
	} {
		var s skills.Skill
		if err := json.Unmarshal([]byte(text), &s); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		} else if valid {
			again, err := json.Marshal(&s)
			if err != nil || !jsontext.Value(again).IsValid() || s.Dynamic != strings.Contains(string(again), `"dynamic"`) {
				t.Errorf("%s became %s, %v", text, again, err)
			}
		}
	}
}
