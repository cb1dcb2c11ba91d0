//go:build !unix

package schema_test

import "time"

// processorTime stands in for the time that the processor has spent.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
