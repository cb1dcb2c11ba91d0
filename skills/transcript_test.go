package skills_test

import (
	"flag"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/skills"
)

var _ = flag.Bool("update", false, "rewrite the transcripts")

func TestTranscripts(t *testing.T) {
	mcptest.Transcripts(t, "testdata/transcripts", func(t *testing.T, _ string) mcp.Handler {
		return serve(t, folder(
			"refunds/SKILL.md", about("refunds"),
			"refunds/examples/email.md", "Dear customer",
			"reports/SKILL.md", about("reports"),
		), &skills.Options{Dynamic: []string{"reports"}, PageSize: 1})
	})
}
