// Package contest lets servers run the same course, one after the other and round
// by round, and compares what was measured within each round: a machine that is
// busy for a while slows all of them down.
package contest
