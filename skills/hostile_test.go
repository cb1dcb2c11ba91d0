package skills_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

const canary = "the canary sings"

// house makes a folder of skills, with secrets beside and below it, and returns it.
func house(t testing.TB) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range map[string]string{
		"secret.md":             canary,
		"skills2/secret.md":     canary,
		"skills2/deep/x.md":     canary,
		"SKILL.md":              about("live"),
		"skills/notes.md":       canary,
		"skills/live/SKILL.md":  about("live"),
		"skills/live/a/b.md":    "b",
		"skills/live/.env":      canary,
		"skills/live/.git/x":    canary,
		"skills/live2/x.md":     canary,
		"skills/fixed/SKILL.md": about("fixed"),
		"skills/fixed/a.md":     "a",
		"skills/fixed/.env":     canary,
	} {
		write(t, filepath.Join(top, filepath.FromSlash(name)), text)
	}
	return filepath.Join(top, "skills")
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link, or skips the test where there are none.
func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// systems are two ways to serve the same folder: one follows links anywhere.
func systems(t testing.TB, dir string) map[string]fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return map[string]fs.FS{"os.DirFS": os.DirFS(dir), "os.Root": root.FS()}
}

// wild are URIs that would lead out of a skill if they were taken for paths.
var wild = []string{
	"skill://live/../notes.md", "skill://live/../../secret.md", "skill://live/../live2/x.md", "skill://live2/x.md", "skill://notes.md",
	"skill://live/%2e%2e/notes.md", "skill://live/%2E%2E%2Fnotes.md", "skill://live/..%2fnotes.md", "skill://live/%252e%252e/notes.md",
	"skill://live/..%5cnotes.md", `skill://live/..\notes.md`, "skill://live/a/../../notes.md", "skill://live/./a/b.md", "skill://live//a/b.md",
	"skill://live/a%2fb.md", "skill://live/a/b.md%00", "skill://live/a/b.md\x00", "skill://live/%00", "skill:///etc/passwd", "skill://live//etc/passwd",
	"skill://live/.env", "skill://live/.git/x", "skill://live/%2eenv", "skill://fixed/.env", "skill://fixed/../notes.md", "skill://fixed/%61.md",
	"skill://live/a/b.md?x", "skill://live/a/b.md#x", "skill://live/%61/b.md", "skill://live/a/b.md/", "skill://live/a", "skill://live", "skill://live/",
	"SKILL://live/a/b.md", "skill:/live/a/b.md", "live/a/b.md", "file:///etc/passwd", "skill://live@evil/a", "skill://live/%zz", "skill://live/\xff",
	"skill://live/" + strings.Repeat("a/", 3000) + "b", "skill://live/" + strings.Repeat("%2e%2e/", 1000) + "etc/passwd",
}

func TestNoURILeadsOutOfASkillR068(t *testing.T) {
	for name, fsys := range systems(t, house(t)) {
		s := serve(t, fsys, &skills.Options{Dynamic: []string{"live"}})
		for _, uri := range wild {
			uri = strings.ToValidUTF8(uri, "\ufffd")
			if contents, code := read(t, s, uri); code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: read %q: %d, %+v", name, uri, code, contents)
			}
			if !strings.HasPrefix(uri, "skill://live") || strings.ContainsAny(uri, "%.?#\\\x00") {
				continue
			}
			var result skills.DirectoryResult
			if code := ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": uri}, &result); code == 0 && uri != "skill://live" && uri != "skill://live/a" {
				t.Errorf("%s: list %q: %+v", name, uri, result)
			}
		}
		for _, uri := range []string{"skill://live/a/b.md", "skill://live/SKILL.md", "skill://fixed/a.md"} {
			if _, code := read(t, s, uri); code != 0 {
				t.Errorf("%s: read %s: %d", name, uri, code)
			}
		}
	}
}

func FuzzURIStaysInside(f *testing.F) {
	for _, uri := range wild {
		f.Add(uri)
	}
	s := serve(f, os.DirFS(house(f)), &skills.Options{Dynamic: []string{"live"}})
	allowed := map[string]bool{
		"skill://live/SKILL.md": true, "skill://live/a/b.md": true, "skill://fixed/SKILL.md": true, "skill://fixed/a.md": true,
	}
	f.Fuzz(func(t *testing.T, uri string) {
		uri = strings.ToValidUTF8(uri, "")
		if contents, code := read(t, s, uri); (code == 0) != allowed[uri] || code == 0 && contents.Text == canary {
			t.Fatalf("%q: %d, %+v", uri, code, contents)
		}
	})
}

