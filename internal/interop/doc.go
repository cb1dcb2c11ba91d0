// Package interop holds bossman to clients that nobody here wrote. It has tests
// only: each starts the program and lets a published client use it, over standard
// input and output and over HTTP with an API key.
package interop
