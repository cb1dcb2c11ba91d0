package lifecycle

import (
	"fmt"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// olderContent gives a content block the form of a revision. A kind of content
// that the revision does not have becomes a line of text that names it. The
// block itself is returned if it can stand as it is.
func olderContent(rev *revision.Revision, content mcp.Content) mcp.Content {
	switch c := content.(type) {
	case *mcp.TextContent:
		a, meta := olderAnnotations(rev, c.Annotations), c.Meta
		olderMeta(rev, &meta)
		if a == c.Annotations && len(meta) == len(c.Meta) {
			return c
		}
		return &mcp.TextContent{Text: c.Text, Annotations: a, Meta: meta}
	case *mcp.ImageContent:
		d := *c
		d.Annotations = olderAnnotations(rev, c.Annotations)
		olderMeta(rev, &d.Meta)
		return &d
	case *mcp.AudioContent:
		if !rev.Annotated {
			return mcp.Text(fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)))
		}
		d := *c
		d.Annotations = olderAnnotations(rev, c.Annotations)
		olderMeta(rev, &d.Meta)
		return &d
	case *mcp.EmbeddedResource:
		d := *c
		d.Annotations = olderAnnotations(rev, c.Annotations)
		olderMeta(rev, &d.Meta)
		olderMeta(rev, &d.Resource.Meta)
		return &d
	case *mcp.ResourceLink:
		if !rev.Structured {
			return mcp.Text(fmt.Sprintf("[resource %s: %s]", c.Name, c.URI))
		}
		d := *c
		olderResource(rev, &d.Resource)
		return &d
	}
	return content
}
