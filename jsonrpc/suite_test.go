package jsonrpc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// openCases lists the files of JSONTestSuite whose verdict RFC 8259 leaves open
// and that we accept inside params. The other open ones are refused.
const openCases = `
i_number_double_huge_neg_exp.json i_number_huge_exp.json i_number_neg_int_huge_exp.json
i_number_pos_double_huge_exp.json i_number_real_neg_overflow.json i_number_real_pos_overflow.json
i_number_real_underflow.json i_number_too_big_neg_int.json i_number_too_big_pos_int.json
i_number_very_big_negative_int.json i_structure_500_nested_arrays.json`

func TestParseAgreesWithJSONTestSuiteR001(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(need.Shared(t, "suites", "json"), "*.json"))
	if err != nil || len(files) < 300 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	accepted := map[byte]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		_, whole := jsonrpc.Parse(text)
		_, inside := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"v":` + string(text) + `}}`))
		if inside == nil {
			accepted[name[0]]++
		}
		switch name[0] {
		case 'n':
			wantCode(t, whole, jsonrpc.CodeParseError)
			wantCode(t, inside, jsonrpc.CodeParseError)
		case 'y':
			duplicates := strings.HasPrefix(name, "y_object_duplicated_key")
			if (inside != nil) != duplicates {
				t.Errorf("%s inside params: %v", name, inside)
			}
			if !duplicates {
				wantCode(t, whole, jsonrpc.CodeInvalidRequest)
			}
		case 'i':
			if want := strings.Contains(openCases, name); (inside == nil) != want {
				t.Errorf("%s inside params: %v, accepted before: %v", name, inside, want)
			}
		}
	}
	if accepted['n'] != 0 || accepted['y'] != 93 {
		t.Errorf("accepted: %d of the files that are no JSON, want 0; %d of those that are, want 93", accepted['n'], accepted['y'])
	}
}
