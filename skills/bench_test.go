package skills_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

// hundred is a folder of a hundred skills of five files.
func hundred() []string {
	var pairs []string
	for i := range 100 {
		name := fmt.Sprintf("skill-%d", i)
		pairs = append(pairs, name+"/SKILL.md", about(name))
		for j := range 4 {
			pairs = append(pairs, fmt.Sprintf("%s/docs/%d.md", name, j), strings.Repeat("text\n", 1000))
		}
	}
	return pairs
}

func BenchmarkServe(b *testing.B) {
	dir := b.TempDir()
	pairs := hundred()
	for i := 0; i < len(pairs); i += 2 {
		write(b, filepath.Join(dir, filepath.FromSlash(pairs[i])), pairs[i+1])
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := skills.Serve(server.New("bench", "1", nil), os.DirFS(dir), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFrontmatter(b *testing.B) {
	text := []byte(about("refunds"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := skills.Frontmatter(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := serve(b, folder(hundred()...), &skills.Options{PageSize: 100})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Handle(b.Context(), &mcp.Call{Method: skills.MethodList}); err != nil {
			b.Fatal(err)
		}
	}
}
