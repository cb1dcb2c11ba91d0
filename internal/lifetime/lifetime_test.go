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
