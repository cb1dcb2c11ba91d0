//go:build !unix

package sqlite_test

// limitFiles reports that the size of files cannot be limited.
func limitFiles(uint64) (restore func(), ok bool) { return nil, false }
