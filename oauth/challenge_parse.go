package oauth

import (
	"errors"
	"fmt"
	"strings"
)

// ErrChallenge is matched by the errors for WWW-Authenticate values that do not
// follow the grammar.
var ErrChallenge = errors.New("malformed challenge")

const (
	maxChallenge  = 64 << 10 // bytes of one header value
	maxParameters = 32       // of one challenge
)

// ParseChallenges reads the values of all WWW-Authenticate headers of a response,
// several challenges a value or one. A value is read up to its first mistake:
// what came before it is returned along with an error, and so are the other
// values. A mistake is bad grammar, a parameter given twice, more than 32
// parameters, or a value of more than 64 KiB. Unquoted values may hold any
// visible characters but quotes and commas, since many servers forget the quotes
// around a URL.
func ParseChallenges(values []string) ([]Challenge, error) {
	var all []Challenge
	var errs []error
	for _, v := range values {
		if len(v) > maxChallenge {
			errs = append(errs, fmt.Errorf("read challenge: %w: longer than %d bytes", ErrChallenge, maxChallenge))
			continue
		}
		p := challengeParser{text: v}
		err := p.parse()
		all = append(all, p.done...)
		if err != nil {
			errs = append(errs, fmt.Errorf("read challenge: %w: %w at byte %d", ErrChallenge, err, p.at))
		}
	}
	return all, errors.Join(errs...)
}

// challengeParser reads one header value. The list of challenges and the lists
// of their parameters share the comma: what follows one is a parameter if an
// equals sign comes after its first word, else a new challenge.
type challengeParser struct {
	text string
	at   int
	done []Challenge
}

func (p *challengeParser) parse() error {
	var open *Challenge
	for {
		p.skip(", \t")
		if p.at == len(p.text) {
			break
		}
		word := p.word()
		if word == "" {
			return errors.New("no scheme or parameter name")
		}
		if open != nil && open.Token == "" && p.peekEquals() {
			if err := p.param(open, word); err != nil {
				return err
			}
		} else {
			if open != nil {
				p.done = append(p.done, *open)
			}
			open = &Challenge{Scheme: word}
			if err := p.first(open); err != nil {
				return err
			}
		}
		p.skip(" \t")
		if p.at < len(p.text) && p.text[p.at] != ',' {
			return errors.New("no comma")
		}
	}
	if open != nil {
		p.done = append(p.done, *open)
	}
	return nil
}

// first reads what follows a scheme: nothing, a token68, or a parameter.
func (p *challengeParser) first(c *Challenge) error {
	space := p.at
	p.skip(" \t")
	if p.at == len(p.text) || p.text[p.at] == ',' {
		return nil
	}
	if p.at == space {
		return errors.New("no space after the scheme")
	}
	start := p.at
	end := strings.IndexAny(p.text[start:], ", \t")
	if end < 0 {
		end = len(p.text) - start
	}
	if token := p.text[start : start+end]; isToken68(token) {
		p.at = start + end
		if !p.peekEquals() {
			c.Token = token
			return nil
		}
		p.at = start // "name =": a parameter with space before the sign
	}
	name := p.word()
	if name == "" || !p.peekEquals() {
		return errors.New("no parameter")
	}
	return p.param(c, name)
}

// param reads from the equals sign to the end of the value.
func (p *challengeParser) param(c *Challenge, name string) error {
	p.skip(" \t")
	p.at++ // the equals sign, which the caller saw
	p.skip(" \t")
	name = strings.ToLower(name)
	value, err := p.value()
	if err != nil {
		return err
	}
	for _, have := range c.Params {
		if have.Name == name {
			return errors.New("a parameter twice")
		}
	}
	if len(c.Params) == maxParameters {
		return errors.New("too many parameters")
	}
	c.Params = append(c.Params, Param{name, value})
	return nil
}

func (p *challengeParser) value() (string, error) {
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return p.quoted()
	}
	start := p.at
	for p.at < len(p.text) && p.text[p.at] > ' ' && p.text[p.at] < 0x7f && p.text[p.at] != ',' && p.text[p.at] != '"' {
		p.at++
	}
	if p.at == start {
		return "", errors.New("no value")
	}
	return p.text[start:p.at], nil
}

func (p *challengeParser) quoted() (string, error) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			c = p.text[p.at]
			fallthrough
		default:
			if c < ' ' && c != '\t' || c == 0x7f {
				return "", errors.New("a control character")
			}
			b.WriteByte(c)
		}
	}
	return "", errors.New("no closing quote")
}

func (p *challengeParser) word() string {
	start := p.at
	for p.at < len(p.text) && tokenByte(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *challengeParser) peekEquals() bool {
	rest := strings.TrimLeft(p.text[p.at:], " \t")
	return strings.HasPrefix(rest, "=")
}

func (p *challengeParser) skip(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}
