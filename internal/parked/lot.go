// Package parked keeps connections on which nothing is expected but that the
// other side hangs up, and something is written only now and then.
//
// Plain TCP on Linux costs no goroutine: one waits for all connections of a lot, by
// an epoll of the lot's own. The runtime keeps the record of every goroutine, and of
// every descriptor that its own poller waits for, until the process ends; so a
// server that once had very many idle connections would stay large if each of them
// had those. Any other connection costs a goroutine that waits in Read.
package parked

import (
	"net"
	"time"
)

// Conn is a connection that is parked. What the other side sends is thrown away.
type Conn interface {
	// Watch names the owner. It is called once, before or after anything that
	// ends the connection; without it nobody is told.
	Watch(owner Owner)
	// Write writes all of text and waits for room for as long as patience says.
	// If it fails, the connection is closed: a part may be on the way. Only one
	// goroutine writes at a time.
	Write(text []byte, patience time.Duration) error
	// Interrupt lets the owner end the connection. It does not block.
	Interrupt()
	// Close hangs up. A Write that waits fails, and the owner is told.
	Close()
}

// Owner is told, once, that nothing more is to be expected of a connection. Gone
// says that the other side hung up, sent too much, or that the connection was
// closed, and false that it was interrupted. The owner then calls Close. It may
// block: others are not kept waiting for long.
type Owner interface {
	Ended(gone bool)
}

// Lot is where connections are parked. Its zero value is ready, and it holds
// nothing once every connection was closed.
type Lot struct {
	sockets sockets
}

// Park takes conn over: the caller does not use it any more.
func (l *Lot) Park(conn net.Conn) Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		if s, ok := l.sockets.park(tcp); ok {
			return s
		}
	}
	return &held{conn: conn}
}

// maxStray is how much the other side may send, where nobody listens.
const maxStray = 64 << 10
