package load

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/skills"
)

// ErrNotOffered says that a server did not announce what is asked for: skills, or
// that its folders can be listed.
var ErrNotOffered = errors.New("not offered by the server")

// List lists the skills of a server, page by page as the caller goes on, and reads
// none of their files. A server need not list all that it has: see [Get].
func List(ctx context.Context, c *client.Client) iter.Seq2[*skills.Skill, error] {
	return func(yield func(*skills.Skill, error) bool) {
		if err := offers(ctx, c, ""); err != nil {
			yield(nil, fmt.Errorf("list skills: %w", err))
			return
		}
		all := client.Walk(ctx, c, client.List[skills.Skill]{
			Method: skills.MethodList, Member: "skills",
			Key: func(s *skills.Skill) string { return s.URI },
		})
		for skill, err := range all {
			if err != nil {
				yield(nil, fmt.Errorf("list skills: %w", err))
				return
			}
			if !yield(&skill, nil) {
				return
			}
		}
	}
}

// Get returns the skill whose SKILL.md is at uri as it is now, listed or not, and
// reads none of its files.
func Get(ctx context.Context, c *client.Client, uri string) (*skills.Skill, error) {
	if err := offers(ctx, c, ""); err != nil {
		return nil, fmt.Errorf("get skill %s: %w", uri, err)
	}
	var result struct {
		Skill skills.Skill `json:"skill"`
	}
	if err := c.Do(ctx, skills.MethodGet, map[string]string{"uri": uri}, &result, nil); err != nil {
		return nil, fmt.Errorf("get skill %s: %w", uri, err)
	}
	if result.Skill.URI != uri {
		return nil, fmt.Errorf("get skill %s: the server answered with another: %q", uri, result.Skill.URI)
	}
	return &result.Skill, nil
}

// Directory lists what is in the folder at uri, files and folders, as the server
// sees it now. Folders have the MIME type [skills.DirectoryType]. The files of a
// skill that is not dynamic are in its entry: one that is only here is none of them.
func Directory(ctx context.Context, c *client.Client, uri string) iter.Seq2[mcp.Resource, error] {
	return func(yield func(mcp.Resource, error) bool) {
		if err := offers(ctx, c, "directoryRead"); err != nil {
			yield(mcp.Resource{}, fmt.Errorf("list folder %s: %w", uri, err))
			return
		}
		all := client.Walk(ctx, c, client.List[mcp.Resource]{
			Method: skills.MethodReadDirectory, Member: "resources", URI: uri,
			Key: func(r *mcp.Resource) string { return r.URI },
		})
		for entry, err := range all {
			if err != nil {
				err = fmt.Errorf("list folder %s: %w", uri, err)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// offers reports whether the server announced skills, and a setting if one is
// named.
func offers(ctx context.Context, c *client.Client, setting string) error {
	settings, err := c.Extension(ctx, skills.Extension)
	if err != nil {
		return err
	}
	if settings == nil || setting != "" && string(jsonscan.Get(settings, setting)) != "true" {
		return ErrNotOffered
	}
	return nil
}
