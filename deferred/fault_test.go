package deferred_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// faulty is a store that fails when it is told to.
type faulty struct {
	deferred.Store
	before  func()          // runs before an entry is made; may be nil
	created func(id string) // hears of entries; may be nil

	mu     sync.Mutex
	create error
	load   error
	swap   error
	swaps  int // how many more fail; negative: all
	id     string
}

var errDisk = errors.New("the disk is on fire")

func (s *faulty) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *faulty) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

func (s *faulty) Create(ctx context.Context, id string, data []byte, until time.Time) error {
	s.mu.Lock()
	err := s.create
	mark := strings.HasPrefix(id, "worker-")
	if !mark {
		s.id = id
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if s.before != nil && !mark {
		s.before()
	}
	err = s.Store.Create(ctx, id, data, until)
	if s.created != nil && !mark {
		s.created(id)
	}
	return err
}

func (s *faulty) Load(ctx context.Context, id string) ([]byte, int64, error) {
	s.mu.Lock()
	err := s.load
	s.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	return s.Store.Load(ctx, id)
}

func (s *faulty) Swap(ctx context.Context, id string, version int64, data []byte, until time.Time) (bool, error) {
	s.mu.Lock()
	var err error
	if s.swaps != 0 {
		err = s.swap
		s.swaps--
	}
	s.mu.Unlock()
	if err != nil {
		return false, err
	}
	return s.Store.Swap(ctx, id, version, data, until)
}

func TestNoHandleWithoutARecord(t *testing.T) {
	store := &faulty{Store: deferred.NewMemory(0, 0), create: errDisk}
	f := newFixture(t, &deferred.Options{Store: store})
	ran := false
	f.s.AddTool(mcp.Tool{Name: "run"}, f.d.Optional(server.Func(func(context.Context, none) (string, error) {
		ran = true
		return "", nil
	})))
	u := f.as(t, "")
	_, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"run"}`))
	wantCode(t, "a store that fails", err, jsonrpc.CodeInternalError)
	if strings.Contains(err.Error(), "fire") {
		t.Errorf("the client learns %v", err)
	}
	store.set(func() { store.create = deferred.ErrFull })
	result, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"run"}`))
	if err != nil || !strings.Contains(string(result), "try again later") {
		t.Errorf("a store that is full: %s, %v", result, err)
	}
	if err := f.d.Settle(t.Context()); err != nil || ran {
		t.Errorf("work began without a record (%v)", err)
	}
}

func TestASlowStoreDoesNotLoseWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: deferred.NewMemory(0, 0), before: func() { time.Sleep(3 * deferred.Beat / 2) }}
		u := newFixture(t, &deferred.Options{Store: store}).as(t, "")
		id := u.call("add", `{"a":1,"b":2}`).ID
		synctest.Wait()
		u.wantStatus(id, mcp.DeferredCompleted)
	})
}

func TestTheEndOfWorkIsWrittenAgainWhenTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: deferred.NewMemory(0, 0), swap: errDisk, swaps: 5}
		f := newFixture(t, &deferred.Options{Store: store})
		u := f.as(t, "")
		id := u.call("add", `{"a":1,"b":2}`).ID
		synctest.Wait()
		u.wantStatus(id, mcp.DeferredWorking)
		time.Sleep(10 * time.Second)
		u.wantStatus(id, mcp.DeferredCompleted)
	})
}

func TestWorkWhoseEndCannotBeWrittenIsReportedAsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: deferred.NewMemory(0, 0), swap: errDisk, swaps: -1}
		f := newFixture(t, &deferred.Options{Store: store})
		u := f.as(t, "")
		id := u.call("add", `{"a":1,"b":2}`).ID
		time.Sleep(time.Minute)
		store.set(func() { store.swap = nil })
		u.wantStatus(id, mcp.DeferredFailed)
		store.set(func() { store.load = errDisk })
		_, err := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
		wantCode(t, "a store that cannot be read", err, jsonrpc.CodeInternalError)
	})
}

func TestAResultThatIsTooLargeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &deferred.Options{Store: deferred.NewMemory(0, 5000)})
		f.s.AddTool(mcp.Tool{Name: "large"}, f.d.Optional(server.Func(func(context.Context, none) (string, error) {
			return strings.Repeat("x", 10_000), nil
		})))
		u := f.as(t, "")
		id := u.call("large", "{}").ID
		synctest.Wait()
		if d := u.wantStatus(id, mcp.DeferredFailed); !strings.Contains(d.Error.Message, "too large") {
			t.Errorf("the error is %v", d.Error)
		}
	})
}

func TestAnswersAreAcknowledgedWhenTheyAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: deferred.NewMemory(0, 0)}
		f := newFixture(t, &deferred.Options{Store: store})
		u := f.as(t, "")
		id := u.call("confirm", "{}").ID
		synctest.Wait()
		store.set(func() { store.swap, store.swaps = errDisk, 1 })
		answers := `{"name":{"action":"accept","content":{"value":"Ann"}},"city":{"action":"accept","content":{"value":"Rome"}}}`
		_, err := u.Request(mcp.MethodUpdateDeferred, jsontext.Value(`{"taskId":"`+id+`","inputResponses":`+answers+`}`))
		wantCode(t, "a store that fails", err, jsonrpc.CodeInternalError)
		u.wantStatus(id, mcp.DeferredInputRequired)
		u.update(id, answers)
		synctest.Wait()
		if d := u.wantStatus(id, mcp.DeferredInputRequired); len(d.InputRequests) != 1 || d.InputRequests[0].Key != "sure" {
			t.Errorf("it asks %v", d.InputRequests)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"A","status":"working","created":"2025-01-01T00:00:00Z","updated":"2025-01-01T00:00:00Z","work":{"params":{},"client":{"name":"a","version":"1"},"capabilities":{}}}`))
	f.Add([]byte(`{"id":"A","status":"completed","created":"2025-01-01T00:00:00Z","updated":"2025-01-01T00:00:00Z","result":{"content":[]}}`))
	f.Add([]byte(`{"id":"A","status":"failed","created":"2025-01-01T00:00:00Z","updated":"2025-01-01T00:00:00Z","error":{"code":1,"message":"m"}}`))
	f.Add([]byte(`{"id":"A","status":"input_required","created":"2025-01-01T00:00:00Z","updated":"2025-01-01T00:00:00Z","work":{"params":{},"client":{"name":"","version":""},"capabilities":{},"wanted":{"a":{"method":"roots/list"}},"answers":{"b":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := deferred.Decode(data)
		if err != nil {
			return
		}
		twice, err := deferred.Decode(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s became %s, %v", once, twice, err)
		}
	})
}
