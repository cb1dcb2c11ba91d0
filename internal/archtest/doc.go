// Package archtest holds the design of the module as tests over its own source:
// who may import whom, where revision dates live, that names are documented,
// that public packages have examples, how large things may grow, and that the
// documents tell the truth.
//
// The tests find packages and files by themselves, from the folder of go.mod
// down, so that a new package is judged without being listed. Every rule carries
// small sources that break it, and is run on them first: a rule that cannot fail
// is itself a failure. Exceptions stand beside their rule, each with its reason,
// and one that is no longer needed is a failure too.
package archtest
