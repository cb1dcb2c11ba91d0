package schema

import (
	"bytes"
	"cmp"
	"math/bits"
	"strconv"
	"strings"
)

// decimal is a JSON number taken apart, for exact comparison without big
// arithmetic: ±0.d₁d₂…dₙ × 10^exp, where the digits have no zeros at either end.
// Zero has no digits.
type decimal struct {
	neg    bool
	digits []byte // of the text; a decimal point among them counts for nothing
	count  int    // of the digits, without the point
	exp    int
}

// maxPower bounds exponents, so that sums of them stay far from overflow. Texts
// are far shorter, so numbers beyond it still compare right with those below.
const maxPower = 1 << 50

// newDecimal takes apart a number that is written as JSON demands. The decimal
// refers to raw.
func newDecimal(raw []byte) decimal {
	var d decimal
	if len(raw) > 0 && raw[0] == '-' {
		d.neg = true
		raw = raw[1:]
	}
	mantissa, power := raw, 0
	for i, c := range raw {
		if c == 'e' || c == 'E' {
			mantissa, power = raw[:i], exponent(raw[i+1:])
			break
		}
	}
	point := bytes.IndexByte(mantissa, '.')
	if point < 0 {
		point = len(mantissa)
	}
	first := 0
	for first < len(mantissa) && (mantissa[first] == '0' || mantissa[first] == '.') {
		first++
	}
	last := len(mantissa)
	for last > first && (mantissa[last-1] == '0' || mantissa[last-1] == '.') {
		last--
	}
	if first == last {
		return decimal{}
	}
	d.digits = mantissa[first:last]
	d.count = last - first
	if first < point {
		d.exp = point - first + power
		if point < last {
			d.count--
		}
	} else {
		d.exp = point + 1 - first + power
	}
	return d
}

func exponent(text []byte) int {
	neg := false
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		neg = text[0] == '-'
		text = text[1:]
	}
	n := 0
	for _, c := range text {
		if n = n*10 + int(c-'0'); n > maxPower {
			n = maxPower
		}
	}
	if neg {
		return -n
	}
	return n
}

// isInteger reports whether a raw number has no fractional part, however it is
// written: 1.0 and 1e2 are integers.
func isInteger(raw []byte) bool {
	if _, ok := smallInteger(raw); ok {
		return true
	}
	return newDecimal(raw).isInteger()
}

func (d decimal) isInteger() bool { return d.count == 0 || d.exp >= d.count }

// cmp compares two numbers by value.
func (d decimal) cmp(o decimal) int {
	ds, os := d.sign(), o.sign()
	switch {
	case ds != os:
		if ds < os {
			return -1
		}
		return 1
	case ds == 0:
		return 0
	case d.exp != o.exp:
		if d.exp < o.exp {
			return -ds
		}
		return ds
	}
	return ds * compareDigits(d.digits, o.digits)
}

func (d decimal) sign() int {
	switch {
	case d.count == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// compareDigits compares two fractions 0.d₁d₂… by their digits.
func compareDigits(a, b []byte) int {
	i, j := 0, 0
	for {
		if i < len(a) && a[i] == '.' {
			i++
		}
		if j < len(b) && b[j] == '.' {
			j++
		}
		switch {
		case i == len(a) && j == len(b):
			return 0
		case i == len(a):
			return -1
		case j == len(b):
			return 1
		case a[i] != b[j]:
			if a[i] < b[j] {
				return -1
			}
			return 1
		}
		i++
		j++
	}
}

// bound is a number to compare with, quick with small integers.
type bound struct {
	decimal
	small int64
	quick bool // whether small is the number
}

func newBound(raw []byte) *bound {
	b := &bound{decimal: newDecimal(raw)}
	b.small, b.quick = smallInteger(raw)
	return b
}

// compare compares a raw number with the bound: -1 when it is less.
func (b *bound) compare(raw []byte) int {
	if b.quick {
		if n, ok := smallInteger(raw); ok {
			return cmp.Compare(n, b.small)
		}
	}
	return newDecimal(raw).cmp(b.decimal)
}

// smallInteger returns a number that is written as up to 18 digits and no more.
func smallInteger(raw []byte) (n int64, ok bool) {
	digits := raw
	if len(raw) > 0 && raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) != len(raw) {
		n = -n
	}
	return n, true
}

// multiple is a positive number to divide by: factor × 10^power. The factor has
// at most 18 digits, of which the last is not 0.
type multiple struct {
	decimal
	factor uint64
	power  int
}

func newMultiple(raw []byte) (*multiple, bool) {
	m := &multiple{decimal: newDecimal(raw)}
	if m.count > 18 {
		return nil, false
	}
	for _, c := range m.digits {
		if c != '.' {
			m.factor = m.factor*10 + uint64(c-'0')
		}
	}
	m.power = m.exp - m.count
	return m, true
}

// divides reports whether a raw number is a whole number of times m. The number
// is n × 10^p, where the last digit of n is not 0: a smaller p means a fraction.
// Otherwise what is left of n × 10^(p-power) when divided by the factor decides.
func (m *multiple) divides(raw []byte) bool {
	d := newDecimal(raw)
	if d.count == 0 {
		return true
	}
	power := d.exp - d.count - m.power
	if power < 0 {
		return false
	}
	left := uint64(0)
	for _, c := range d.digits {
		if c != '.' {
			left = (left*10 + uint64(c-'0')) % m.factor
		}
	}
	for ten := 10 % m.factor; power > 0 && left > 0; power >>= 1 {
		if power&1 == 1 {
			left = timesModulo(left, ten, m.factor)
		}
		ten = timesModulo(ten, ten, m.factor)
	}
	return left == 0
}

// timesModulo returns a × b modulo m, for a and b below m.
func timesModulo(a, b, m uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.Rem64(high, low, m)
}

// appendKey appends a text that is the same for equal numbers only.
func (d decimal) appendKey(dst []byte) []byte {
	if d.neg {
		dst = append(dst, '-')
	}
	for _, c := range d.digits {
		if c != '.' {
			dst = append(dst, c)
		}
	}
	return appendInt(append(dst, 'e'), d.exp)
}

// digit returns the i-th digit.
func (d decimal) digit(i int) int {
	if point := bytes.IndexByte(d.digits, '.'); point >= 0 && i >= point {
		i++
	}
	return int(d.digits[i] - '0')
}

// String writes the number as it would be typed, within reason.
func (d decimal) String() string {
	sign := ""
	if d.neg {
		sign = "-"
	}
	digits := string(bytes.ReplaceAll(d.digits[:min(len(d.digits), 2*maxShown)], []byte("."), nil))
	switch {
	case d.count == 0:
		return "0"
	case d.exp >= d.count && d.exp <= 20:
		return sign + digits + strings.Repeat("0", d.exp-d.count)
	case d.exp > 0 && d.exp < d.count && d.exp < len(digits):
		return sign + shorten(digits[:d.exp]+"."+digits[d.exp:], maxShown)
	case d.exp <= 0 && d.exp > -6:
		return sign + "0." + strings.Repeat("0", -d.exp) + shorten(digits, maxShown)
	}
	fraction := ""
	if d.count > 1 {
		fraction = "." + digits[1:]
	}
	return sign + shorten(digits[:1]+fraction, maxShown) + "e" + strconv.Itoa(d.exp-1)
}
