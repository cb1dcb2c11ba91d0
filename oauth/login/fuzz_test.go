package login

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Whatever comes back, a code is used only from an answer with our state and our
// issuer, and it is one that was sent.
func FuzzAnswer(f *testing.F) {
	for _, q := range []string{
		"code=c&state=s&iss=https%3A%2F%2Fi", "code=c&state=s", "state=s&error=access_denied&iss=https://i", "code=c&code=d&state=s",
		"state=s&state=s", "iss=&code=c&state=s", "%zz", "code=%ff", "a;b", "", "&&&=", strings.Repeat("a=b&", 9000),
	} {
		f.Add(q, true)
		f.Add(q, false)
	}
	f.Fuzz(func(t *testing.T, query string, promised bool) {
		v := visit{state: "s", issuer: "https://i", promised: promised}
		code, err := v.code(query)
		if err != nil {
			if code != "" || len(err.Error()) > 300 {
				t.Errorf("%q: %q, %v", query, code, err)
			}
			return
		}
		q, parseErr := url.ParseQuery(query)
		if parseErr != nil || len(q["code"]) != 1 || q.Get("code") != code || code == "" || len(q["state"]) != 1 || q.Get("state") != "s" ||
			q.Has("error") && q.Get("error") != "" || len(q["iss"]) > 1 || (promised || q.Has("iss")) && q.Get("iss") != "https://i" {
			t.Errorf("%q gave %q", query, code)
		}
	})
}

// Whatever a token endpoint says, it is read or refused, and no error repeats it.
func FuzzToken(f *testing.F) {
	f.Add(200, `{"access_token":"canary","token_type":"Bearer","expires_in":3600}`)
	f.Add(200, `{"access_token":"a\ncanary"}`)
	f.Add(200, `{"expires_in":"1e999","access_token":"x"}`)
	f.Add(400, `{"error":"invalid_grant","error_description":"canary"}`)
	f.Add(400, "canary")
	f.Fuzz(func(t *testing.T, status int, body string) {
		q := &tokenRequest{op: "test", client: &Client{Secret: "canary"}}
		if status == http.StatusOK {
			a, err := readToken(q, []byte(body))
			if err == nil && (!visible(a.Access) || a.lifetime() < 0) {
				t.Errorf("%q", a.Access)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Error(err)
			}
			return
		}
		e := readRefusal(q, &reply{status: status, body: []byte(body)})
		if strings.Contains(e.Description, "canary") || len(e.Description) > 310 || e.Error() != clean(e.Error(), 1000) {
			t.Errorf("%q %v", e.Description, e)
		}
	})
}

// Whatever a server challenges with, it is read in peace.
func FuzzChallenge(f *testing.F) {
	f.Add(401, `Bearer resource_metadata="https://x/y", scope="a b"`, "nonce")
	f.Add(403, `DPoP error="insufficient_scope"`, "")
	f.Add(401, `Basic realm="x"`, "\x00")
	f.Fuzz(func(t *testing.T, status int, header, nonce string) {
		w := httptest.NewRecorder()
		w.Header()["Www-Authenticate"], w.Header()["Dpop-Nonce"] = []string{header}, []string{nonce}
		c := readChallenge(&http.Response{StatusCode: status, Header: w.Header()})
		if c != nil && (c.status != 401 && (c.status != 403 || c.err != "insufficient_scope") || c.nonce != "" && !validNonce(c.nonce)) {
			t.Errorf("%+v", c)
		}
	})
}
