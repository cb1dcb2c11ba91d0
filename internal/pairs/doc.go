// Package pairs holds our client to our server, each as it would be if the newest
// revisions had not been written yet: every pair, over standard input and output
// and over HTTP. It has tests only. What a pair says is kept as a transcript.
package pairs
