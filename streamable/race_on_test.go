//go:build race

package streamable_test

const raceEnabled = true
