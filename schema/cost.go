package schema

import (
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library has no budget of its own: schemas of a few lines can make it check
// one small value billions of times. So the work is counted before it is done,
// once for the schema alone and once for each value.

const (
	maxWeight     = 10_000  // checks of one and the same value
	maxChecks     = 50_000  // checks of a value and all its parts
	maxValueNodes = 200_000 // parts of a value
	stepsPerCheck = 64      // steps of a pattern that cost as much as a check
)

// weigher counts how many schemas look at one value: a schema weighs one, plus
// all that it applies to the same value.
type weigher struct {
	weights map[*jsonschema.Schema]int // 0 while being weighed
}

func newWeigher() *weigher { return &weigher{weights: map[*jsonschema.Schema]int{}} }

// check weighs a schema and everything below it.
func (w *weigher) check(root *jsonschema.Schema) error {
	seen := map[*jsonschema.Schema]bool{root: true}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; {
		s := queue[0]
		queue = queue[1:]
		if _, err := w.weigh(s, 0); err != nil {
			return err
		}
		for _, sub := range subschemas(s) {
			if !seen[sub] {
				seen[sub] = true
				queue = append(queue, sub)
			}
		}
	}
	return nil
}

func (w *weigher) weigh(s *jsonschema.Schema, depth int) (int, error) {
	if weight, ok := w.weights[s]; ok {
		if weight == 0 {
			return 0, errEndless
		}
		return weight, nil
	}
	if depth > 2*maxDepth {
		return 0, errors.New("a chain of references is too long")
	}
	w.weights[s] = 0
	weight := 1
	for _, sub := range inPlace(s) {
		n, err := w.weigh(sub, depth+1)
		if err != nil {
			return 0, err
		}
		if weight += n; weight > maxWeight {
			return 0, fmt.Errorf("keywords such as anyOf multiply into more than %d checks of one value", maxWeight)
		}
	}
	w.weights[s] = weight
	return weight, nil
}

// inPlace lists the schemas that s applies to the same value. Of a dynamic
// reference it knows the first meaning only.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	subs = append(subs, s.AllOf...)
	subs = append(subs, s.AnyOf...)
	subs = append(subs, s.OneOf...)
	for _, sub := range s.DependentSchemas {
		subs = append(subs, sub)
	}
	for _, dependency := range s.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok {
			subs = append(subs, sub)
		}
	}
	return slices.DeleteFunc(subs, isNil)
}

// subschemas lists the schemas that s refers to in any way.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := inPlace(s)
	subs = append(subs, s.PropertyNames, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	subs = append(subs, s.PrefixItems...)
	for _, sub := range s.Properties {
		subs = append(subs, sub)
	}
	for _, sub := range s.PatternProperties {
		subs = append(subs, sub)
	}
	for _, either := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch sub := either.(type) {
		case *jsonschema.Schema:
			subs = append(subs, sub)
		case []*jsonschema.Schema:
			subs = append(subs, sub...)
		}
	}
	return slices.DeleteFunc(subs, isNil)
}

func isNil(s *jsonschema.Schema) bool { return s == nil }
