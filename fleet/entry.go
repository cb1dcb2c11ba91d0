package fleet

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/internal/config"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/spelling"
)

// entry reads what a configuration says of one server.
type entry struct {
	name     string
	shape    shape
	expander config.Expander
	problems []error // mistakes
	server   ServerConfig
	kind     string // the type, if one is given
	local    string // a key that only a command has
	remote   string // a key that only a URL has
}

// reader reads the value of one key.
type reader func(e *entry, key string, raw []byte)

// readers are the keys that clients have for servers.
func readers() map[string]reader {
	keys := map[string]reader{
		"type":    func(e *entry, key string, raw []byte) { e.kind = e.text(key, raw) },
		"command": func(e *entry, key string, raw []byte) { e.server.Command, e.local = e.text(key, raw), key },
		"args":    func(e *entry, key string, raw []byte) { e.server.Args, e.local = e.texts(key, raw), key },
		"env":     func(e *entry, key string, raw []byte) { e.server.Env, e.local = e.pairs(key, raw), key },
		"headers": func(e *entry, key string, raw []byte) { e.server.Header, e.remote = e.pairs(key, raw), key },
		"disabled": func(e *entry, key string, raw []byte) {
			e.server.Disabled = e.truth(key, raw) || e.server.Disabled
		},
		"enabled": func(e *entry, key string, raw []byte) {
			e.server.Disabled = !e.truth(key, raw) || e.server.Disabled
		},
		"eager":   func(e *entry, key string, raw []byte) { e.server.Eager = e.truth(key, raw) },
		"lazy":    func(e *entry, key string, raw []byte) { e.server.Eager = !e.truth(key, raw) },
		"timeout": func(e *entry, key string, raw []byte) { e.server.Timeout = e.duration(key, raw) },
		"tools":   (*entry).readTools,
	}
	set := func(read reader, names ...string) {
		for _, name := range names {
			keys[name] = read
		}
	}
	set(func(e *entry, key string, raw []byte) { e.server.Dir, e.local = e.text(key, raw), key }, "cwd", "dir")
	set((*entry).readURL, "url", "httpUrl", "serverUrl")
	set((*entry).readAllow, "allowedTools", "enabledTools", "enabled_tools", "includeTools")
	set((*entry).readDeny, "disabledTools", "disabled_tools", "deniedTools", "excludeTools")
	// What a client keeps for its own pages, and for whom it asks before a call.
	set(func(*entry, string, []byte) {}, "name", "title", "description", "icon", "version", "gallery", "dev", "trust", "autoApprove", "alwaysAllow", "alwaysLoad")
	set(func(e *entry, key string, _ []byte) {
		e.unusable(fmt.Errorf("%q is not read: list what the file sets under \"env\"", key))
	}, "envFile")
	set((*entry).readLogin, "oauth", "auth", "authProviderType")
	set(func(e *entry, key string, raw []byte) { e.remote = key; e.readLoginKey(key, key, raw) },
		"oauth_client_id", "oauth_client_secret", "oauth_callback_port")
	return keys
}

// read reads the entry. Mistakes are collected in e.problems.
func (e *entry) read(raw []byte) ServerConfig {
	if kind := jsonscan.KindOf(raw); kind != jsonscan.Object {
		e.mistake("is %s, not an object", nameOf(kind))
		return e.server
	}
	if e.name == "" {
		e.mistake("has no name")
	}
	known := readers()
	for name, value := range jsonscan.Members(raw) {
		key := string(name)
		if read, ok := known[key]; ok {
			read(e, key, value)
			continue
		}
		if meant, ok := spelling.Nearest(key, slices.Sorted(maps.Keys(known))); ok {
			e.mistake("unknown key %q; did you mean %q?", key, meant)
		} else {
			e.mistake("unknown key %q", key)
		}
	}
	if len(e.problems) == 0 {
		e.checkKind()
	}
	if len(e.problems) == 0 && !e.server.Disabled {
		e.expand()
	}
	return e.server
}

// mistake notes what is wrong with the entry.
func (e *entry) mistake(format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf("server %q: "+format, append([]any{e.name}, args...)...))
}

// unusable notes why a server that makes sense cannot be used.
func (e *entry) unusable(err error) {
	if e.server.Err == nil {
		e.server.Err = err
	}
}

// checkKind holds the keys of an entry to its type.
func (e *entry) checkKind() {
	s := &e.server
	switch e.kind {
	case "":
	case "stdio", "local":
		if s.Command == "" {
			e.mistake("type %q needs a \"command\"", e.kind)
			return
		}
	case "http", "streamable-http", "streamableHttp", "streamable_http", "remote", "sse":
		if s.URL == "" {
			e.mistake("type %q needs a \"url\"", e.kind)
			return
		}
		s.SSE = e.kind == "sse"
	default:
		e.mistake("unknown type %q; known are stdio, http and sse", e.kind)
		return
	}
	switch {
	case s.Command != "" && s.URL != "":
		e.mistake("has both a command and a URL")
	case s.Command == "" && s.URL == "":
		e.mistake("needs a \"command\" or a \"url\"")
	case s.Command == "" && e.local != "":
		e.mistake("%q is for servers with a command", e.local)
	case s.URL == "" && e.remote != "":
		e.mistake("%q is for servers with a URL", e.remote)
	}
}

