package schema

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// explainer turns the library's findings about a value into problems.
type explainer struct {
	value   []byte
	located map[string]*jsonschema.Schema // may be nil
	left    int                           // findings that will still be looked at
}

// maxFindings bounds the work of explaining, and maxPerForm what one of several
// forms may take of it.
const (
	maxFindings = 500
	maxPerForm  = 2 * maxProblems
)

// finding is a problem with the place where its value starts, for order.
type finding struct {
	Problem
	at int
}

// explain returns the problems in the order of the value, without repetition.
func explain(e *jsonschema.ValidationError, value []byte, located map[string]*jsonschema.Schema) []Problem {
	x := explainer{value: value, located: located, left: maxFindings}
	found := x.findings(e)
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	found = slices.Compact(found)
	r := new(report)
	for _, f := range found {
		r.path = []string{f.Path}
		r.add(f.Message)
	}
	if len(r.problems) == 0 {
		r.add("does not match the schema")
	}
	return r.problems
}

func (x *explainer) findings(e *jsonschema.ValidationError) []finding {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return x.all(e.Causes)
	case *kind.AnyOf:
		return x.choice(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.choice(e)
		}
	case *kind.AdditionalProperties:
		return x.unknown(e, k.Properties)
	case *kind.Required:
		var found []finding
		for _, name := range k.Missing[:min(len(k.Missing), maxPerForm)] {
			found = append(found, x.at(e.InstanceLocation, missing(name)))
		}
		return found
	case *kind.FalseSchema:
		if name, ok := unevaluated(e); ok {
			parent := e.InstanceLocation[:len(e.InstanceLocation)-1]
			return []finding{x.at(parent, "unknown argument "+quoted(name))}
		}
	case *kind.PropertyNames:
		var found []finding
		for _, f := range x.inside(k.Property).all(e.Causes) {
			found = append(found, x.at(e.InstanceLocation, "name "+quoted(k.Property)+" is not allowed: "+f.Message))
		}
		return found
	}
	raw, _, _ := x.locate(e.InstanceLocation)
	return []finding{x.at(e.InstanceLocation, x.leaf(e, raw))}
}

// inside returns an explainer for the name of a member, taken as a value.
func (x *explainer) inside(name string) *explainer {
	return &explainer{value: jsonscan.AppendQuote(nil, name), left: maxPerForm}
}

// all explains several findings, or as many as are useful, in an order that does
// not depend on chance.
func (x *explainer) all(causes []*jsonschema.ValidationError) []finding {
	slices.SortStableFunc(causes, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(
			slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareSteps),
			cmp.Compare(a.SchemaURL, b.SchemaURL),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	})
	var found []finding
	for _, cause := range causes {
		if x.left--; x.left < 0 || len(found) > maxPerForm {
			break
		}
		found = append(found, x.findings(cause)...)
	}
	return found
}

// compareSteps orders the steps of two locations, indexes by their value.
func compareSteps(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(m, n)
	}
	return cmp.Compare(a, b)
}

func (x *explainer) at(location []string, message string) finding {
	_, path, at := x.locate(location)
	return finding{Problem: Problem{Path: path, Message: message}, at: at}
}

// locate finds a part of the value, its path, and where it starts.
func (x *explainer) locate(location []string) (raw []byte, path string, at int) {
	raw = x.value
	var b strings.Builder
	for i, step := range location {
		var next []byte
		if jsonscan.KindOf(raw) == jsonscan.Array {
			b.WriteString("[" + step + "]")
			next = element(raw, step)
		} else {
			b.WriteString(memberStep(step, i == 0))
			next = jsonscan.Get(raw, step)
		}
		at += cap(raw) - cap(next) // both end with the same array
		raw = next
	}
	return raw, b.String(), at
}

func element(array []byte, index string) []byte {
	n, err := strconv.Atoi(index)
	if err != nil {
		return nil
	}
	for item := range jsonscan.Elements(array) {
		if n == 0 {
			return item
		}
		n--
	}
	return nil
}

func (x *explainer) unknown(e *jsonschema.ValidationError, names []string) []finding {
	var allowed []string
	if s := x.located[e.SchemaURL]; s != nil {
		allowed = slices.Sorted(maps.Keys(s.Properties))
	}
	slices.Sort(names)
	var found []finding
	for _, name := range names[:min(len(names), maxPerForm)] {
		found = append(found, x.at(e.InstanceLocation, unknown(name, allowed)))
	}
	return found
}

// unevaluated returns the name of a member that is unknown to all keywords.
func unevaluated(e *jsonschema.ValidationError) (string, bool) {
	if len(e.InstanceLocation) == 0 || !strings.HasSuffix(e.SchemaURL, "/unevaluatedProperties") {
		return "", false
	}
	return e.InstanceLocation[len(e.InstanceLocation)-1], true
}

// choice explains a value that fits none of several forms: the problems with the
// form that comes closest, or, when all want other types, those types.
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
	best := slices.MinFunc(forms, func(a, b []finding) int { return cmp.Compare(len(a), len(b)) })
	found := []finding{x.at(e.InstanceLocation, "matches none of "+plural(len(e.Causes), "allowed form")+"; the closest form has these problems")}
	return append(found, best...)
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

// rational writes a bound of the library's.
func rational(r *big.Rat) string {
	if r == nil {
		return "its bound"
	}
	if r.IsInt() {
		return newDecimal([]byte(r.Num().String())).String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
