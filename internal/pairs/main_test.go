package pairs_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the transcripts and the table")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
