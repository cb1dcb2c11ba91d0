// Package peer keeps one JSON-RPC connection: it frames messages, answers what
// the other side asks, asks in turn, cancels, and ends in order.
//
// A [Peer] reads on one goroutine, the one that called [Peer.Run]. Each request
// runs on a goroutine of its own, which Run waits for; notifications are taken
// on the reading goroutine, in order, so that a cancellation never waits behind
// the work it cancels.
package peer
