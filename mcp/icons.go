package mcp

// Icon is a picture for a user interface.
//
// A client should fetch icons only from the server's own domain or one it
// trusts, and treat SVG with care: it can hold scripts.
type Icon struct {
	Src string `json:"src"` // an http, https or data URI
	// MIMEType overrides a missing or vague type of the source.
	MIMEType string `json:"mimeType,omitzero"`
	// Sizes are written as "48x48", or "any" for formats that scale. Empty means
	// any size.
	Sizes []string `json:"sizes,omitzero"`
	// Theme is "light" or "dark", the background that the icon is made for.
	// Empty means both.
	Theme string `json:"theme,omitzero"`
}

// Implementation names a client or server program. What it says is neither
// checked nor fit for decisions: show it, log it.
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for people; Name when empty
	Version     string `json:"version"`
	Description string `json:"description,omitzero"`
	WebsiteURL  string `json:"websiteUrl,omitzero"`
	Icons       []Icon `json:"icons,omitzero"`
}
