package stdio

import "os"

// writeAtOnce returns a function that leaves all of it to a goroutine: Windows has
// no way to write to a pipe without waiting.
func writeAtOnce(*os.File) func(p []byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}
