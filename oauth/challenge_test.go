package oauth_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/oauth"
)

func TestParseChallenges(t *testing.T) {
	t.Parallel()
	type (
		ch = oauth.Challenge
		ps = []oauth.Param
	)
	for _, c := range []struct {
		name   string
		values []string
		want   []ch
	}{
		{"the spec's 401", []string{`Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource", scope="files:read"`}, []ch{{Scheme: "Bearer", Params: ps{
			{"resource_metadata", "https://mcp.example.com/.well-known/oauth-protected-resource"}, {"scope", "files:read"}}}}},
		{"a scheme alone", []string{"Bearer"}, []ch{{Scheme: "Bearer"}}},
		{"two schemes alone", []string{"Bearer, Negotiate"}, []ch{{Scheme: "Bearer"}, {Scheme: "Negotiate"}}},
		{"several challenges in one value", []string{`DPoP algs="ES256 PS256", error="use_dpop_nonce", bearer scope=a, Basic realm="x"`}, []ch{
			{Scheme: "DPoP", Params: ps{{"algs", "ES256 PS256"}, {"error", "use_dpop_nonce"}}},
			{Scheme: "bearer", Params: ps{{"scope", "a"}}},
			{Scheme: "Basic", Params: ps{{"realm", "x"}}}}},
		{"several values", []string{`Basic realm="a"`, `Bearer scope="b c"`}, []ch{
			{Scheme: "Basic", Params: ps{{"realm", "a"}}}, {Scheme: "Bearer", Params: ps{{"scope", "b c"}}}}},
		{"a token", []string{"Negotiate dGVzdA==, Bearer"}, []ch{{Scheme: "Negotiate", Token: "dGVzdA=="}, {Scheme: "Bearer"}}},
		{"a word after a token is a scheme", []string{"Negotiate abc, realm"}, []ch{{Scheme: "Negotiate", Token: "abc"}, {Scheme: "realm"}}},
		{"space around the sign", []string{"Bearer realm = \"x\" , scope\t=y"}, []ch{{Scheme: "Bearer", Params: ps{{"realm", "x"}, {"scope", "y"}}}}},
		{"escapes, commas and equals signs in quotes", []string{`Bearer realm="a\"b\\c, Basic d=e"`}, []ch{{Scheme: "Bearer", Params: ps{{"realm", `a"b\c, Basic d=e`}}}}},
		{"an empty value in quotes", []string{`Bearer realm=""`}, []ch{{Scheme: "Bearer", Params: ps{{"realm", ""}}}}},
		{"names in any case", []string{`BEARER Resource_Metadata="x"`}, []ch{{Scheme: "BEARER", Params: ps{{"resource_metadata", "x"}}}}},
		{"a URL without its quotes", []string{`Bearer resource_metadata=https://a.example/x?y=z, scope=w`}, []ch{
			{Scheme: "Bearer", Params: ps{{"resource_metadata", "https://a.example/x?y=z"}, {"scope", "w"}}}}},
		{"empty elements of the list", []string{`, ,Bearer scope=a,, error=b,`}, []ch{{Scheme: "Bearer", Params: ps{{"scope", "a"}, {"error", "b"}}}}},
		{"nothing", []string{"", " ", ","}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := oauth.ParseChallenges(c.values)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestMalformedChallenges(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"no closing quote":      `Bearer realm="x`,
		"a quote escaped":       `Bearer realm="x\"`,
		"no comma":              `Bearer realm="x" scope="y"`,
		"no value":              `Bearer realm="a", x=`,
		"a parameter first":     `="x"`,
		"a parameter twice":     `Bearer scope="a", Scope="b"`,
		"a control character":   "Bearer realm=\"a\x00b\"",
		"an escaped line end":   "Bearer realm=\"a\\\nb\"",
		"something after quote": `Bearer realm="x"y`,
		"33 parameters":         "Bearer a=1, b=1" + many(31),
		"a scheme in quotes":    `"Bearer" realm=x`,
		"longer than allowed":   "Bearer realm=" + strings.Repeat("x", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := oauth.ParseChallenges([]string{value, "Basic realm=z"})
			if !errors.Is(err, oauth.ErrChallenge) {
				t.Errorf("got %q, %v", got, err)
			}
			if n := len(got); n == 0 || !got[n-1].Is("basic") {
				t.Errorf("the mistake hid the next value: %q", got)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", p" + strings.Repeat("x", i) + "=1")
	}
	return b.String()
}

func TestAMistakeKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	got, err := oauth.ParseChallenges([]string{`Basic realm="x", Bearer scope="`})
	if err == nil || len(got) != 1 || got[0].Get("realm") != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestChallengeString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		c    oauth.Challenge
		want string
	}{
		{"a scheme alone", oauth.Challenge{Scheme: "Bearer"}, "Bearer"},
		{"parameters in order", oauth.Challenge{Scheme: "Bearer", Params: []oauth.Param{{"scope", "b a"}, {"error", "x"}}}, `Bearer scope="b a", error="x"`},
		{"quotes and backslashes", oauth.Challenge{Scheme: "Bearer", Params: []oauth.Param{{"realm", `a"b\`}}}, `Bearer realm="a\"b\\"`},
		{"line ends cannot get out", oauth.Challenge{Scheme: "Bearer", Params: []oauth.Param{{"realm", "a\r\nX: é\xff"}}}, `Bearer realm="a??X: ??"`},
		{"bad names are left out", oauth.Challenge{Scheme: "Bearer", Params: []oauth.Param{{"a b", "c"}, {"", "d"}, {"e", "f"}}}, `Bearer e="f"`},
		{"a token", oauth.Challenge{Scheme: "Negotiate", Token: "abc="}, "Negotiate abc="},
		{"a bad scheme", oauth.Challenge{Scheme: "a b"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.c.String(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// What is read can be written, and reads the same again.
func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{
		`Bearer resource_metadata="https://a.example/x", scope="a b", error="invalid_token"`,
		`Negotiate abc==, Basic realm = x`, `Bearer realm="\"\\`, `a b=c, d e`, ",,=", `DPoP a="b"c`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, _ := oauth.ParseChallenges([]string{value})
		for _, c := range got {
			text := c.String()
			if strings.ContainsAny(text, "\r\n\x00") || text == "" {
				t.Fatalf("%q is no header value", text)
			}
			again, err := oauth.ParseChallenges([]string{text})
			if err != nil || len(again) != 1 {
				t.Fatalf("%q was read as %q, %v", text, again, err)
			}
			if second := again[0].String(); second != text {
				t.Fatalf("%q was written as %q", text, second)
			}
		}
	})
}
