package deferred

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// mark is how others see that this process is alive: an entry in the store that
// is renewed while there is work, and says until when it is good. Work under a
// mark that was not renewed in time is taken for left behind.
type mark struct {
	store Store
	name  string // no id of a result

	mu      sync.Mutex
	version int64 // of the entry; 0: there is none
	until   time.Time
}

const (
	// lease is for how long a mark is good.
	lease = 15 * time.Second
	// beat is how often it is renewed.
	beat = 5 * time.Second
)

func newMark(s Store) *mark { return &mark{store: s, name: "worker-" + rand.Text()} }

// renew makes the mark good for a full lease, unless it was just renewed.
func (m *mark) renew(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.until.Sub(now) > lease-beat {
		return nil
	}
	until := now.Add(lease)
	data := until.UTC().AppendFormat(nil, time.RFC3339Nano)
	if m.version > 0 {
		done, err := m.store.Swap(ctx, m.name, m.version, data, until)
		if err != nil {
			return err
		}
		if done {
			m.version, m.until = m.version+1, until
			return nil
		}
		m.version = 0 // it was too late, and swept
	}
	if err := m.store.Create(ctx, m.name, data, until); err != nil {
		return err
	}
	m.version, m.until = 1, until
	return nil
}

// isAlive reports whether the process behind a mark renews it.
func (m *mark) isAlive(ctx context.Context, name string) (bool, error) {
	data, _, err := m.store.Load(ctx, name)
	if err != nil || data == nil {
		return false, err
	}
	until, err := time.Parse(time.RFC3339Nano, string(data))
	return err == nil && time.Now().Before(until), nil
}
