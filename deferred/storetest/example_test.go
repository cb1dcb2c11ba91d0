package storetest_test

import (
	"fmt"
	"testing"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/deferred/storetest"
)

// A store of your own is tested by one function.
func Example() {
	testMyStore := func(t *testing.T) {
		stores := make(map[*testing.T]deferred.Store)
		storetest.Run(t, func(t *testing.T) deferred.Store {
			if stores[t] == nil {
				stores[t] = deferred.NewMemory(0, 0) // yours
			}
			return stores[t]
		})
	}
	fmt.Printf("%T\n", testMyStore)
	// Output: func(*testing.T)
}
