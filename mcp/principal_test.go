package mcp_test

import (
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
)

func TestPrincipalTravelsInAContext(t *testing.T) {
	if p := mcp.PrincipalFrom(t.Context()); p != nil || p.ID() != "" {
		t.Errorf("got %v from a context without one", p)
	}
	alice := &mcp.Principal{Name: "alice"}
	if p := mcp.PrincipalFrom(mcp.WithPrincipal(t.Context(), alice)); p != alice {
		t.Errorf("got %v, want alice", p)
	}
}

func TestReleaseIsOptional(t *testing.T) {
	new(mcp.Call).Release() // a transport without it
	released := false
	(&mcp.Call{Hangup: func() { released = true }}).Release()
	if !released {
		t.Error("the transport was not told")
	}
}
