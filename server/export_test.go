package server

// Slowdown is how much more time tests allow themselves.
const Slowdown = slowdown
