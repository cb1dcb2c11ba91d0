package mcp

// SubscriptionFilter picks the notifications of a subscription. The server
// sends nothing that is not picked.
type SubscriptionFilter struct {
	ToolsListChanged     bool `json:"toolsListChanged,omitzero"`
	PromptsListChanged   bool `json:"promptsListChanged,omitzero"`
	ResourcesListChanged bool `json:"resourcesListChanged,omitzero"`
	// ResourceSubscriptions are the URIs of resources to watch.
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"`
	// TaskIDs are the deferred results to watch, if the server has that
	// extension.
	TaskIDs []string `json:"taskIds,omitzero"`
}

// SubscriptionsListenParams opens a subscription, which lasts until one side
// ends it.
type SubscriptionsListenParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"`
}

// SubscriptionsAcknowledgedParams opens the stream of a subscription: no
// notification of that subscription comes before it.
type SubscriptionsAcknowledgedParams struct {
	Meta Meta `json:"_meta,omitzero"` // holds the subscription's id
	// Notifications is the part of the filter that the server will honour.
	Notifications SubscriptionFilter `json:"notifications"`
}

// SubscriptionsListenResult ends a subscription in good order. Meta holds the
// subscription's id.
type SubscriptionsListenResult struct {
	Meta       Meta   `json:"_meta,omitzero"`
	ResultType string `json:"resultType,omitzero"`
}
