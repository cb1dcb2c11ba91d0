// Package peer keeps one JSON-RPC connection: it frames messages, answers what
// the other side asks, asks in turn, cancels, and ends in order.
//
// A [Peer] reads on one goroutine, which [Peer.Run] starts. Each request runs on a
// goroutine of its own, which Run waits for; notifications are taken on the reading
// goroutine, in order, so that a cancellation never waits behind the work it
// cancels. Requests that are known to be short are answered by the goroutine that
// reads: another takes its place there as soon as one of them is not.
package peer
