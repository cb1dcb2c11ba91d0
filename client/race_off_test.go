//go:build !race

package client_test

// slowdown is how much more time tests allow themselves.
const slowdown = 1
