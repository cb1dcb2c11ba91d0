package revision

import (
	"fmt"
	"slices"
	"strings"
)

// The eras, by name: groups of revisions for [Select].
const (
	EraHandshake = "handshake"
	EraStateless = "stateless"
)

// Selection is the revisions that one side is willing to speak, newest first in
// either era.
type Selection struct {
	Handshake []*Revision
	Stateless []*Revision
}

// Select reads a selection: the names of revisions and eras, separated by commas.
// An empty list selects every revision.
func Select(list string) (Selection, error) {
	wanted := strings.Split(list, ",")
	for i, name := range wanted {
		wanted[i] = strings.TrimSpace(name)
		if name = wanted[i]; list != "" && name != EraHandshake && name != EraStateless && Lookup(name) == nil {
			return Selection{}, fmt.Errorf("no such protocol revision: %q; known are %s", name, strings.Join(Names(All()), ", "))
		}
	}
	var s Selection
	for _, r := range slices.Backward(All()) {
		era, to := EraHandshake, &s.Handshake
		if r.Stateless {
			era, to = EraStateless, &s.Stateless
		}
		if list == "" || slices.Contains(wanted, r.Name) || slices.Contains(wanted, era) {
			*to = append(*to, r)
		}
	}
	return s, nil
}

// IsZero reports whether nothing is selected.
func (s Selection) IsZero() bool { return s.Handshake == nil && s.Stateless == nil }

// Lookup returns the selected revision with that name, nil if there is none.
func (s Selection) Lookup(name string) *Revision {
	if r := Lookup(name); slices.Contains(s.Handshake, r) || slices.Contains(s.Stateless, r) {
		return r
	}
	return nil
}

// Negotiate returns the revision that a server answers to an initialize request
// for name: the same one if it is selected and opens with a handshake, else the
// newest that does. It is nil if none does.
func (s Selection) Negotiate(name string) *Revision {
	for _, r := range s.Handshake {
		if r.Name == name {
			return r
		}
	}
	if len(s.Handshake) == 0 {
		return nil
	}
	return s.Handshake[0]
}

// Names returns the names of revisions, in their order.
func Names(revisions []*Revision) []string {
	names := make([]string, 0, len(revisions))
	for _, r := range revisions {
		names = append(names, r.Name)
	}
	return names
}
