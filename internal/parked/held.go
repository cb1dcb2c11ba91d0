package parked

import (
	"errors"
	"net"
	"os"
	"time"
)

// held is a connection with a goroutine that waits in Read.
type held struct {
	conn net.Conn
}

func (h *held) Watch(owner Owner) {
	go func() { owner.Ended(h.idle()) }() // Ended is the last it does, so the owner can wait for it
}

// idle returns when the other side has gone, which it reports, or at Interrupt.
func (h *held) idle() (gone bool) {
	stray, buf := 0, make([]byte, 16)
	for stray < maxStray {
		n, err := h.conn.Read(buf)
		if err != nil {
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
		stray += n
	}
	return true
}

// Write leaves the deadline: every other write sets its own.
func (h *held) Write(text []byte, patience time.Duration) error {
	_ = h.conn.SetWriteDeadline(time.Now().Add(patience))
	_, err := h.conn.Write(text)
	if err != nil {
		h.Close()
	}
	return err
}

func (h *held) Interrupt() { _ = h.conn.SetReadDeadline(time.Unix(1, 0)) }

func (h *held) Close() { _ = h.conn.Close() }
