//go:build race

package schema_test

// slowdown is how much more time tests allow themselves.
const slowdown = 20
