package schema

import (
	"cmp"
	"maps"
	"math"
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

// finding is a problem on its way into the report.
type finding struct {
	Problem
	at   []int  // which member or item each step of the path is, for order
	got  []byte // the value
	want []byte // the one value that would do, if there is one
}

// explain returns the problems in the order of the value, without repetition.
func explain(e *jsonschema.ValidationError, value []byte, located map[string]*jsonschema.Schema) []Problem {
	x := explainer{value: value, located: located, left: maxFindings}
	found := x.findings(e)
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(slices.Compare(a.at, b.at), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	found = slices.CompactFunc(found, func(a, b finding) bool { return a.Problem == b.Problem })
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
			f := x.at(e.InstanceLocation, missing(name))
			f.at = append(f.at, math.MaxInt) // after what is there
			found = append(found, f)
		}
		return found
	case *kind.FalseSchema:
		if last := len(e.InstanceLocation) - 1; last >= 0 && strings.HasSuffix(e.SchemaURL, "/unevaluatedProperties") {
			return []finding{x.stranger(e.InstanceLocation[:last], e.InstanceLocation[last], nil)}
		}
	case *kind.PropertyNames:
		var found []finding
		for _, f := range x.inside(k.Property).all(e.Causes) {
			found = append(found, x.at(e.InstanceLocation, "name "+quoted(k.Property)+" is not allowed: "+f.Message))
		}
		return found
	}
	raw, _, _ := x.locate(e.InstanceLocation)
	f := x.at(e.InstanceLocation, x.leaf(e, raw))
	if k, ok := e.ErrorKind.(*kind.Const); ok {
		f.want = encode(nil, k.Want)
	}
	return []finding{f}
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
	raw, path, at := x.locate(location)
	return finding{Problem: Problem{Path: path, Message: message}, at: at, got: raw}
}

// locate finds a part of the value, its path, and the place of each step.
func (x *explainer) locate(location []string) (raw []byte, path string, at []int) {
	raw = x.value
	var b strings.Builder
	for i, step := range location {
		place := 0
		if jsonscan.KindOf(raw) == jsonscan.Array {
			b.WriteString("[" + step + "]")
			place, _ = strconv.Atoi(step)
			raw = element(raw, step)
		} else {
			b.WriteString(memberStep(step, i == 0))
			raw, place = named(raw, step)
		}
		at = append(at, place)
	}
	return raw, b.String(), at
}

// named returns a member of an object, and which it is.
func named(object []byte, name string) (value []byte, place int) {
	for n, v := range jsonscan.Members(object) {
		if string(n) == name {
			return v, place
		}
		place++
	}
	return nil, place
}

// element returns an item of an array.
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
		found = append(found, x.stranger(e.InstanceLocation, name, allowed))
	}
	return found
}

// stranger is a member that an object must not have: a problem of the object,
// told where the member stands.
func (x *explainer) stranger(object []string, name string, allowed []string) finding {
	f := x.at(object, unknown(name, allowed))
	_, _, f.at = x.locate(append(slices.Clone(object), name))
	return f
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
