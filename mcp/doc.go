// Package mcp is the vocabulary of the Model Context Protocol, and the waist of
// the toolkit: [Handler] answers a [Call], whatever transport and protocol
// revision brought it.
//
// Types have the shapes of the newest protocol revision, a file a feature.
// Members that only older revisions know are optional and say so. Reading is
// strict about JSON, and lenient about the future: members that a type does not
// name are passed over, and content of an unknown type is kept whole.
//
// Maps are written in no particular order. Who needs the same text for the same
// value writes with json.Deterministic.
package mcp
