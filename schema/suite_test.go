package schema_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/schema"
)

// suiteGroup is a schema of the suite with its tests.
type suiteGroup struct {
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Tests       []struct {
		Description string         `json:"description"`
		Data        jsontext.Value `json:"data"`
		Valid       bool           `json:"valid"`
	} `json:"tests"`
}

// suiteRoot finds the suite beside the repository, and skips or, in CI, fails the
// test without it.
func suiteRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	suite := filepath.Join(dir, "..", "shared", "suites", "jsonschema")
	if _, err := os.Stat(suite); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the JSON Schema test suite is not there: %v", err)
		}
		t.Skip("the JSON Schema test suite is not beside this repository; only our own cases run")
	}
	return suite
}

// remotes reads the suite's documents, which it imagines on a local server.
func remotes(t *testing.T, suite string) schema.Documents {
	t.Helper()
	all := schema.Documents{}
	folder := filepath.Join(suite, "remotes")
	for _, file := range jsonFiles(t, folder) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		all["http://localhost:1234/"+filepath.ToSlash(name)] = text
	}
	return all
}

func TestSchemaSuitePasses_R071(t *testing.T) {
	suite := suiteRoot(t)
	documents := remotes(t, suite)
	for _, draft := range []struct {
		folder string
		parse  func([]byte) (*schema.Schema, error)
		want   int // required tests, of which all must pass
	}{
		{"draft2020-12", func(text []byte) (*schema.Schema, error) { return schema.ParseAs(text, schema.Draft2020, documents) }, 1299},
		{"draft7", func(text []byte) (*schema.Schema, error) { return schema.ParseAs(text, schema.Draft7, documents) }, 927},
	} {
		passed, required := 0, 0
		optional := map[bool]int{}
		folder := filepath.Join(suite, "tests", draft.folder)
		for _, file := range jsonFiles(t, folder) {
			name, _ := filepath.Rel(folder, file)
			isOptional := strings.HasPrefix(name, "optional")
			for _, group := range readGroups(t, file) {
				s, err := draft.parse(group.Schema)
				if err == nil {
					err = s.Compile()
				}
				for _, test := range group.Tests {
					good := err == nil && verdict(s, test.Data) == test.Valid
					if isOptional {
						optional[good]++
						continue
					}
					if required++; good {
						passed++
						continue
					}
					t.Errorf("%s / %s / %s / %s: want valid %v (%v)", draft.folder, filepath.ToSlash(name), group.Description, test.Description, test.Valid, err)
				}
			}
		}
		if required < draft.want {
			t.Errorf("%s: %d required tests ran, want at least %d", draft.folder, required, draft.want)
		}
		t.Logf("%s: %d of %d required tests pass; optional: %d as the suite says, %d not", draft.folder, passed, required, optional[true], optional[false])
	}
}

// verdict reports whether a value is valid.
func verdict(s *schema.Schema, value jsontext.Value) bool { return s.Validate(value) == nil }

func jsonFiles(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readGroups(t *testing.T, file string) []suiteGroup {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(text, &groups, jsontext.AllowInvalidUTF8(true)); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}
