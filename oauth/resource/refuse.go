package resource

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
)

const (
	refusedText = "The credential was refused"
	expiredText = "The access token is not valid at this time"
)

// challenge answers 401. Without an error code it is for a request that showed
// nothing (RFC 6750, section 3.1).
func (g *guard) challenge(w http.ResponseWriter, need []string, code, description string) {
	params := g.metadataParam(nil)
	params = scopeParam(params, need)
	text := "authentication required: send a credential in " + strings.Join(g.Headers, " or ")
	if code != "" {
		params = append(params, oauth.Param{Name: "error", Value: code},
			oauth.Param{Name: "error_description", Value: description})
		text = code + ": " + description
	}
	if len(params) == 0 {
		params = []oauth.Param{{Name: "realm", Value: "mcp"}} // a Bearer challenge has at least one
	}
	refuse(w, http.StatusUnauthorized, params, text)
}

// insufficient answers 403 with all that the request needs, so that one more
// authorization is enough.
func (g *guard) insufficient(w http.ResponseWriter, need []string) {
	params := []oauth.Param{{Name: "error", Value: "insufficient_scope"}}
	params = scopeParam(params, need)
	params = g.metadataParam(params)
	params = append(params, oauth.Param{Name: "error_description", Value: "The request needs more scopes"})
	refuse(w, http.StatusForbidden, params, "insufficient_scope: the request needs "+strings.Join(need, " "))
}

func (g *guard) malformed(w http.ResponseWriter, err error) {
	params := []oauth.Param{{Name: "error", Value: "invalid_request"}, {Name: "error_description", Value: err.Error()}}
	refuse(w, http.StatusBadRequest, g.metadataParam(params), "invalid_request: "+err.Error())
}

func (g *guard) tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	refuse(w, http.StatusTooManyRequests, nil, "too many refused credentials from this address")
}

func (g *guard) unavailable(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	refuse(w, http.StatusServiceUnavailable, nil, "credentials cannot be verified now")
}

func (g *guard) metadataParam(params []oauth.Param) []oauth.Param {
	if g.Metadata == nil {
		return params
	}
	return append(params, oauth.Param{Name: "resource_metadata", Value: g.Metadata.URL()})
}

func scopeParam(params []oauth.Param, need []string) []oauth.Param {
	if len(need) == 0 {
		return params
	}
	return append(params, oauth.Param{Name: "scope", Value: strings.Join(need, " ")})
}

// refuse writes the answer; params, if any, become a Bearer challenge.
func refuse(w http.ResponseWriter, status int, params []oauth.Param, text string) {
	h := w.Header()
	if params != nil {
		c := oauth.Challenge{Scheme: "Bearer", Params: params}
		h.Set("WWW-Authenticate", c.String())
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that is gone needs no answer
}
