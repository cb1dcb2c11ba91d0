package load_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
	"github.com/bossman-mcp/bossman/skills/load"
)

// What one half of the extension offers, the other can use: all skills and files,
// over any number of pages.
func TestBothHalvesAgree(t *testing.T) {
	files := make(fstest.MapFS)
	for i := range 5 {
		name := fmt.Sprintf("s%d", i)
		files["team/"+name+"/SKILL.md"] = &fstest.MapFile{
			Data: []byte("---\nname: " + name + "\ndescription: |-\n  Two\n  lines\nversion: 1.50\ntags: [a, 0x10, null, 2024-01-01]\n---\n")}
		files["team/"+name+"/a+b & ü.txt"] = &fstest.MapFile{Data: []byte("text")}
		files["team/"+name+"/bin/data"] = &fstest.MapFile{Data: []byte{0xff, 0}}
		files["team/"+name+"/empty"] = &fstest.MapFile{}
	}
	s := server.New("both", "1", nil)
	if err := skills.Serve(s, files, &skills.Options{Dynamic: []string{"team/s4"}, PageSize: 2}); err != nil {
		t.Fatal(err)
	}
	c := connect(t, s, nil)
	all, err := client.Collect(load.List(t.Context(), c))
	if err != nil || len(all) != 5 {
		t.Fatalf("%d skills, %v", len(all), err)
	}
	for _, entry := range all {
		skill, err := load.Open(t.Context(), c, entry)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"a+b & ü.txt": "text", "bin/data": "\xff\x00", "empty": ""} {
			contents, err := skill.Read(t.Context(), name)
			if err != nil || contents.Text+string(contents.Blob) != want {
				t.Errorf("%s of %s: %v", name, entry.URI, err)
			}
		}
		var names []string
		for r, err := range load.Directory(t.Context(), c, entry.Root()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, r.Name)
		}
		slices.Sort(names)
		if want := []string{"a+b & ü.txt", "bin", "empty", entry.Name()}; !slices.Equal(names, want) {
			t.Errorf("%s has %q", entry.URI, names)
		}
	}
}
