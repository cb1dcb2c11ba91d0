package mcp

// The types of a CompleteReference.
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// MaxCompletionValues is the most values that one Completion may hold.
const MaxCompletionValues = 100

// CompleteParams asks how an argument could go on.
type CompleteParams struct {
	Meta     Meta              `json:"_meta,omitzero"`
	Ref      CompleteReference `json:"ref"`
	Argument CompleteArgument  `json:"argument"`
	Context  *CompleteContext  `json:"context,omitzero"`
}

// CompleteReference names the prompt or the resource template that an argument
// belongs to.
type CompleteReference struct {
	Type  string `json:"type"`           // RefPrompt or RefResource
	Name  string `json:"name,omitzero"`  // of the prompt
	Title string `json:"title,omitzero"` // of the prompt
	URI   string `json:"uri,omitzero"`   // of the resource, or its template
}

// CompleteArgument is the argument that is being typed.
type CompleteArgument struct {
	Name  string `json:"name"`
	Value string `json:"value"` // so far
}

// CompleteContext holds what was decided before.
type CompleteContext struct {
	// Arguments are the other arguments, or variables of the URI template.
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult answers CompleteParams.
type CompleteResult struct {
	Meta       Meta       `json:"_meta,omitzero"`
	ResultType string     `json:"resultType,omitzero"`
	Completion Completion `json:"completion"`
}

// Completion is a list of values for an argument.
type Completion struct {
	Values []string `json:"values"` // at most MaxCompletionValues
	// Total counts all the values there are; nil when unknown.
	Total *int64 `json:"total,omitzero"`
	// HasMore says whether there are more than Values; nil says nothing.
	HasMore *bool `json:"hasMore,omitzero"`
}
