package load_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
	"github.com/bossman-mcp/bossman/skills/load"
)

func TestASkillIsReadOnlyWhenItIsNeeded(t *testing.T) {
	f := honest()
	c := connect(t, f.handler(), nil)
	all, err := client.Collect(load.List(t.Context(), c))
	if err != nil || len(all) != 1 || all[0].Name() != "refunds" || all[0].Description() != "Give money back" {
		t.Fatalf("list: %v, %v", all, err)
	}
	got, err := load.Get(t.Context(), c, uri)
	if err != nil || got.URI != uri || len(got.Files) != 2 {
		t.Fatalf("get: %v, %v", got, err)
	}
	if reads := f.read(); len(reads) != 0 {
		t.Fatalf("listing read %q", reads)
	}
	s, err := load.Open(t.Context(), c, all[0])
	if err != nil || s.Text() != text || s.Entry() != all[0] {
		t.Fatalf("open: %v", err)
	}
	if reads := f.read(); !slices.Equal(reads, []string{uri}) {
		t.Fatalf("opening read %q", reads)
	}
	for _, name := range []string{"examples/an email.md", "./examples/an email.md", "examples/an%20email.md", email} {
		contents, err := s.Read(t.Context(), name)
		if err != nil || contents.Text != words {
			t.Errorf("read %s: %v", name, err)
		}
	}
}

func TestWhatDoesNotMatchIsNotHandedOut(t *testing.T) {
	swap := func(old, new string) func(f *fake) {
		return func(f *fake) { f.files[uri] = strings.Replace(text, old, new, 1) }
	}
	rewrite := func(old, new string) func(f *fake) {
		return func(f *fake) {
			f.files[uri] = strings.Replace(text, old, new, 1)
			f.entries[0].Files[0] = file(uri, f.files[uri])
		}
	}
	for name, test := range map[string]struct {
		change func(f *fake)
		what   string
	}{
		"another digest":                {swap("See", "Eat"), "digest"},
		"another size":                  {swap("See", "Watch"), "size"},
		"another description":           {rewrite("Give", "Take"), "frontmatter"},
		"a field that the entry lacks":  {rewrite("name:", "allowed-tools: Bash\nname:"), "frontmatter"},
		"a field that the file lacks":   {rewrite("metadata:\n  version: 1.0\n", ""), "frontmatter"},
		"another number":                {rewrite("1.0", "1.1"), "frontmatter"},
		"a string in place of a number": {rewrite("1.0", `"1"`), "frontmatter"},
		"no frontmatter":                {rewrite("---\nname", "name"), "frontmatter"},
		"frontmatter with a field twice": {
			rewrite("name: refunds", "name: refunds\nname: refunds"), "frontmatter"},
	} {
		t.Run(name, func(t *testing.T) {
			f := honest()
			test.change(f)
			c := connect(t, f.handler(), nil)
			s, err := load.Open(t.Context(), c, &f.entries[0])
			var mismatch *skills.MismatchError
			if s != nil || !errors.As(err, &mismatch) || mismatch.What != test.what || mismatch.URI != uri {
				t.Errorf("open: %v", err)
			}
			if reads := f.read(); len(reads) != 1 {
				t.Errorf("it went on to read %q", reads)
			}
		})
	}
}

func TestASkillEndsWithTheFirstMismatch(t *testing.T) {
	f := honest()
	f.entries[0].Files = append(f.entries[0].Files, file("skill://acme/refunds/other.md", "x"))
	f.files["skill://acme/refunds/other.md"] = "x"
	f.files[email] = "Dear thief...\n"
	s, err := load.Open(t.Context(), connect(t, f.handler(), nil), &f.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	var mismatch *skills.MismatchError
	if _, err := s.Read(t.Context(), "examples/an email.md"); !errors.As(err, &mismatch) || mismatch.What != "digest" {
		t.Errorf("a changed file: %v", err)
	}
	if _, err := s.Read(t.Context(), "other.md"); !errors.As(err, &mismatch) || mismatch.URI != email {
		t.Errorf("a good file after it: %v", err)
	}
	if reads := f.read(); len(reads) != 2 {
		t.Errorf("it went on to read %q", reads)
	}
}

func TestAFileIsNeverOlderThanItsEntry(t *testing.T) {
	f := honest()
	h := f.handler()
	h.Use(func(next mcp.Handler) mcp.Handler {
		return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
			result, err := next.Handle(ctx, c)
			if r, ok := result.(*mcp.ReadResourceResult); ok {
				*r.TTLMs = 60_000
			}
			return result, err
		})
	})
	c := connect(t, h, nil)
	for _, body := range []string{"one", "two"} {
		f.files[uri] = text + body
		f.entries[0].Files[0] = file(uri, text+body)
		entry, err := load.Get(t.Context(), c, uri)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := load.Open(t.Context(), c, entry); err != nil || s.Text() != text+body {
			t.Errorf("open %s: %v", body, err)
		}
	}
}

func TestGetRefusesAnotherSkill(t *testing.T) {
	f := honest()
	h := f.handler()
	h.Use(func(next mcp.Handler) mcp.Handler {
		return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
			if c.Method == skills.MethodGet {
				return map[string]any{"skill": &f.entries[0]}, nil
			}
			return next.Handle(ctx, c)
		})
	})
	if _, err := load.Get(t.Context(), connect(t, h, nil), "skill://other/SKILL.md"); err == nil {
		t.Error("another skill was taken for the one that was asked for")
	}
}

