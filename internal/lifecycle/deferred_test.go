package lifecycle

import (
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
)

// FuzzReadDeferred reads states as a hostile server may write them: one that is
// accepted has what its status promises.
func FuzzReadDeferred(f *testing.F) {
	const times = `"createdAt":"2025-01-01T00:00:00Z","lastUpdatedAt":"2025-01-01T00:00:00Z","ttlMs":null`
	for _, text := range []string{
		`{"taskId":"a","status":"working",` + times + `}`,
		`{"taskId":"a","status":"input_required",` + times + `,"inputRequests":{"q":{"method":"roots/list"}}}`,
		`{"taskId":"a","status":"completed",` + times + `,"result":{"content":[]}}`,
		`{"taskId":"a","status":"failed",` + times + `,"error":{"code":1,"message":"m"}}`,
		`{"taskId":"a","status":"failed","error":null}`,
		`{"taskId":"a","status":"completed","result":[]}`,
		`{"taskId":"","status":"working"}`, `[]`, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ReadDeferred(text)
		if err != nil {
			if d != nil {
				t.Errorf("both a state and %v", err)
			}
			return
		}
		switch d.Status {
		case mcp.DeferredCompleted:
			if d.Result.Kind() != '{' {
				t.Errorf("%s has no result", text)
			}
		case mcp.DeferredFailed:
			if d.Error == nil {
				t.Errorf("%s has no error", text)
			}
		case mcp.DeferredWorking, mcp.DeferredInputRequired, mcp.DeferredCancelled:
		default:
			t.Errorf("%s has the status %q", text, d.Status)
		}
		if d.ID == "" {
			t.Errorf("%s has no id", text)
		}
	})
}
