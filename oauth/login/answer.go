package login

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"unicode/utf8"
)

// ErrAnswer is matched by the errors for answers that came through the browser
// and cannot be trusted: another state, another issuer, or malformed. Nothing of
// such an answer is used or shown.
var ErrAnswer = errors.New("answer not trusted")

const maxAnswer = 16 << 10 // bytes

// answer is what an authorization server says through the browser (RFC 6749,
// section 4.1.2, and RFC 9207).
type answer struct {
	code, state      string
	issuer           string
	named            bool // issuer was there
	err, description string
}

// parseAnswer reads the query of a redirect. Parameters that are not known are
// passed over; a known one that comes twice is a sign of tampering.
func parseAnswer(query string) (*answer, error) {
	if len(query) > maxAnswer {
		return nil, fmt.Errorf("%w: too long", ErrAnswer)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%w: malformed", ErrAnswer)
	}
	var a answer
	for _, p := range []struct {
		name string
		into *string
	}{{"code", &a.code}, {"state", &a.state}, {"iss", &a.issuer}, {"error", &a.err}, {"error_description", &a.description}} {
		values := q[p.name]
		if len(values) > 1 {
			return nil, fmt.Errorf("%w: a parameter twice", ErrAnswer)
		}
		if len(values) == 1 {
			if !utf8.ValidString(values[0]) {
				return nil, fmt.Errorf("%w: malformed", ErrAnswer)
			}
			*p.into = values[0]
		}
	}
	a.named = len(q["iss"]) > 0
	return &a, nil
}

// code returns the code of an answer to this very request. State and issuer are
// looked at first, and compared as they stand (RFC 9207, section 2.4).
func (v *visit) code(query string) (string, error) {
	a, err := parseAnswer(query)
	if err != nil {
		return "", err
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(a.state), []byte(v.state)) != 1:
		return "", fmt.Errorf("%w: it is not to our request (state)", ErrAnswer)
	case a.named && a.issuer != v.issuer:
		return "", fmt.Errorf("%w: it is from another issuer", ErrAnswer)
	case !a.named && v.promised:
		return "", fmt.Errorf("%w: it does not name its issuer, which promised to be named", ErrAnswer)
	case a.err != "":
		return "", &ServerError{Op: "ask for consent", Code: errorCode(a.err), Description: clean(a.description, 300)}
	case a.code == "":
		return "", fmt.Errorf("%w: it has no code", ErrAnswer)
	}
	return a.code, nil
}
