package lifetime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bossman-mcp/bossman/internal/lifetime"
)

type colour struct{}

func TestTheEndOfTheValuesDoesNotMatter(t *testing.T) {
	values, cancel := context.WithCancelCause(context.WithValue(t.Context(), colour{}, "green"))
	l := &lifetime.Context{Values: values}
	child, cancelChild := context.WithCancel(l)
	defer cancelChild()
	cancel(errors.New("of the values only"))
	for name, ctx := range map[string]context.Context{"itself": l, "a child": child, "uncancelled": lifetime.Uncancelled(l)} {
		if ctx.Err() != nil || context.Cause(ctx) != nil {
			t.Errorf("%s is over with its values: %v, because of %v", name, ctx.Err(), context.Cause(ctx))
		}
		if got := ctx.Value(colour{}); got != "green" {
			t.Errorf("%s has the value %v", name, got)
		}
	}
	l.Cancel()
	if l.Err() != context.Canceled || context.Cause(l) != context.Canceled || context.Cause(child) != context.Canceled {
		t.Errorf("after its end: %v, %v, a child %v", l.Err(), context.Cause(l), context.Cause(child))
	}
	if lifetime.Uncancelled(l).Err() != nil {
		t.Error("what is uncancelled ended")
	}
}

func TestAnEndWithValues(t *testing.T) {
	values, cancelValues := context.WithCancel(context.WithValue(t.Context(), colour{}, "green"))
	cancelValues() // which does not matter
	var end lifetime.End
	ctx := end.With(values)
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	bare := lifetime.EndOf(ctx)
	if ctx.Value(colour{}) != "green" || child.Value(colour{}) != "green" || bare.Value(colour{}) != nil {
		t.Errorf("got %v, %v in the child, %v in the end alone", ctx.Value(colour{}), child.Value(colour{}), bare.Value(colour{}))
	}
	if ctx.Err() != nil || child.Err() != nil || bare.Err() != nil {
		t.Error("it is over before its end")
	}
	end.Cancel()
	for _, ctx := range []context.Context{ctx, child, bare} {
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", ctx.Err())
		}
	}
	if kept := lifetime.Uncancelled(ctx); kept.Err() != nil || kept.Value(colour{}) != "green" {
		t.Errorf("what is never done has %v, %v", kept.Err(), kept.Value(colour{}))
	}
}

func TestEndOfAnotherContext(t *testing.T) {
	ctx := context.WithValue(t.Context(), colour{}, "green")
	if lifetime.EndOf(ctx) != ctx {
		t.Error("a context that is not ours was changed")
	}
}
