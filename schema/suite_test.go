package schema_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/schema"
)

// misses lists the required tests of the suite that fail, with the reason. A test
// that starts to pass must leave the list.
var misses = map[string]string{
	"draft2020-12 / vocabulary.json / schema that uses custom metaschema with with no validation vocabulary / applicator vocabulary still works":                     customDialect,
	"draft2020-12 / vocabulary.json / schema that uses custom metaschema with with no validation vocabulary / no validation: valid number":                           customDialect,
	"draft2020-12 / vocabulary.json / schema that uses custom metaschema with with no validation vocabulary / no validation: invalid number, but it still validates": customDialect,
	"draft2020-12 / vocabulary.json / ignore unrecognized optional vocabulary / string value":                                                                        customDialect,
	"draft2020-12 / vocabulary.json / ignore unrecognized optional vocabulary / number value":                                                                        customDialect,
}

const customDialect = "the schema names a dialect of its own, which is refused: a metaschema from elsewhere would have to be fetched"

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

// remotes loads the suite's documents, which it imagines on a local server.
func remotes(suite string) func(string) ([]byte, error) {
	return func(url string) ([]byte, error) {
		name, ok := strings.CutPrefix(url, "http://localhost:1234/")
		if !ok {
			return nil, errors.New("not a document of the suite")
		}
		return os.ReadFile(filepath.Join(suite, "remotes", filepath.FromSlash(name)))
	}
}

func TestSchemaSuitePasses_R071(t *testing.T) {
	suite := suiteRoot(t)
	failed := map[string]bool{}
	for _, draft := range []struct {
		folder  string
		dialect func([]byte) (*schema.Schema, error)
		least   int
	}{
		{"draft2020-12", func(text []byte) (*schema.Schema, error) {
			return schema.ParseAs(text, schema.Draft2020, remotes(suite))
		}, 1299},
		{"draft7", func(text []byte) (*schema.Schema, error) { return schema.ParseAs(text, schema.Draft7, remotes(suite)) }, 927},
	} {
		required := 0
		optional := map[bool]int{}
		folder := filepath.Join(suite, "tests", draft.folder)
		for _, file := range jsonFiles(t, folder) {
			name, _ := filepath.Rel(folder, file)
			isOptional := strings.HasPrefix(name, "optional")
			for _, group := range readGroups(t, file) {
				s, err := draft.dialect(group.Schema)
				if err == nil {
					err = s.Compile()
				}
				for _, test := range group.Tests {
					good := err == nil && verdict(s, test.Data) == test.Valid
					if isOptional {
						optional[good]++
						continue
					}
					required++
					full := strings.Join([]string{draft.folder, filepath.ToSlash(name), group.Description, test.Description}, " / ")
					if !good {
						failed[full] = true
						if misses[full] == "" {
							t.Errorf("%s: want valid %v", full, test.Valid)
							if err == nil {
								t.Logf("verdict: %v", s.Validate(test.Data))
							}
						}
					}
				}
			}
		}
		if required < draft.least {
			t.Errorf("%s: %d required tests ran, want at least %d", draft.folder, required, draft.least)
		}
		t.Logf("%s: %d required tests; optional: %d as the suite says, %d not", draft.folder, required, optional[true], optional[false])
	}
	for name, reason := range misses {
		if !failed[name] {
			t.Errorf("%s passes now, though listed as missing (%s)", name, reason)
		}
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
