package resource

import (
	"container/list"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	maxAddresses = 10_000 // whose failures are remembered
	maxAddress   = 64     // bytes of an address
	maxGood      = 4_096  // good credentials that are remembered
)

// failures counts refused credentials by address, in bounded memory. All windows
// are equally long, so the order in which they began is the order in which they
// end: when memory is full, the one that would end first goes.
type failures struct {
	max    int
	window time.Duration
	seed   maphash.Seed

	mu      sync.Mutex
	byStart *list.List // of *failing
	entries map[string]*list.Element
	good    map[uint64]struct{} // hashes of credentials that were accepted
	goodAt  [maxGood]uint64     // the same in the order they came, as a ring
	goodEnd int
}

type failing struct {
	address string
	since   time.Time
	count   int
}

func newFailures(limit int, window time.Duration) *failures {
	return &failures{
		max: limit, window: window, seed: maphash.MakeSeed(),
		byStart: list.New(), entries: make(map[string]*list.Element), good: make(map[uint64]struct{}),
	}
}

// wait returns how long an address may show nothing more, 0 if it may now. A
// credential that was accepted before is never held up: one client with a stale
// key must not lock out all who share its address.
func (f *failures) wait(address string, c Credential) time.Duration {
	if f.max < 0 {
		return 0
	}
	hash := maphash.String(f.seed, c.Secret)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endWindowsLocked()
	e, ok := f.entries[short(address)]
	if !ok || e.Value.(*failing).count < f.max {
		return 0
	}
	if _, ok := f.good[hash]; ok {
		return 0
	}
	return time.Until(e.Value.(*failing).since.Add(f.window))
}

// note counts a failure, and reports whether it was the last that is allowed.
func (f *failures) note(address string) bool {
	if f.max < 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endWindowsLocked()
	address = short(address)
	e, ok := f.entries[address]
	if !ok {
		if f.byStart.Len() == maxAddresses {
			f.dropLocked(f.byStart.Front())
		}
		e = f.byStart.PushBack(&failing{address: strings.Clone(address), since: time.Now()})
		f.entries[e.Value.(*failing).address] = e
	}
	e.Value.(*failing).count++
	return e.Value.(*failing).count == f.max
}

// forgive remembers a credential that was accepted.
func (f *failures) forgive(c Credential) {
	if f.max < 0 {
		return
	}
	hash := maphash.String(f.seed, c.Secret)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.good[hash]; ok {
		return
	}
	if len(f.good) == maxGood {
		delete(f.good, f.goodAt[f.goodEnd])
	}
	f.good[hash] = struct{}{}
	f.goodAt[f.goodEnd] = hash
	f.goodEnd = (f.goodEnd + 1) % maxGood
}

func (f *failures) endWindowsLocked() {
	for e := f.byStart.Front(); e != nil && time.Since(e.Value.(*failing).since) >= f.window; e = f.byStart.Front() {
		f.dropLocked(e)
	}
}

func (f *failures) dropLocked(e *list.Element) {
	f.byStart.Remove(e)
	delete(f.entries, e.Value.(*failing).address)
}

func short(address string) string { return address[:min(len(address), maxAddress)] }

// remoteHost is the address of whoever connected. One who has an IPv6 address
// has a /64 of them.
func remoteHost(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
