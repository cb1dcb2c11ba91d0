// Package schema is JSON Schema for tools: it infers schemas from Go types,
// checks values against them, fills in defaults, and says what is wrong in
// words that the caller of a tool, often a language model, can act on.
//
// # Schemas
//
// [For] and [Infer] write the schema of a Go type. [Parse] takes the text of
// one. Either way the text stays as it is, and nothing more happens until the
// first [Schema.Validate], [Schema.Defaults] or [Schema.Compile].
//
// The dialect is 2020-12 unless $schema names 2019-09, draft-07, draft-06 or
// draft-04, or a metaschema among the [Documents] that came with the schema, whose
// $vocabulary then decides which keywords count. The keyword format is an annotation in all of them. Patterns have
// the syntax of Go's regexp package: matching takes time linear in the text,
// and look-around and back-references do not exist.
//
// # Plans
//
// On first use a schema is compiled into a plan, which walks the raw JSON of
// values. It knows every keyword of the dialects, compares numbers exactly
// whatever their size, and allocates nothing for a good value unless keywords
// such as uniqueItems or unevaluatedProperties ask for memory. When a value is
// bad, a second walk finds the words.
//
// # Limits
//
// Schemas may come from strangers, so nothing outside a schema's own text and
// its [Documents] is ever loaded (metaschemas, to which schemas may refer, are
// built in), and what
// could cost too much is refused with an error: texts over 1 MiB, nesting over
// 100, more than 10,000 objects or 100,000 values, keywords that multiply into
// more than 10,000 checks of one value, references that never reach a value,
// patterns of more than 5,000 steps, a multipleOf of more than 18 digits.
// Likewise a value that would take much longer to check than its size explains
// is invalid, with a problem that says so.
package schema