func TestLinksAreNotFollowed(t *testing.T) {
	for _, test := range []struct{ name, target, at string }{
		{"a file that is a link out", "../../secret.md", "fixed/leak.md"},
		{"a file that is a link within", "a.md", "fixed/same.md"},
		{"a folder that is a link out", "../../skills2", "fixed/leak"},
		{"a skill that is a link", "fixed", "linked"},
		{"a link to nowhere", "nowhere", "fixed/none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := house(t)
			link(t, filepath.FromSlash(test.target), filepath.Join(dir, filepath.FromSlash(test.at)))
			for name, fsys := range systems(t, dir) {
				if err := skills.Serve(server.New("test", "1", nil), fsys, nil); err == nil || !strings.Contains(err.Error(), test.at) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func TestLinksThatAppearLaterAreNotFollowed(t *testing.T) {
	for _, name := range []string{"os.DirFS", "os.Root"} {
		t.Run(name, func(t *testing.T) {
			dir := house(t)
			s := serve(t, systems(t, dir)[name], &skills.Options{Dynamic: []string{"live"}})
			swap := func(target, at string) {
				at = filepath.Join(dir, filepath.FromSlash(at))
				if err := os.RemoveAll(at); err != nil {
					t.Fatal(err)
				}
				link(t, filepath.FromSlash(target), at)
			}
			swap("../../secret.md", "live/leak.md")
			swap("../../skills2", "live/leak")
			swap("../../secret.md", "fixed/a.md")
			for _, uri := range []string{"skill://live/leak.md", "skill://live/leak/secret.md", "skill://fixed/a.md"} {
				if contents, code := read(t, s, uri); code == 0 {
					t.Errorf("%s was read: %+v", uri, contents)
				}
			}
			for _, uri := range []string{"skill://live/leak", "skill://live/leak/deep"} {
				if code := ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": uri}, nil); code != jsonrpc.CodeInvalidParams {
					t.Errorf("a linked folder was listed: %d", code)
				}
			}
			var result skills.DirectoryResult
			ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": "skill://live"}, &result)
			for _, r := range result.Resources {
				if strings.Contains(r.URI, "leak") || strings.Contains(r.URI, "/.") {
					t.Errorf("the folder shows %s", r.URI)
				}
			}
			swap("../../SKILL.md", "live/SKILL.md")
			if code := ask(t, s, skills.MethodGet, map[string]any{"uri": "skill://live/SKILL.md"}, nil); code != jsonrpc.CodeInternalError {
				t.Errorf("a linked SKILL.md was read: %d", code)
			}
		})
	}
}

func TestAFileThatChangedIsNotServed(t *testing.T) {
	const uri = "skill://a/b.md"
	entry := func(s *server.Server) (skills.Skill, int) {
		var result struct {
			Skill skills.Skill `json:"skill"`
		}
		code := ask(t, s, skills.MethodGet, map[string]any{"uri": "skill://a/SKILL.md"}, &result)
		return result.Skill, code
	}
	for name, change := range map[string]func(f *fstest.MapFile){
		"by its size":    func(f *fstest.MapFile) { f.Data = []byte("longer") },
		"by its time":    func(f *fstest.MapFile) { f.ModTime = time.Unix(2, 0) },
		"by its kind":    func(f *fstest.MapFile) { f.Mode = fs.ModeNamedPipe },
		"by its content": func(f *fstest.MapFile) { f.Data = []byte("c") },
	} {
		for _, asked := range []string{"", "listed", "read"} {
			files := folder("a/SKILL.md", about("a"), "a/b.md", "b")
			s := serve(t, files, nil)
			switch asked {
			case "listed":
				entry(s)
			case "read":
				read(t, s, uri)
			}
			change(files["a/b.md"])
			contents, code := read(t, s, uri)
			if asked == "" && name == "by its content" { // nobody was told what it was
				if code != 0 || contents.Text != "c" {
					t.Errorf("%s: %d", name, code)
				}
				continue
			}
			if code != jsonrpc.CodeInternalError {
				t.Errorf("%s, %s before: %d, %+v", name, asked, code, contents)
			}
			if got, code := entry(s); code == 0 && asked == "" {
				t.Errorf("%s: an entry for what cannot be read: %+v", name, got)
			}
		}
	}
}

func TestADynamicSkillIsReadAsItIs(t *testing.T) {
	files := folder("live/SKILL.md", about("live"), "live/now.md", "1", "a/SKILL.md", about("a"))
	s := serve(t, files, &skills.Options{Dynamic: []string{"live"}})
	list := func() (all []skills.Skill) {
		var result struct {
			Skills []skills.Skill `json:"skills"`
		}
		if code := ask(t, s, skills.MethodList, nil, &result); code != 0 {
			t.Fatal(code)
		}
		return result.Skills
	}
	if all := list(); len(all) != 2 || !all[1].Dynamic || all[1].Files != nil || all[0].Dynamic {
		t.Fatalf("%+v", all)
	}
	files["live/now.md"].Data = []byte("22")
	files["live/new.md"] = &fstest.MapFile{Data: []byte("new")}
	for uri, want := range map[string]string{"skill://live/now.md": "22", "skill://live/new.md": "new"} {
		if contents, code := read(t, s, uri); code != 0 || contents.Text != want {
			t.Errorf("%s: %d, %+v", uri, code, contents)
		}
	}
	var result skills.DirectoryResult
	if code := ask(t, s, skills.MethodReadDirectory, map[string]any{"uri": "skill://live"}, &result); code != 0 || len(result.Resources) != 3 {
		t.Errorf("%d, %+v", code, result)
	}
	files["live/SKILL.md"].Data = []byte(strings.Replace(about("live"), "About", "On", 1))
	if all := list(); all[1].Description() != "On live" {
		t.Errorf("%+v", all)
	}
	files["live/SKILL.md"].Data = []byte(about("other"))
	if all := list(); len(all) != 1 {
		t.Errorf("what is not valid now is listed: %+v", all)
	}
	files["live/big"] = &fstest.MapFile{Data: make([]byte, skills.MaxBytes+1)}
	if _, code := read(t, s, "skill://live/big"); code != jsonrpc.CodeInternalError {
		t.Errorf("a huge file: %d", code)
	}
	if _, code := read(t, s, "skill://live/gone.md"); code != jsonrpc.CodeInvalidParams {
		t.Errorf("a file that is gone: %d", code)
	}
}
