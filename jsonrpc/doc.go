// Package jsonrpc is JSON-RPC 2.0 as text: messages, ids kept as they were
// written, batches and error codes. It does no I/O and starts no goroutines;
// package peer puts it on a connection.
//
// Reading is strict, see [Parse]. What a handler gets is what the sender wrote,
// or the sender gets an error: nothing is guessed, folded or rounded.
package jsonrpc
