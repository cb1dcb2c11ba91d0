package resource

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// maxCredential is the longest credential that is looked at, in bytes. Tokens
// that list many groups reach a few thousand.
const maxCredential = 16 << 10

const authorization = "Authorization"

var (
	errMalformed = errors.New("malformed authorization")
	errTooLong   = fmt.Errorf("%w: too long to be looked at", ErrInvalid)
)

// credential finds the one credential in a request's headers. It returns false
// if there is none, errMalformed if there are several or it cannot be one, and
// errTooLong without reading that much.
func credential(h http.Header, names []string) (c Credential, ok bool, err error) {
	for _, name := range names {
		values := h[name]
		if len(values) > 1 {
			return Credential{}, false, fmt.Errorf("%w: %s more than once", errMalformed, name)
		}
		if len(values) == 0 {
			continue
		}
		secret, err := secretIn(name, values[0])
		if err != nil {
			return Credential{}, false, err
		}
		if secret == "" {
			continue
		}
		if ok {
			return Credential{}, false, fmt.Errorf("%w: credentials in both %s and %s", errMalformed, c.Header, name)
		}
		c, ok = Credential{Header: name, Secret: secret}, true
	}
	return c, ok, nil
}

// secretIn reads one header. In Authorization other schemes than Bearer are for
// others, and an empty value anywhere is the same as none.
func secretIn(name, value string) (string, error) {
	value = strings.Trim(value, " \t")
	if name == authorization {
		scheme, rest, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", nil
		}
		value = strings.Trim(rest, " \t")
	}
	if len(value) > maxCredential {
		return "", errTooLong
	}
	if name == authorization && strings.Contains(value, " ") {
		return "", fmt.Errorf("%w: a space in the bearer token", errMalformed)
	}
	if !printable(value) {
		return "", fmt.Errorf("%w: %s is not printable ASCII", errMalformed, name)
	}
	return value, nil
}

// printable reports whether a header carries s as it is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.Trim(s, " ") == s
}
