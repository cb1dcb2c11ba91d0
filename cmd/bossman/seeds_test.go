package main_test

import (
	"fmt"
	"strings"

	"github.com/bossman-mcp/bossman/mcp/revision"
)

// seedID is the id that seeds carry; each message gets one of its own in its
// place.
const seedID = `"seed"`

// seeds returns good messages of every kind, as a client of the revision sends
// them after its handshake, if it has one.
func seeds(r *revision.Revision) []string {
	var list []string
	for _, request := range requestSeeds {
		method, params, _ := strings.Cut(request, " ")
		list = append(list, seedRequest(r, method, params))
	}
	for _, plain := range plainSeeds {
		list = append(list, strings.Replace(plain, "ID", seedID, 1))
	}
	return list
}

func seedRequest(r *revision.Revision, method, params string) string {
	if r.Stateless {
		return modern(seedID, method, params)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, seedID, method, params)
}

// requestSeeds are requests: a method and the members of its params.
var requestSeeds = []string{
	`ping`,
	`ping "_extra":{"a":[1,2,{"b":null}]}`,
	`server/discover`,
	`initialize "protocolVersion":"1999-12-31","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"seed","title":"Seed","version":"1.2.3"}`,
	`tools/list`,
	`tools/list "cursor":"dDoz"`,
	`tools/call "name":"create_task","arguments":{"description":"Write the parser"}`,
	`tools/call "name":"create_task","arguments":{"description":"Write the parser","title":"Parser","priority":5}`,
	`tools/call "name":"create_task","arguments":{"description":"","priority":-1000000}`,
	`tools/call "name":"create_task","arguments":{"description":"line one\nline two\t\"quoted\" \\ é 😀","title":"\u0000"}`,
	`tools/call "name":"get_task","arguments":{"id":"task_00000000000000000000000000"}`,
	`tools/call "name":"get_task","arguments":{"id":""}`,
	`tools/call "name":"list_tasks"`,
	`tools/call "name":"list_tasks","arguments":{}`,
	`tools/call "name":"list_tasks","arguments":{"status":"pending","limit":3}`,
	`tools/call "name":"list_tasks","arguments":{"status":"in_progress","worker":"seed","limit":1}`,
	`tools/call "name":"list_tasks","arguments":{"status":"done"}`,
	`tools/call "name":"list_tasks","arguments":{"status":"failed","limit":2}`,
	`tools/call "name":"list_tasks","arguments":{"worker":"nobody","limit":500}`,
	`tools/call "name":"list_tasks","arguments":{"cursor":"MDAwMA"}`,
	`tools/call "name":"get_next_task","arguments":{}`,
	`tools/call "name":"get_next_task","arguments":{"worker":"seed"}`,
	`tools/call "name":"report_task_done","arguments":{"id":"task_00000000000000000000000000"}`,
	`tools/call "name":"report_task_done","arguments":{"id":"task_00000000000000000000000000","result":"ok","status":"done"}`,
	`tools/call "name":"report_task_done","arguments":{"id":"task_00000000000000000000000000","result":"no","status":"failed"}`,
	`tools/call "name":"no_such_tool","arguments":{"a":1}`,
	`resources/list`,
	`resources/list "cursor":"cjox"`,
	`resources/templates/list`,
	`resources/read "uri":"memo://note"`,
	`resources/subscribe "uri":"memo://note"`,
	`resources/unsubscribe "uri":"memo://note"`,
	`prompts/list`,
	`prompts/get "name":"greet","arguments":{"name":"Ada"}`,
	`completion/complete "ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"A"}`,
	`completion/complete "ref":{"type":"ref/resource","uri":"memo://{id}"},"argument":{"name":"id","value":"1"},"context":{"arguments":{"a":"b"}}`,
	`logging/setLevel "level":"debug"`,
	`logging/setLevel "level":"emergency"`,
	`subscriptions/listen "notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["memo://note"]}`,
	`subscriptions/listen "notifications":{}`,
	`sampling/createMessage "messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10`,
	`roots/list`,
	`elicitation/create "message":"name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}`,
	`getNextTask`,
	`getNextTask "worker":"seed"`,
	`reportTaskDone "taskId":"task_00000000000000000000000000","result":"Completed successfully"`,
	`reportTaskDone "taskId":"TICKET-001"`,
	`askQuestion "question":"What is async/await?","chatId":"chat-123"`,
	`askQuestion "question":"Why?"`,
	`tools/call "name":"list_tasks","arguments":{"limit":1},"inputResponses":{"a":{"action":"accept"}},"requestState":"c2VhbGVk"`,
	`tools/call "name":"get_task","arguments":{"id":"task_%s"},"task":{"ttl":60000}`,
	`no/such/method "a":{"b":[true,false,null]}`,
}

// plainSeeds are the rest: notifications, responses, and requests that bring a
// _meta of their own.
var plainSeeds = []string{
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody","reason":"changed my mind"}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":1}}`,
	`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/no/such/thing","params":{"a":1}}`,
	`{"jsonrpc":"2.0","id":ID,"result":{"roots":[{"uri":"file:///x","name":"x"}]}}`,
	`{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found","data":{"a":1}}}`,
	`{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"list_tasks","_meta":{"progressToken":"abc"}}}`,
	`{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"get_next_task","_meta":{"progressToken":7,"com.example/trace":"x"}}}`,
	`{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-12-31","io.modelcontextprotocol/clientInfo":{"name":"seed","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{}}},"io.modelcontextprotocol/logLevel":"info"}}}`,
	`{"jsonrpc":"2.0","id":ID,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":ID,"method":"getNextTask"}`,
}
