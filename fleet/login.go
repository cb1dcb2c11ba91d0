package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Login is what a configuration says about logins at a server. A fleet does not
// log in by itself: [Options.Dial] and the authorizer in [Options.HTTP] may.
type Login struct {
	Off          bool     // the user wants none
	ClientID     string   // of a client that is registered; empty: none is
	ClientSecret string   // empty: it has none
	Port         int      // on which the browser brings the login back; 0: any
	Scopes       []string // to ask for besides those that the server wants
}

func (l *Login) equal(other *Login) bool {
	if l == nil || other == nil {
		return l == other
	}
	return l.Off == other.Off && l.ClientID == other.ClientID && l.ClientSecret == other.ClientSecret &&
		l.Port == other.Port && slices.Equal(l.Scopes, other.Scopes)
}

// login returns the entry's login, which it has from now on.
func (e *entry) login() *Login {
	if e.server.Login == nil {
		e.server.Login = &Login{}
	}
	return e.server.Login
}

// readLogin reads false, true, a word such as "oauth", or an object.
func (e *entry) readLogin(key string, raw []byte) {
	if string(raw) == "null" {
		return
	}
	e.remote = key
	l := e.login()
	switch jsonscan.KindOf(raw) {
	case jsonscan.Bool:
		l.Off = string(raw) == "false"
	case jsonscan.String:
		switch word := jsonscan.Unquote(raw); word {
		case "oauth", "dynamic_discovery":
		case "none":
			l.Off = true
		default:
			e.unusable(fmt.Errorf("%q is %q, a kind of login that is not known", key, word))
		}
	case jsonscan.Object:
		for name, value := range jsonscan.Members(raw) {
			e.readLoginKey(key+"."+string(name), string(name), value)
		}
	default:
		e.mistake("%q is %s, not an object", key, nameOf(jsonscan.KindOf(raw)))
	}
}

// readLoginKey reads one property of a login, as one client or another names it.
func (e *entry) readLoginKey(key, name string, raw []byte) {
	l := e.login()
	switch strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "oauth_"), "_", "")) {
	case "enabled":
		l.Off = !e.truth(key, raw)
	case "clientid":
		l.ClientID = e.text(key, raw)
	case "clientsecret":
		l.ClientSecret = e.text(key, raw)
	case "callbackport":
		port, err := strconv.Atoi(string(raw))
		if err != nil || port < 1 || port > 65535 {
			e.mistake("%q is no port", key)
			return
		}
		l.Port = port
	case "scopes", "scope":
		if jsonscan.KindOf(raw) == jsonscan.String {
			l.Scopes = strings.Fields(e.text(key, raw))
			return
		}
		l.Scopes = e.texts(key, raw)
	default:
		e.unusable(fmt.Errorf("%q is not read: what belongs to a login is found out from the server", key))
	}
}

// expandLogin puts the values of variables in place.
func (e *entry) expandLogin() {
	if l := e.server.Login; l != nil {
		e.put("client id", &l.ClientID)
		e.put("client secret", &l.ClientSecret)
	}
}
