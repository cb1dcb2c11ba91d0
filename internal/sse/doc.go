// Package sse is the text of server-sent events, both ways: what a server writes
// on an event stream, and what a client reads from one. It follows the event
// stream interpretation of the HTML standard, with caps, and with one difference:
// the reader also reports blocks without data, because MCP primes its streams
// with those.
package sse
