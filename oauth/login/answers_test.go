package login_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/oauth/login"
)

func asError[E error](err error, into *E) bool { return errors.As(err, into) }

// The table of RFC 9207 as MCP has it, and what else an answer can get wrong
// (R063).
func TestAnswersAreTrustedOnlyIfTheyAreToOurRequest(t *testing.T) {
	silent := func(m object) { delete(m, "authorization_response_iss_parameter_supported") }
	set := func(name, value string) func(url.Values) { return func(v url.Values) { v.Set(name, value) } }
	del := func(name string) func(url.Values) { return func(v url.Values) { v.Del(name) } }
	for _, c := range []struct {
		name     string
		edit     func(object)
		answer   func(url.Values)
		accepted bool
	}{
		{"auth/iss-supported", nil, nil, true},
		{"auth/iss-not-advertised", silent, del("iss"), true},
		{"an issuer that is right though unadvertised", silent, nil, true},
		{"auth/iss-supported-missing", nil, del("iss"), false},
		{"auth/iss-supported-wrong-issuer", nil, set("iss", "https://evil.example.com"), false},
		{"auth/iss-supported-unexpected", silent, set("iss", "https://evil.example.com"), false},
		{"auth/iss-supported-normalized", nil, set("iss", asURL+"/"), false},
		{"an issuer in capital letters", nil, set("iss", "https://AUTH.example.com"), false},
		{"an issuer with its port", nil, set("iss", asURL+":443"), false},
		{"an empty issuer, though unadvertised", silent, set("iss", ""), false},
		{"no state", nil, del("state"), false},
		{"another state", nil, set("state", "x"), false},
		{"a state and its beginning", nil, func(v url.Values) { v.Set("state", v.Get("state")+"x") }, false},
		{"two states", nil, func(v url.Values) { v.Add("state", v.Get("state")) }, false},
		{"two codes", nil, func(v url.Values) { v.Add("code", "other") }, false},
		{"two issuers", nil, func(v url.Values) { v.Add("iss", asURL) }, false},
		{"no code", nil, del("code"), false},
		{"text that is no text", nil, set("code", "\xff"), false},
		{"an error of another issuer", nil, func(v url.Values) {
			v.Del("code")
			v.Set("iss", "https://evil.example.com")
			v.Set("error", "call_this_number")
			v.Set("error_description", "call this number")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.auth.edit, w.auth.answer = c.edit, c.answer
			if c.accepted {
				w.complete()
				return
			}
			text := w.mustFail("tools/list", login.ErrAnswer)
			w.only(http.MethodGet, asURL+"/authorize")
			w.never(http.MethodPost, asURL+"/token")
			if strings.Contains(text+w.log.String(), "number") || strings.Contains(text, "code-") {
				t.Errorf("the error repeats the answer: %s", text)
			}
		})
	}
}

func TestAnErrorOfTheRightIssuerIsReported(t *testing.T) {
	w := newWorld(t)
	w.auth.answer = func(v url.Values) {
		v.Del("code")
		v.Set("error", "access_denied")
		v.Set("error_description", "not today")
	}
	_, err := w.call("tools/list")
	var refusal *login.ServerError
	if !errors.As(err, &refusal) || refusal.Code != "access_denied" || refusal.Description != "not today" {
		t.Fatalf("%v", err)
	}
	w.never(http.MethodPost, asURL+"/token")
}

// R063.
func TestNoLoginWithoutThePromiseOfPKCE(t *testing.T) {
	for name, methods := range map[string]any{"nothing said": nil, "plain only": []string{"plain"}, "an empty list": []string{}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.auth.edit = func(m object) {
				if m["code_challenge_methods_supported"] = methods; methods == nil {
					delete(m, "code_challenge_methods_supported")
				}
			}
			w.mustFail("tools/list", login.ErrUnfit)
			w.never(http.MethodGet, asURL+"/authorize")
			w.never(http.MethodPost, asURL+"/register")
		})
	}
}

// An old answer is to an old request: its state is gone (R063).
func TestAnAnswerIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	replay := &replaying{login.Direct{Transport: w}, ""}
	w.grant = &login.Code{UserAgent: replay}
	w.mustCall("tools/list")
	w.auth.revoke(true)
	w.mustFail("tools/list", login.ErrAnswer)
	if n := len(w.find(http.MethodPost, asURL+"/token")); n != 1 {
		t.Errorf("%d token requests", n)
	}
}

// replaying is a user agent that gives its first answer again and again.
type replaying struct {
	login.Direct
	first string
}

func (r *replaying) Visit(ctx context.Context, prefer string, begin func(string) (string, error)) (string, error) {
	query, err := r.Direct.Visit(ctx, prefer, begin)
	if r.first == "" {
		r.first = query
	}
	return r.first, err
}
