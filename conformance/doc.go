// Package conformance runs the protocol's own conformance suite against this
// toolkit: package server beside it offers what the suite looks for.
package conformance