func TestOnlyListedFilesAreAskedFor(t *testing.T) {
	f := honest()
	f.files["skill://acme/refunds/new.md"] = "new"
	f.files["skill://acme/other/SKILL.md"] = "other"
	s, err := load.Open(t.Context(), connect(t, f.handler(), nil), &f.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"new.md", "skill://acme/refunds/new.md", "../other/SKILL.md", "skill://acme/other/SKILL.md", "/etc/passwd", "file:///etc/passwd",
		"examples/../../other/SKILL.md", "skill://acme/refunds/../other/SKILL.md", "examples", "", ".", "..", "examples%2fan%20email.md",
	} {
		var mismatch *skills.MismatchError
		if _, err := s.Read(t.Context(), name); !errors.As(err, &mismatch) || mismatch.What != "list" {
			t.Errorf("read %q: %v", name, err)
		}
	}
	if reads := f.read(); len(reads) != 1 {
		t.Errorf("it asked for %q", reads)
	}
	if _, err := s.Read(t.Context(), "examples/an email.md"); err != nil {
		t.Errorf("a wrong name ended the skill: %v", err)
	}
}

func TestADynamicSkillStaysInItsFolder(t *testing.T) {
	f := honest()
	f.entries[0].Files, f.entries[0].Dynamic = nil, true
	f.files["skill://acme/refunds/big"] = strings.Repeat("x", 5000)
	s, err := load.Open(t.Context(), connect(t, f.handler(), nil), &f.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	if contents, err := s.Read(t.Context(), "examples/an email.md"); err != nil || contents.Text != words {
		t.Errorf("read: %v", err)
	}
	before := len(f.read())
	for _, name := range []string{
		"../other/SKILL.md", "..", ".", "", "skill://acme/refunds/a//b", "skill://acme/refunds/%2e%2e/other", "skill://acme/refunds/a%2fb", "skill://acme/refunds/a\\b",
		"skill://acme/refunds/%zz", "skill://acme/refundsx/a", "file:///etc/passwd", "/etc/passwd", "skill://acme/refunds/",
	} {
		if _, err := s.Read(t.Context(), name); err == nil {
			t.Errorf("read %q", name)
		}
	}
	if reads := f.read(); len(reads) != before {
		t.Errorf("it asked for %q", reads[before:])
	}
	s.SetMost(8000)
	if _, err := s.Read(t.Context(), "big"); err != nil {
		t.Errorf("half of what a skill may have: %v", err)
	}
	if _, err := s.Read(t.Context(), "big"); err == nil {
		t.Error("more was read than a skill may have")
	}
	if _, err := s.Read(t.Context(), "examples/an email.md"); err == nil {
		t.Error("it went on after that")
	}
}

func TestAnEntryThatBreaksTheRulesIsNotOpened(t *testing.T) {
	for name, change := range map[string]func(s *skills.Skill){
		"a name that is not that of the folder": func(s *skills.Skill) { s.URI = strings.Replace(uri, "refunds", "refund", 1) },
		"a URI of another file":                 func(s *skills.Skill) { s.URI = email },
		"a file outside":                        func(s *skills.Skill) { s.Files[1].URI = "skill://acme/other.md" },
		"a file that climbs out":                func(s *skills.Skill) { s.Files[1].URI = "skill://acme/refunds/%2e./x" },
		"a file twice":                          func(s *skills.Skill) { s.Files = append(s.Files, s.Files[1]) },
		"no SKILL.md":                           func(s *skills.Skill) { s.Files = s.Files[1:] },
		"a digest of another kind":              func(s *skills.Skill) { s.Files[1].Digest = "md5:00" },
		"a digest in upper case": func(s *skills.Skill) {
			s.Files[1].Digest = "sha256:" + strings.Repeat("A", 64)
		},
		"a negative size": func(s *skills.Skill) { s.Files[1].Size = -1 },
		"a huge size":     func(s *skills.Skill) { s.Files[1].Size = skills.MaxBytes },
		"too many files": func(s *skills.Skill) {
			for len(s.Files) <= skills.MaxFiles {
				s.Files = append(s.Files, file(uri+"/"+strings.Repeat("x", len(s.Files)), ""))
			}
		},
		"no description": func(s *skills.Skill) { s.Frontmatter = []byte(`{"name":"refunds"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f := honest()
			change(&f.entries[0])
			if _, err := load.Open(t.Context(), connect(t, f.handler(), nil), &f.entries[0]); err == nil {
				t.Error("it was opened")
			}
			if reads := f.read(); len(reads) != 0 {
				t.Errorf("it read %q", reads)
			}
		})
	}
}

func TestAServerWithoutSkillsIsNotAsked(t *testing.T) {
	for _, revision := range []string{client.EraHandshake, client.EraStateless} {
		c := connect(t, server.New("bare", "1", nil), &client.Options{Revision: revision})
		if _, err := client.Collect(load.List(t.Context(), c)); !errors.Is(err, load.ErrNotOffered) {
			t.Errorf("%s: list: %v", revision, err)
		}
		if _, err := load.Get(t.Context(), c, uri); !errors.Is(err, load.ErrNotOffered) {
			t.Errorf("%s: get: %v", revision, err)
		}
	}
	c := connect(t, honest().handler(), nil)
	if _, err := client.Collect(load.Directory(t.Context(), c, "skill://acme")); !errors.Is(err, load.ErrNotOffered) {
		t.Errorf("list a folder: %v", err)
	}
	var refused *jsonrpc.Error
	if _, err := load.Get(t.Context(), c, "skill://none/SKILL.md"); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("get what is not there: %v", err)
	}
}
