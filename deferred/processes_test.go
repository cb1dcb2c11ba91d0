package deferred_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// Two fixtures on one store are two processes on one database.

func TestWorkThatDiedWithItsProcessIsReportedAsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first := newFixture(t, &deferred.Options{Store: store})
		id := first.as(t, "ann").call("wait", "{}").ID
		time.Sleep(10 * deferred.Lease)
		first.d.Die()

		u := newFixture(t, &deferred.Options{Store: store}).as(t, "ann")
		u.wantStatus(id, mcp.DeferredWorking) // nobody can know yet
		time.Sleep(deferred.Lease + time.Second)
		d := u.wantStatus(id, mcp.DeferredFailed)
		if d.Error.Code != jsonrpc.CodeInternalError || !strings.Contains(d.Error.Message, "stopped while it worked") || d.StatusMessage == "" {
			t.Errorf("the error is %v, the message %q", d.Error, d.StatusMessage)
		}
	})
}

func TestWorkOfALivingProcessIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first, second := newFixture(t, &deferred.Options{Store: store}), newFixture(t, &deferred.Options{Store: store})
		id := first.as(t, "ann").call("wait", "{}").ID
		u := second.as(t, "ann")
		for range 20 {
			time.Sleep(deferred.Lease / 3)
			u.wantStatus(id, mcp.DeferredWorking)
		}
		close(first.open)
		synctest.Wait()
		u.wantStatus(id, mcp.DeferredCompleted)
	})
}

func TestALaterWorkerIsSeenAliveAfterARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first, second := newFixture(t, &deferred.Options{Store: store}), newFixture(t, &deferred.Options{Store: store})
		ann := first.as(t, "ann")
		ann.call("add", `{"a":1,"b":2}`)
		time.Sleep(time.Hour) // the mark is no longer good
		if _, err := store.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		id := ann.call("wait", "{}").ID
		second.as(t, "ann").wantStatus(id, mcp.DeferredWorking)
	})
}

func TestParkedResultsSurviveTheirProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first := newFixture(t, &deferred.Options{Store: store})
		id := first.as(t, "ann").call("confirm", "{}").ID
		synctest.Wait()
		first.d.Die()
		time.Sleep(10 * time.Minute)

		u := newFixture(t, &deferred.Options{Store: store}).as(t, "ann")
		u.wantStatus(id, mcp.DeferredInputRequired)
		u.update(id, `{"name":{"action":"accept","content":{"value":"Ann"}},"city":{"action":"accept","content":{"value":"Rome"}}}`)
		synctest.Wait()
		u.update(id, `{"sure":{"action":"accept","content":{"value":"yes"}}}`)
		synctest.Wait()
		if d := u.wantStatus(id, mcp.DeferredCompleted); !strings.Contains(string(d.Result), `yes, kept \"Ann from Rome\"`) {
			t.Errorf("the result is %s", d.Result)
		}
	})
}

func TestWorkIsGivenUpThroughAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first, second := newFixture(t, &deferred.Options{Store: store}), newFixture(t, &deferred.Options{Store: store})
		id := first.as(t, "ann").call("wait", "{}").ID
		synctest.Wait()
		second.as(t, "ann").cancel(id)
		time.Sleep(2 * deferred.Beat)
		if err := first.d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		first.as(t, "ann").wantStatus(id, mcp.DeferredCancelled)
	})
}

func TestSubscribersHearOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := deferred.NewMemory(0, 0)
		first, second := newFixture(t, &deferred.Options{Store: store}), newFixture(t, &deferred.Options{Store: store})
		id := first.as(t, "ann").call("wait", "{}").ID
		synctest.Wait()
		u := second.as(t, "ann")
		u.Send(listen(id))
		u.Receive()
		if line := u.Receive(); !strings.Contains(line, `"status":"working"`) {
			t.Errorf("heard %s", line)
		}
		time.Sleep(time.Minute)
		if lines := u.Unread(); len(lines) > 0 {
			t.Errorf("heard of nothing new: %s", lines)
		}
		close(first.open)
		time.Sleep(2 * deferred.Beat)
		if line := u.Receive(); !strings.Contains(line, `"status":"completed"`) {
			t.Errorf("heard %s", line)
		}
		time.Sleep(time.Minute)
		if lines := u.Unread(); len(lines) > 0 {
			t.Errorf("heard of nothing new: %s", lines)
		}
	})
}

func TestAnswersToTwoProcessesAtOnceRunTheWorkOnce(t *testing.T) {
	for range 20 {
		store := deferred.NewMemory(0, 0)
		first, second := newFixture(t, &deferred.Options{Store: store}), newFixture(t, &deferred.Options{Store: store})
		a, b := first.as(t, "ann"), second.as(t, "ann")
		id := a.call("confirm", "{}").ID
		if err := first.d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { // awaited below
			defer close(done)
			b.update(id, `{"name":{"action":"accept","content":{"value":"Ann"}}}`)
		}()
		a.update(id, `{"city":{"action":"accept","content":{"value":"Rome"}}}`)
		<-done
		for _, f := range []*fixture{first, second} {
			if err := f.d.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if d := a.wantStatus(id, mcp.DeferredInputRequired); len(d.InputRequests) != 1 || d.InputRequests[0].Key != "sure" {
			t.Errorf("it asks %v", d.InputRequests)
		}
	}
}
