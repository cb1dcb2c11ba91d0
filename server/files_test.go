package server_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

// watched is a folder that remembers what was looked for in it.
type watched struct {
	fs.FS
	mu     sync.Mutex
	sought []string
}

func (w *watched) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sought = append(w.sought, name)
}

func (w *watched) Open(name string) (fs.File, error) { w.note(name); return w.FS.Open(name) }

func (w *watched) Stat(name string) (fs.FileInfo, error) { w.note(name); return fs.Stat(w.FS, name) }

const canary = "the canary sings"

// project makes a folder with a few files, and a canary beside it.
func project(t *testing.T) (root *os.Root, outside string) {
	t.Helper()
	top := t.TempDir()
	outside = filepath.Join(top, "secret.txt")
	for name, text := range map[string]string{
		"secret.txt": canary, "project-secret/secret.txt": canary, "project/note.txt": "a note", "project/sub/deep.txt": "deep",
		"project/100%.txt": "per cent", "project/a b.txt": "blank", "project/%2e%2e/odd.txt": "odd", "project/picture.bin": "\xff\x00",
	} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"project/link.txt": outside, "project/up": top, "project/relative": filepath.Join("..", "secret.txt"), "project/sub/parent": "..",
		"project/sub/chain": filepath.Join("..", "up", "secret.txt"), "project/loop": "loop", "project/inside.txt": "note.txt", "project/device": os.DevNull,
	} {
		if err := os.Symlink(target, filepath.Join(top, filepath.FromSlash(name))); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	if err := makePipe(filepath.Join(top, "project", "pipe")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(top, "project"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, outside
}

// outsiders are paths that lead out of a folder, or to what is no file in it.
func outsiders(outside string) []string {
	all := []string{
		"", ".", "..", "/", "../secret.txt", "../project-secret/secret.txt", "sub/../../secret.txt", "./note.txt", "sub/../note.txt",
		"%2e%2e/secret.txt", "%2E%2E/secret.txt", "..%2fsecret.txt", "..%2Fsecret.txt", "%2e%2e%2fsecret.txt", ".%2e/secret.txt",
		"%252e%252e/secret.txt", "%252e%252e%252fsecret.txt", "..%252fsecret.txt", "%25252e%25252e%25252fsecret.txt",
		"..%c0%afsecret.txt", "%c0%ae%c0%ae/secret.txt", "..%ef%bc%8fsecret.txt", "．．/secret.txt", "‥/secret.txt",
		`..\secret.txt`, "..%5csecret.txt", "..%5Csecret.txt", `sub\..\..\secret.txt`, "%5c%5cserver%5cshare", `note.txt\`,
		"//secret.txt", "sub//deep.txt", "/note.txt", "%2fnote.txt", "note.txt/", "note.txt%2f", "note.txt/.", "note.txt/..", "sub", "sub/",
		"note.txt%00", "note.txt%00.png", "%00", "../secret.txt%00.txt", "sub%00/../../secret.txt",
		"~/secret.txt", "~root", "C:/secret.txt", "c:secret.txt", "note.txt::$DATA", "file:///etc/passwd", "\\\\?\\C:\\secret.txt",
		"link.txt", "up/secret.txt", "up", "relative", "sub/chain", "sub/parent/../secret.txt", "sub/parent/relative", "loop", "loop/x",
		"pipe", "device", "sub/parent/up/project/up/secret.txt", "up/project/note.txt",
		strings.Repeat("../", 500) + "secret.txt", strings.Repeat("sub/parent/", 300) + "relative",
	}
	return append(all, outside, strings.TrimPrefix(filepath.ToSlash(outside), "/"), strings.ReplaceAll(filepath.ToSlash(outside), "/", "%2f"))
}

func TestFilesStayInTheirFolder_R068(t *testing.T) {
	root, outside := project(t)
	folder := &watched{FS: root.FS()}
	s := server.New("files", "1", quiet())
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "file:///project/{+path}", Name: "reserved"}, server.Files(folder))
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "plain://{path}", Name: "plain"}, server.Files(folder))
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "parts:{/path*}", Name: "exploded"}, server.Files(folder))
	for _, rev := range revision.All() {
		t.Run(rev.Name, func(t *testing.T) {
			c := mcptest.Connect(t, s, nil)
			if !rev.Stateless {
				c.Handshake(rev.Name)
			}
			read := func(uri string) (string, error) {
				result, err := c.Request(mcp.MethodReadResource, map[string]string{"uri": uri})
				return string(result), err
			}
			for uri, want := range map[string]string{
				"file:///project/note.txt": "a note", "file:///project/sub/deep.txt": "deep", "plain://sub%2Fdeep.txt": "deep", "parts:/sub/deep.txt": "deep",
				"file:///project/100%25.txt": "per cent", "file:///project/a%20b.txt": "blank", "file:///project/%252e%252e/odd.txt": "odd",
				"file:///project/inside.txt": "a note", "file:///project/sub/parent/note.txt": "a note", "file:///project/picture.bin": `"blob":"/wA="`,
			} {
				if got, err := read(uri); err != nil || !strings.Contains(got, want) {
					t.Errorf("%s: got %s, %v, want %s", uri, got, err, want)
				}
			}
			for _, path := range outsiders(outside) {
				for _, form := range []string{"file:///project/", "plain://", "parts:/"} {
					got, err := read(form + path)
					var refused *jsonrpc.Error
					if !errors.As(err, &refused) || refused.Code != rev.NotFoundCode || strings.Contains(got+err.Error(), canary) {
						t.Errorf("%s%s: got %s, %v, want code %d", form, path, got, err, rev.NotFoundCode)
					}
				}
			}
		})
	}
	for _, name := range folder.sought {
		if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
			t.Errorf("%q was looked for", name)
		}
	}
	if len(folder.sought) == 0 {
		t.Error("nothing was looked for at all")
	}
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file with a hole takes the room of a whole one")
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large"))
	if err == nil {
		err = errors.Join(f.Truncate(16<<20+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s := server.New("files", "1", quiet())
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "file:///{+path}", Name: "files"}, server.Files(os.DirFS(dir)))
	_, err = handle(t, s, mcp.MethodReadResource, `{"uri":"file:///large"}`)
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
}
