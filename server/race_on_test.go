//go:build race

package server

// slowdown is how much more time tests allow themselves.
const slowdown = 20
