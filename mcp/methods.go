package mcp

// Requests of the client to the server.
const (
	MethodDiscover              = "server/discover"          // client to server: what are you?
	MethodListTools             = "tools/list"               // client to server: one page of tools
	MethodCallTool              = "tools/call"               // client to server: call a tool
	MethodListResources         = "resources/list"           // client to server: one page of resources
	MethodListResourceTemplates = "resources/templates/list" // client to server: one page of resource templates
	MethodReadResource          = "resources/read"           // client to server: read a resource
	MethodListPrompts           = "prompts/list"             // client to server: one page of prompts
	MethodGetPrompt             = "prompts/get"              // client to server: a prompt, filled in
	MethodComplete              = "completion/complete"      // client to server: complete an argument
	MethodSubscriptionsListen   = "subscriptions/listen"     // client to server: open a subscription

	MethodInitialize  = "initialize"            // client to server: open a connection; older revisions only
	MethodSetLevel    = "logging/setLevel"      // client to server: filter log messages; older revisions only
	MethodSubscribe   = "resources/subscribe"   // client to server: watch a resource; older revisions only
	MethodUnsubscribe = "resources/unsubscribe" // client to server: stop watching; older revisions only
)

// Requests of the server to the client. In the newest revision they do not
// travel alone: they are the questions inside an answer that needs input.
const (
	MethodCreateMessage = "sampling/createMessage" // server to client: ask a model
	MethodElicit        = "elicitation/create"     // server to client: ask the user
	MethodListRoots     = "roots/list"             // server to client: list the roots
)

// Requests of either side: older revisions only.
const (
	MethodPing           = "ping"         // both ways: are you there?
	MethodDeferredResult = "tasks/result" // both ways: a deferred result itself
	MethodListDeferred   = "tasks/list"   // both ways: one page of deferred results
)

// Notifications.
const (
	NotificationCancelled                 = "notifications/cancelled"                  // both ways: an answer is no longer wanted
	NotificationProgress                  = "notifications/progress"                   // both ways, in the newest revision server to client: how far a request is
	NotificationMessage                   = "notifications/message"                    // server to client: a log message
	NotificationToolsListChanged          = "notifications/tools/list_changed"         // server to client: list the tools again
	NotificationPromptsListChanged        = "notifications/prompts/list_changed"       // server to client: list the prompts again
	NotificationResourcesListChanged      = "notifications/resources/list_changed"     // server to client: list the resources again
	NotificationResourceUpdated           = "notifications/resources/updated"          // server to client: read a resource again
	NotificationSubscriptionsAcknowledged = "notifications/subscriptions/acknowledged" // server to client: a subscription begins

	NotificationInitialized         = "notifications/initialized"          // client to server: ready; older revisions only
	NotificationRootsListChanged    = "notifications/roots/list_changed"   // client to server: list the roots again; older revisions only
	NotificationElicitationComplete = "notifications/elicitation/complete" // server to client: a visit to a URL is over; older revisions only
	NotificationDeferredStatus      = "notifications/tasks/status"         // both ways: the state of a deferred result; older revisions only
)
