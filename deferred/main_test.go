package deferred_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/mcptest"
)

var _ = flag.Bool("update", false, "rewrite the transcripts")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) { mcptest.Transcripts(t, "testdata/transcripts", transcriptServer) }
