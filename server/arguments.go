package server

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/plain"
	"github.com/bossman-mcp/bossman/schema"
)

// argumentsOf reads arguments that fit the schema of In, whose codec may be nil.
// JSON Schema takes 5.0 and 1e2 for integers, which package json does not: if need
// be, such numbers are written out. The error is a [*schema.Invalid] and does not
// show Go's types.
func argumentsOf[In any](codec *plain.Codec, arguments jsontext.Value) (In, error) {
	var in In
	if codec.Read(arguments, reflect.ValueOf(&in).Elem()) {
		return in, nil
	}
	in = *new(In)
	err := json.Unmarshal(arguments, &in)
	if err == nil {
		return in, nil
	}
	var again In
	if plain, changed := plainIntegers(arguments); changed {
		if err = json.Unmarshal(plain, &again); err == nil {
			return again, nil
		}
	}
	return again, unfit(err)
}

// unfit says which argument could not be decoded, and why.
func unfit(err error) error {
	problem := schema.Problem{Message: "does not fit"}
	var e *json.SemanticError
	if errors.As(err, &e) {
		problem.Path = strings.Join(slices.Collect(e.JSONPointer.Tokens()), ".")
		switch {
		case errors.Is(e.Err, strconv.ErrRange), errors.Is(e.Err, strconv.ErrSyntax): // a number that is too large to be written out
			problem.Message = "is out of range"
		case e.Err != nil: // from a type of the tool's author
			problem.Message = e.Err.Error()
		}
	}
	return &schema.Invalid{Problems: []schema.Problem{problem}}
}

// plainIntegers writes whole numbers that have a fraction or an exponent without
// them, and reports whether there were any.
func plainIntegers(text jsontext.Value) (jsontext.Value, bool) {
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(text)), jsontext.NewEncoder(&out)
	changed := false
	for {
		if dec.PeekKind() != '0' {
			token, err := dec.ReadToken()
			if err != nil { // the end: the text has been checked
				return out.Bytes(), changed
			}
			if enc.WriteToken(token) != nil {
				return nil, false
			}
			continue
		}
		number, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		if digits := plainInteger(string(number)); digits != "" {
			number, changed = jsontext.Value(digits), true
		}
		if enc.WriteValue(number) != nil {
			return nil, false
		}
	}
}

// plainInteger returns the digits of a whole number that is written with a
// fraction or an exponent; nothing if it is not, or has more digits than any
// integer of Go.
func plainInteger(number string) string {
	const most = 20
	number, negative := strings.CutPrefix(number, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == number {
		return ""
	}
	exponent, err := strconv.Atoi(power)
	if power != "" && err != nil {
		return ""
	}
	fraction = strings.TrimRight(fraction, "0")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	switch {
	case digits == "":
		return "0"
	case exponent >= 0 && len(digits)+exponent <= most:
		digits += strings.Repeat("0", exponent)
	case exponent < 0 && -exponent < len(digits) && strings.HasSuffix(digits, strings.Repeat("0", -exponent)):
		digits = digits[:len(digits)+exponent]
	default:
		return ""
	}
	if negative {
		return "-" + digits
	}
	return digits
}
