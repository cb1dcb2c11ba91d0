// Package plain reads and writes the JSON of plain Go types: booleans, numbers,
// strings, and pointers to, slices of and structs of such. A [Codec] is made once
// for a type and then does without the bookkeeping of package json, which it
// follows to the letter: what it is not sure of it leaves to that package.
package plain
