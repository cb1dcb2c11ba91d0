package skills

import (
	"fmt"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// scalar writes a scalar: by its tag, and without one by how it looks (YAML 1.2.2,
// section 10.3.2).
func (r *renderer) scalar(n *yaml.Node) error {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	tag := ""
	if n.Style&yaml.TaggedStyle != 0 {
		tag = n.ShortTag()
	} else if quoted {
		tag = "!!str"
	}
	found, text := core(n.Value)
	switch {
	case tag == "!!str" || tag == "" && found == "!!str":
		r.out = jsonscan.AppendQuote(r.out, n.Value)
	case tag == "!!float" && found == "!!int", tag == "" || tag == found:
		if text == "" {
			return fmt.Errorf("line %d: JSON has no number %s", n.Line, n.Value)
		}
		r.out = append(r.out, text...)
	default:
		return fmt.Errorf("line %d: %q is no %s that JSON can say", n.Line, clip([]byte(n.Value)), clip([]byte(tag)))
	}
	return nil
}

// core returns the tag that the core schema gives a plain scalar, and its value in
// JSON: empty for strings, and for what JSON cannot say.
func core(plain string) (tag, text string) {
	switch plain {
	case "", "~", "null", "Null", "NULL":
		return "!!null", "null"
	case "true", "True", "TRUE":
		return "!!bool", "true"
	case "false", "False", "FALSE":
		return "!!bool", "false"
	case ".nan", ".NaN", ".NAN":
		return "!!float", ""
	}
	unsigned, sign := plain, ""
	switch plain[0] {
	case '-':
		unsigned, sign = plain[1:], "-"
	case '+':
		unsigned = plain[1:]
	}
	switch unsigned {
	case ".inf", ".Inf", ".INF":
		return "!!float", ""
	}
	if digits, ok := strings.CutPrefix(plain, "0o"); ok {
		return based(digits, 8, "01234567")
	}
	if digits, ok := strings.CutPrefix(plain, "0x"); ok {
		return based(digits, 16, "0123456789abcdefABCDEF")
	}
	return decimal(unsigned, sign)
}

// based reads an integer that is written in another base.
func based(digits string, base int, allowed string) (tag, text string) {
	if digits == "" || strings.Trim(digits, allowed) != "" || len(digits) > 1000 {
		return "!!str", ""
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "!!str", ""
	}
	return "!!int", n.String()
}

// decimal reads an integer or a fraction, and keeps its digits.
func decimal(unsigned, sign string) (tag, text string) {
	whole, rest := digits(unsigned)
	fraction, point := "", strings.HasPrefix(rest, ".")
	if point {
		fraction, rest = digits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return "!!str", ""
	}
	exponent := ""
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		exponent, rest = power(rest)
	}
	if rest != "" {
		return "!!str", ""
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	tag = "!!int"
	if point || exponent != "" {
		tag = "!!float"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return tag, sign + whole + fraction + exponent
}

// power cuts a text after the exponent that it begins with, if it does.
func power(text string) (leading, rest string) {
	signed := text[1:]
	if signed != "" && (signed[0] == '-' || signed[0] == '+') {
		signed = signed[1:]
	}
	number, rest := digits(signed)
	if number == "" {
		return "", text
	}
	return text[:len(text)-len(rest)], rest
}

// digits cuts a text after the digits that it begins with.
func digits(text string) (leading, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}
