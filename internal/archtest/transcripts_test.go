package archtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/need"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	jsonschema "github.com/bossman-mcp/bossman/schema"
)

// TestTranscriptsFitTheSchema holds every message of every transcript in the
// repository to the schema of its revision, but for those that a section marks
// as invalid. Towards the server the schemas are closed first: a member that a
// revision does not define has no place in what we say. Clients may say more. Of
// custom methods only the envelope is checked.
func TestTranscriptsFitTheSchema(t *testing.T) {
	schemas := loadSchemas(t)
	paths := transcripts(t)
	if len(paths) == 0 {
		t.Fatal("there are no transcripts in the repository")
	}
	for _, path := range paths {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(need.Root(t), path))
			if err != nil {
				t.Fatal(err)
			}
			story, err := mcptest.ParseTranscript(path, data)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range checkStory(schemas, story) {
				t.Error(problem)
			}
		})
	}
}

// TestSchemaCheckFindsMistakes keeps the check above honest.
func TestSchemaCheckFindsMistakes(t *testing.T) {
	schemas := loadSchemas(t)
	oldest := revision.All()[0].Name
	ask := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + "}\n"
	}
	for _, test := range []struct{ name, story, want string }{
		{"a request without what its method needs", "-- client --\n" + ask("tools/call", `{"arguments":{}}`), "name"},
		{"a method that the revision does not have", "-- client --\n" + ask("elicitation/create", `{}`), "no such"},
		{"a method in the wrong direction", "-- server --\n" + ask("tools/call", `{"name":"x"}`), "no such"},
		{"a result of the wrong form", "-- client --\n" + ask("tools/call", `{"name":"x"}`) +
			"-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{"content":"x"}}` + "\n", "CallToolResult"},
		{"a member of a later revision", "-- client --\n" + ask("tools/call", `{"name":"x"}`) +
			"-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}` + "\n", "structuredContent"},
		{"an answer that nobody asked for", "-- server --\n" + `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n", "no request"},
		{"a member of the revision that was asked for, not of the one that is spoken", "-- client --\n" +
			ask("initialize", `{"protocolVersion":"`+revision.NewestHandshake().Name+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`) + "-- server --\n" +
			`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + oldest + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}` + "\n" +
			"-- client --\n" + ask("tools/call", `{"name":"x"}`) +
			"-- server --\n" + `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}` + "\n", "structuredContent"},
		{"a batch where there are none", "-- client --\n[" + strings.TrimSpace(ask("ping", "{}")) + "]\n", "batch"},
		{"an error without a message", "-- client --\n" + ask("ping", `{}`) +
			"-- server --\n" + `{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}` + "\n", "message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			story, err := mcptest.ParseTranscript("story", []byte("revision: "+oldest+"\n"+test.story))
			if err != nil {
				t.Fatal(err)
			}
			if found := strings.Join(checkStory(schemas, story), "\n"); !strings.Contains(found, test.want) {
				t.Errorf("found %q, want something about %q", found, test.want)
			}
		})
	}
}

// TestEveryMethodHasATranscript wants a story for each method and notification
// that a revision's schema defines, in that revision.
func TestEveryMethodHasATranscript(t *testing.T) {
	told := make(map[string]map[string]bool)
	for _, path := range transcripts(t) {
		data, err := os.ReadFile(filepath.Join(need.Root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		story, err := mcptest.ParseTranscript(path, data)
		if err != nil {
			t.Fatal(err)
		}
		if told[story.Revision] == nil {
			told[story.Revision] = make(map[string]bool)
		}
		for _, section := range story.Sections {
			for _, line := range section.Lines {
				for _, method := range methodsIn(line.Text) {
					told[story.Revision][method] = told[story.Revision][method] || !section.Invalid
				}
			}
		}
	}
	for _, s := range loadSchemas(t) {
		for method := range s.methods {
			if !told[s.name][method] && !untold(s.name, method) {
				t.Errorf("no transcript of %s tells of %s", s.name, method)
			}
		}
	}
}

// methodsIn returns the methods of a message and of the questions within it.
func methodsIn(text string) []string {
	var methods []string
	for _, part := range strings.Split(text, `"method":"`)[1:] {
		method, _, _ := strings.Cut(part, `"`)
		methods = append(methods, method)
	}
	return methods
}

// untold are the methods of features that the toolkit does not have: an older
// form of deferred results among them.
func untold(name, method string) bool {
	switch method {
	case mcp.MethodGetDeferred, mcp.MethodCancelDeferred:
		return name != revision.Newest().Name
	case mcp.MethodDeferredResult, mcp.MethodListDeferred,
		mcp.NotificationDeferredStatus, mcp.NotificationElicitationComplete:
		return true
	}
	return false
}

// transcripts lists the transcripts of the repository, by their path in it.
func transcripts(t *testing.T) []string {
	t.Helper()
	var paths []string
	root := need.Root(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".txtar" || !strings.Contains(filepath.ToSlash(path), "/testdata/transcripts/"):
			return nil
		}
		path, err = filepath.Rel(root, path)
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// checkStory returns what is wrong with the messages of a story.
func checkStory(schemas map[string]*schema, story *mcptest.Transcript) []string {
	c := &checker{schemas: schemas, story: story, session: schemas[story.Revision]}
	if c.session == nil {
		return []string{fmt.Sprintf("%s: there is no revision %q", story.Name, story.Revision)}
	}
	for _, section := range story.Sections {
		for _, line := range section.Lines {
			err := c.line(section, line.Text)
			if err != nil && !section.Invalid {
				c.problems = append(c.problems, fmt.Sprintf("%s:%d: %v", story.Name, line.Number, err))
			}
		}
	}
	return c.problems
}

// checker walks through one story.
type checker struct {
	schemas  map[string]*schema
	story    *mcptest.Transcript
	session  *schema // of messages that do not say which revision they are of
	asked    [2]map[string]question
	problems []string
}

// question is a request that may be answered.
type question struct {
	method string
	schema *schema
}

func (c *checker) line(section mcptest.Section, text string) error {
	if !jsonrpc.IsBatch([]byte(text)) {
		return c.message(section.Kind, text)
	}
	all, err := jsonrpc.ParseBatch([]byte(text), 1000)
	if err != nil {
		return err
	}
	if rev := revision.Lookup(c.session.name); !rev.Batch {
		err = errors.New("a batch, which the revision does not have")
	}
	for _, message := range all {
		err = errors.Join(err, c.message(section.Kind, string(message)))
	}
	return err
}

func (c *checker) message(from mcptest.Kind, text string) error {
	if from == mcptest.Server && strings.Contains(text, `"…"`) {
		return nil // the story does not tell
	}
	m, err := jsonrpc.Parse([]byte(text))
	if err != nil {
		c.ask(from, &m, c.session) // it may be refused under its id
		return err
	}
	if m.IsResponse() {
		return c.response(from, &m, text)
	}
	s := c.schemaOf(&m)
	c.ask(from, &m, s)
	if c.custom(m.Method) {
		return s.check(from, envelope(&m), []byte(text))
	}
	return s.request(from, &m, text)
}

// custom reports whether a method is none of the protocol's, in any revision.
func (c *checker) custom(method string) bool {
	for _, s := range c.schemas {
		if s.methods[method] != "" {
			return false
		}
	}
	return true
}

// envelope names the definition of what every request or notification is.
func envelope(m *jsonrpc.Message) string {
	if m.IsRequest() {
		return "JSONRPCRequest"
	}
	return "JSONRPCNotification"
}

// ask notes that a message may be answered.
func (c *checker) ask(from mcptest.Kind, m *jsonrpc.Message, s *schema) {
	if c.asked[from] == nil {
		c.asked[from] = make(map[string]question)
	}
	if !m.ID.IsZero() {
		c.asked[from][m.ID.String()] = question{m.Method, s}
	}
}

// schemaOf finds the revision that a request or notification is of: its own
// word, that of the session, or that of the story.
func (c *checker) schemaOf(m *jsonrpc.Message) *schema {
	var params struct {
		ProtocolVersion any `json:"protocolVersion"`
		Meta            map[string]jsontext.Value
	}
	var raw map[string]jsontext.Value
	_ = json.Unmarshal(m.Params, &raw) // what is no object has no such members
	_ = json.Unmarshal(raw["_meta"], &params.Meta)
	_ = json.Unmarshal(raw["protocolVersion"], &params.ProtocolVersion)

	var own string
	if _, marked := params.Meta[mcp.MetaSubscriptionID]; marked {
		return c.schemas[revision.Newest().Name]
	}
	if version := params.Meta[mcp.MetaProtocolVersion]; version != nil {
		if json.Unmarshal(version, &own) == nil && c.schemas[own] != nil {
			return c.schemas[own]
		}
		return c.schemas[revision.Newest().Name]
	}
	if m.Method == mcp.MethodInitialize {
		name, _ := params.ProtocolVersion.(string)
		if s := c.schemas[name]; s != nil && s.methods[m.Method] != "" {
			c.session = s
		}
	}
	return c.session
}

// response checks an answer by what was asked.
func (c *checker) response(from mcptest.Kind, m *jsonrpc.Message, text string) error {
	other := mcptest.Client
	if from == mcptest.Client {
		other = mcptest.Server
	}
	asked, ok := c.asked[other][m.ID.String()]
	if !ok && !m.ID.IsZero() {
		return fmt.Errorf("no request has the id %s", m.ID)
	}
	delete(c.asked[other], m.ID.String())
	if !ok { // an error about what could not be read
		asked.schema = c.session
	}
	if m.Error != nil {
		return asked.schema.failure(from, m, text)
	}
	if asked.method == mcp.MethodInitialize {
		var answer struct {
			ProtocolVersion any `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Result, &answer) // what is no object has no such member
		name, _ := answer.ProtocolVersion.(string)
		if s := c.schemas[name]; s != nil { // the server has the last word
			c.session, asked.schema = s, s
		}
	}
	return asked.schema.result(from, asked.method, m, text)
}

// schema is the schema of one revision.
type schema struct {
	name    string
	at      string // where the document keeps its definitions
	defs    map[string]definition
	methods map[string]string // the definition of each method
	rules   [2]rules          // for what the client says, and for the server
}

// rules are the definitions that were needed so far, compiled.
type rules struct {
	document string // of all definitions
	compiled map[string]*jsonschema.Schema
}

// definition is what the check reads of one.
type definition struct {
	Ref        string              `json:"$ref"`
	AnyOf      []definition        `json:"anyOf"`
	AllOf      []definition        `json:"allOf"`
	Properties map[string]property `json:"properties"`
}

type property struct {
	Const      jsontext.Value      `json:"const"`
	AllOf      []definition        `json:"allOf"`
	Properties map[string]property `json:"properties"`
}

// loadSchemas reads the schema of every revision.
func loadSchemas(t *testing.T) map[string]*schema {
	t.Helper()
	all := make(map[string]*schema)
	for _, rev := range revision.All() {
		data, err := os.ReadFile(need.Shared(t, "spec", rev.Name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if rev == revision.Newest() {
			if data, err = withDeferred(data); err != nil {
				t.Fatal(err)
			}
		}
		s, err := newSchema(rev.Name, data)
		if err != nil {
			t.Fatalf("schema of %s: %v", rev.Name, err)
		}
		all[rev.Name] = s
	}
	return all
}

func newSchema(name string, data []byte) (*schema, error) {
	var document struct {
		Definitions map[string]definition `json:"definitions"`
		Defs        map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	s := &schema{name: name, at: "definitions", defs: document.Definitions}
	if s.defs == nil {
		s.at, s.defs = "$defs", document.Defs
	}
	s.methods = make(map[string]string)
	for def, d := range s.defs {
		var method string
		if d.Properties["method"].Const == nil || strings.HasPrefix(def, "Client") || strings.HasPrefix(def, "Server") {
			continue
		}
		if err := json.Unmarshal(d.Properties["method"].Const, &method); err != nil {
			return nil, err
		}
		s.methods[method] = def
	}
	if len(s.methods) == 0 {
		return nil, errors.New("it defines no methods")
	}
	for _, from := range []mcptest.Kind{mcptest.Client, mcptest.Server} {
		var whole any
		if err := json.Unmarshal(data, &whole); err != nil {
			return nil, err
		}
		if from == mcptest.Server {
			closeObjects(whole, "")
		}
		text, err := json.Marshal(whole)
		if err != nil {
			return nil, err
		}
		s.rules[from] = rules{string(text), make(map[string]*jsonschema.Schema)}
	}
	return s, nil
}

// closeObjects forbids, in every object schema that lists its members and says
// nothing of others, those others. Left open are _meta, JSON schemas inside
// messages, and what is joined by allOf. All params may have a _meta, even where
// a definition does not repeat it.
func closeObjects(node any, name string) {
	switch name {
	case "_meta", "inputSchema", "outputSchema", "requestedSchema", "allOf":
		return
	}
	switch node := node.(type) {
	case []any:
		for _, element := range node {
			closeObjects(element, "")
		}
	case map[string]any:
		listed, lists := node["properties"].(map[string]any)
		if lists && name == "params" {
			listed["_meta"] = map[string]any{"type": "object"}
		}
		if _, says := node["additionalProperties"]; lists && !says && node["type"] == "object" && !strings.HasSuffix(name, "MetaObject") {
			node["additionalProperties"] = false
		}
		for _, key := range slices.Sorted(maps.Keys(node)) {
			closeObjects(node[key], key)
		}
	}
}

// check validates a value against a definition.
func (s *schema) check(from mcptest.Kind, def string, value []byte) error {
	r := s.rules[from]
	compiled := r.compiled[def]
	if compiled == nil {
		var err error
		reference := `{"$ref":"#/` + s.at + "/" + def + `",`
		if compiled, err = jsonschema.Parse([]byte(reference + strings.TrimPrefix(r.document, "{"))); err != nil {
			return err
		}
		r.compiled[def] = compiled
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("not a %s of %s: %w", def, s.name, err)
	}
	return nil
}

// request checks a request or a notification: its envelope, that its sender may
// send it, and its method's definition.
func (s *schema) request(from mcptest.Kind, m *jsonrpc.Message, text string) error {
	value := []byte(text)
	if err := s.check(from, envelope(m), value); err != nil {
		return err
	}
	kind := strings.TrimPrefix(envelope(m), "JSONRPC")
	union := "Client" + kind
	if from == mcptest.Server {
		union = "Server" + kind
	}
	def := s.methods[m.Method]
	if def == "" || !s.member(union, def) {
		return fmt.Errorf("%s has no such %s: %s", s.name, union, m.Method)
	}
	if _, whole := s.defs[def].Properties["jsonrpc"]; !whole { // older schemas define method and params alone
		var body map[string]jsontext.Value
		if err := json.Unmarshal(value, &body); err != nil {
			return err
		}
		delete(body, "jsonrpc")
		delete(body, "id")
		var err error
		if value, err = json.Marshal(body); err != nil {
			return err
		}
	}
	return s.check(from, def, value)
}

// member reports whether a definition is one of a union's, or the union itself
// is a copy of it, as that of a single member is.
func (s *schema) member(union, def string) bool {
	u, ok := s.defs[union]
	if !ok {
		return false
	}
	if method := u.Properties["method"].Const; method != nil {
		return bytes.Equal(method, s.defs[def].Properties["method"].Const)
	}
	return slices.ContainsFunc(u.AnyOf, func(d definition) bool {
		return d.Ref == "#/"+s.at+"/"+def
	})
}

// result checks the result of a method. Methods without a result of their own
// have the empty one; what the schema does not know is checked no further.
func (s *schema) result(from mcptest.Kind, method string, m *jsonrpc.Message, text string) error {
	envelope := "JSONRPCResultResponse"
	if _, ok := s.defs[envelope]; !ok {
		envelope = "JSONRPCResponse"
	}
	if err := s.check(from, envelope, []byte(text)); err != nil {
		return err
	}
	def := s.methods[method]
	if def == "" {
		return nil
	}
	var r struct {
		ResultType string `json:"resultType"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return err
	}
	def = strings.TrimSuffix(def, "Request") + "Result"
	if _, ok := s.defs[def]; !ok {
		def = "EmptyResult"
	}
	switch {
	case r.ResultType == mcp.ResultInputRequired:
		def = "InputRequiredResult"
	case r.ResultType == mcp.ResultTask && method == mcp.MethodCallTool:
		def = "CreateTaskResult"
	}
	return s.check(from, def, m.Result)
}

// failure checks an error, by the definition for its code if there is one.
func (s *schema) failure(from mcptest.Kind, m *jsonrpc.Message, text string) error {
	envelope := "JSONRPCErrorResponse"
	if _, ok := s.defs[envelope]; !ok {
		envelope = "JSONRPCError"
	}
	err := s.check(from, envelope, []byte(text))
	for def, d := range s.defs {
		for _, part := range d.Properties["error"].AllOf {
			if string(part.Properties["code"].Const) == fmt.Sprint(m.Error.Code) {
				err = errors.Join(err, s.check(from, def, []byte(text)))
			}
		}
	}
	return err
}
