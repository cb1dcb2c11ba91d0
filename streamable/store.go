package streamable

import (
	"container/list"
	"context"
	"sync"
)

// EventStore keeps messages that were sent on the streams of sessions, so that a
// client can take up a stream that broke. What was not sent yet is not its
// concern. It may forget what is old at any time: a client then misses it.
// Methods are called from many goroutines.
type EventStore interface {
	// Append keeps a message. The sequence numbers of a stream grow; a session
	// has many streams. The store may hold on to message, which does not change.
	Append(ctx context.Context, session string, stream, seq uint64, message []byte) error
	// After returns what is kept of a stream after a sequence number, in order.
	After(ctx context.Context, session string, stream, seq uint64) ([]StoredEvent, error)
	// Forget drops all that is kept of a session.
	Forget(ctx context.Context, session string) error
}

// StoredEvent is a message in an [EventStore].
type StoredEvent struct {
	Seq     uint64
	Message []byte // not to be changed
}

// MemoryStore is an [EventStore] in memory that forgets the oldest messages to
// stay within its bounds.
type MemoryStore struct {
	perSession, total int // bounds in bytes

	mu       sync.Mutex
	order    *list.List // of *stored, oldest first
	sessions map[string]*storedSession
	size     int
}

type storedSession struct {
	kept []*list.Element // its part of order
	size int
}

type stored struct {
	session     string
	stream, seq uint64
	message     []byte
}

// cost is what a message counts for: its length and what it takes to keep it.
func (s *stored) cost() int { return len(s.message) + 256 }

// NewMemoryStore returns a store that keeps at most perSession bytes of a session
// (0: 1 MiB) and total bytes of all (0: 64 MiB). A message over the first bound
// is not kept at all.
func NewMemoryStore(perSession, total int) *MemoryStore {
	setDefault(&perSession, 1<<20)
	setDefault(&total, 64<<20)
	return &MemoryStore{perSession: perSession, total: total, order: list.New(), sessions: make(map[string]*storedSession)}
}

// Append keeps a message.
func (m *MemoryStore) Append(_ context.Context, session string, stream, seq uint64, message []byte) error {
	entry := &stored{session, stream, seq, message}
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry.cost() > m.perSession || entry.cost() > m.total {
		return nil
	}
	s := m.sessions[session]
	if s == nil {
		s = &storedSession{}
		m.sessions[session] = s
	}
	s.kept = append(s.kept, m.order.PushBack(entry))
	s.size += entry.cost()
	m.size += entry.cost()
	for s.size > m.perSession {
		m.dropOldestLocked(session)
	}
	for m.size > m.total {
		m.dropOldestLocked(m.order.Front().Value.(*stored).session)
	}
	return nil
}

// dropOldestLocked forgets the oldest message of a session.
func (m *MemoryStore) dropOldestLocked(session string) {
	s := m.sessions[session]
	entry := m.order.Remove(s.kept[0]).(*stored)
	s.kept[0] = nil
	s.kept = s.kept[1:]
	s.size -= entry.cost()
	m.size -= entry.cost()
	if len(s.kept) == 0 {
		delete(m.sessions, session)
	}
}

// After returns what is kept of a stream after seq.
func (m *MemoryStore) After(_ context.Context, session string, stream, seq uint64) ([]StoredEvent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return nil, nil
	}
	var found []StoredEvent
	for _, element := range s.kept {
		if entry := element.Value.(*stored); entry.stream == stream && entry.seq > seq {
			found = append(found, StoredEvent{entry.seq, entry.message})
		}
	}
	return found, nil
}

// Forget drops a session.
func (m *MemoryStore) Forget(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[session]; s != nil {
		for range len(s.kept) {
			m.dropOldestLocked(session)
		}
	}
	return nil
}
