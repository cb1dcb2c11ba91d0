// Package jsonscan reads JSON as text.
//
// [Check] judges: it accepts exactly one strict value. Strict means RFC 8259
// with nothing left open: member names are unique within their object, text is
// valid UTF-8, and escapes never leave half a surrogate pair.
//
// The other readers trust: they walk text that Check has accepted, hand out
// slices of it, and never look at a byte twice without need. Given other text
// they stop early or return nonsense, but do not panic.
package jsonscan