// expand puts the values of variables in place.
func (e *entry) expand() {
	s := &e.server
	e.put("command", &s.Command)
	e.put("folder", &s.Dir)
	e.put("url", &s.URL)
	for i := range s.Args {
		e.put("argument "+strconv.Itoa(i+1), &s.Args[i])
	}
	e.putAll("variable", s.Env)
	e.putAll("header", s.Header)
	e.expandLogin()
	switch {
	case s.Err != nil:
		return
	case s.Command == "" && s.URL == "":
		e.unusable(errors.New("its command or url is empty"))
	case s.URL == "":
		return
	}
	if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		e.unusable(errors.New("its url is not an http or https URL")) // and may hold a secret
	}
}

func (e *entry) put(where string, text *string) {
	value, err := e.expander.Expand(*text)
	if err != nil {
		e.unusable(fmt.Errorf("%s: %w", where, err))
		return
	}
	*text = value
}

func (e *entry) putAll(where string, pairs map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[name]
		e.put(where+" "+name, &value)
		pairs[name] = value
	}
}

func (e *entry) readURL(key string, raw []byte) {
	if e.server.URL != "" {
		e.mistake("%q is a second URL", key)
	}
	e.server.URL, e.remote = e.text(key, raw), key
}

func (e *entry) readAllow(key string, raw []byte) {
	if e.server.Allow != nil {
		e.mistake("%q is a second list of allowed tools", key)
	}
	e.server.Allow = e.texts(key, raw)
}

func (e *entry) readDeny(key string, raw []byte) {
	e.server.Deny = append(e.server.Deny, e.texts(key, raw)...)
}

// readTools reads {"allow": […], "deny": […]}, or the list of allowed tools alone.
func (e *entry) readTools(key string, raw []byte) {
	if jsonscan.KindOf(raw) != jsonscan.Object {
		e.readAllow(key, raw)
		return
	}
	for name, value := range jsonscan.Members(raw) {
		switch string(name) {
		case "allow":
			e.readAllow("tools.allow", value)
		case "deny":
			e.readDeny("tools.deny", value)
		default:
			e.mistake("unknown key %q in \"tools\"; known are allow and deny", name)
		}
	}
}

func (e *entry) text(key string, raw []byte) string {
	if kind := jsonscan.KindOf(raw); kind != jsonscan.String {
		e.mistake("%q is %s, not a string", key, nameOf(kind))
		return ""
	}
	text := jsonscan.Unquote(raw)
	if strings.ContainsRune(text, 0) {
		e.mistake("%q has a zero byte", key)
	}
	return text
}

func (e *entry) texts(key string, raw []byte) []string {
	if kind := jsonscan.KindOf(raw); kind != jsonscan.Array {
		e.mistake("%q is %s, not an array of strings", key, nameOf(kind))
		return nil
	}
	list := []string{}
	for element := range jsonscan.Elements(raw) {
		list = append(list, e.text(key, element))
	}
	return list
}

// pairs reads an object of strings. Numbers are taken as they are written, and
// null leaves a name out.
func (e *entry) pairs(key string, raw []byte) map[string]string {
	if kind := jsonscan.KindOf(raw); kind != jsonscan.Object {
		e.mistake("%q is %s, not an object of strings", key, nameOf(kind))
		return nil
	}
	pairs := make(map[string]string)
	for name, value := range jsonscan.Members(raw) {
		if len(name) == 0 || strings.ContainsAny(string(name), "=\x00") {
			e.mistake("%q has a name that cannot be: %q", key, name)
			continue
		}
		switch jsonscan.KindOf(value) {
		case jsonscan.Null:
		case jsonscan.Number:
			pairs[string(name)] = string(value)
		default:
			pairs[string(name)] = e.text(key+"."+string(name), value)
		}
	}
	return pairs
}

func (e *entry) truth(key string, raw []byte) bool {
	if kind := jsonscan.KindOf(raw); kind != jsonscan.Bool {
		e.mistake("%q is %s, not true or false", key, nameOf(kind))
	}
	return string(raw) == "true"
}

func (e *entry) duration(key string, raw []byte) time.Duration {
	var d time.Duration
	switch jsonscan.KindOf(raw) {
	case jsonscan.String:
		var err error
		if d, err = time.ParseDuration(jsonscan.Unquote(raw)); err != nil {
			e.mistake("%q is no duration such as \"30s\"", key)
			return 0
		}
	case jsonscan.Number:
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || n > 1e9 {
			e.mistake("%q is too large", key)
			return 0
		}
		d = time.Duration(n * float64(e.shape.unit))
		if d > 0 && d < time.Second && e.shape.unit == time.Millisecond {
			e.mistake("%q of %s means %v here, since this form counts milliseconds: write it with its unit, such as \"%ss\"", key, raw, d, raw)
			return 0
		}
	default:
		e.mistake("%q is %s, not a duration such as \"30s\"", key, nameOf(jsonscan.KindOf(raw)))
		return 0
	}
	if d <= 0 {
		e.mistake("%q must be more than nothing", key)
	}
	return d
}
