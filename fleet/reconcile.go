package fleet

import (
	"maps"
	"slices"
)

// verb is what is to be done with a server.
type verb string

const (
	add     verb = "add"     // there was none of that name
	remove  verb = "remove"  // it is not wanted any more
	replace verb = "replace" // it is to be another process or another address
	adjust  verb = "adjust"  // it may go on, under other rules
)

type action struct {
	verb verb
	name string
}

// reconcile returns what turns the running servers into those that are wanted,
// in the order of their names. What is right already is not touched.
func reconcile(wanted, running map[string]ServerConfig) []action {
	var actions []action
	for name, w := range wanted {
		r, ok := running[name]
		switch {
		case !ok:
			actions = append(actions, action{add, name})
		case !sameServer(&w, &r):
			actions = append(actions, action{replace, name})
		case !sameRules(&w, &r):
			actions = append(actions, action{adjust, name})
		}
	}
	for name := range running {
		if _, ok := wanted[name]; !ok {
			actions = append(actions, action{remove, name})
		}
	}
	slices.SortFunc(actions, func(a, b action) int {
		if a.name < b.name {
			return -1
		}
		return 1 // no name comes twice
	})
	return actions
}

// sameServer reports whether two configurations lead to the same connection.
func sameServer(a, b *ServerConfig) bool {
	return a.Command == b.Command && slices.Equal(a.Args, b.Args) && maps.Equal(a.Env, b.Env) && a.Dir == b.Dir &&
		a.URL == b.URL && maps.Equal(a.Header, b.Header) && a.SSE == b.SSE && a.Login.equal(b.Login) &&
		a.Disabled == b.Disabled && a.Timeout == b.Timeout && textOf(a.Err) == textOf(b.Err)
}

// sameRules reports whether two configurations of a server start it and filter
// its tools alike.
func sameRules(a, b *ServerConfig) bool {
	return a.Eager == b.Eager && slices.Equal(a.Deny, b.Deny) &&
		slices.Equal(a.Allow, b.Allow) && (a.Allow == nil) == (b.Allow == nil)
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
