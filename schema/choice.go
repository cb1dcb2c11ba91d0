package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// choice explains a value that fits none of several forms. When they all want
// other types, or other values of one member, it lists those. Otherwise it tells
// what is wrong with the form that comes closest.
func (x *explainer) choice(e *jsonschema.ValidationError) []finding {
	var wanted []string
	var forms [][]finding
	for _, cause := range e.Causes {
		if x.left--; x.left < 0 {
			break
		}
		if types, ok := typesWanted(cause, len(e.InstanceLocation)); ok {
			wanted = append(wanted, types...)
			continue
		}
		forms = append(forms, x.findings(cause))
	}
	raw, _, _ := x.locate(e.InstanceLocation)
	switch {
	case len(forms) == 0 && len(wanted) == 0:
		return []finding{x.at(e.InstanceLocation, "matches none of the allowed forms")}
	case len(forms) == 0:
		slices.Sort(wanted)
		return []finding{x.at(e.InstanceLocation, wrongType(raw, slices.Compact(wanted)))}
	case len(forms) == 1:
		return forms[0]
	}
	if f, ok := x.discriminated(forms); ok {
		return []finding{f}
	}
	closest := slices.MinFunc(forms, func(a, b []finding) int { return cmp.Compare(remoteness(a), remoteness(b)) })
	parts := make([]string, 0, 3)
	for _, f := range closest[:min(len(closest), cap(parts))] {
		parts = append(parts, f.Problem.String())
	}
	return []finding{x.at(e.InstanceLocation,
		"matches none of "+plural(len(e.Causes), "allowed form")+"; the closest fails because "+strings.Join(parts, " and "))}
}

// typesWanted returns the types that a form wants, if that is all that is wrong.
func typesWanted(e *jsonschema.ValidationError, depth int) ([]string, bool) {
	for {
		if k, ok := e.ErrorKind.(*kind.Type); ok && len(e.InstanceLocation) == depth {
			return k.Want, true
		}
		if _, ok := e.ErrorKind.(*kind.Reference); !ok || len(e.Causes) != 1 {
			return nil, false
		}
		e = e.Causes[0]
	}
}

// discriminated finds a place where each form wants one value, and none the one
// that is there.
func (x *explainer) discriminated(forms [][]finding) (finding, bool) {
	for _, first := range forms[0] {
		var allowed [][]byte
		for _, form := range forms {
			i := slices.IndexFunc(form, func(f finding) bool { return f.want != nil && f.Path == first.Path })
			if i >= 0 {
				allowed = append(allowed, form[i].want)
			}
		}
		if len(allowed) == len(forms) {
			first.Message = notListed(first.got, allowed)
			return first, true
		}
	}
	return finding{}, false
}

// remoteness tells how far a value is from a form. Wrong constants count more,
// since they often tell one form from another.
func remoteness(form []finding) int {
	n := len(form)
	for _, f := range form {
		if f.want != nil {
			n += 3
		}
	}
	return n
}
