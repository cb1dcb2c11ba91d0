package main

import (
	"context"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/skills/load"
)

func skillScenarios() map[string]scenario {
	return map[string]scenario{
		"sep-2640-client-no-prefetch":        plain(listSkills),
		"sep-2640-client-verify-digest":      plain(readSkills),
		"sep-2640-client-verify-size":        plain(readSkills),
		"sep-2640-client-verify-frontmatter": plain(readSkills),
	}
}

func listSkills(ctx context.Context, c *client.Client) error {
	for _, err := range load.List(ctx, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

// readSkills reads all that the server offers, as far as it is what was promised.
func readSkills(ctx context.Context, c *client.Client) error {
	for entry, err := range load.List(ctx, c) {
		if err != nil {
			return err
		}
		skill, err := load.Open(ctx, c, entry)
		if err != nil {
			return err
		}
		for _, file := range entry.Files {
			if _, err := skill.Read(ctx, file.URI); err != nil {
				return err
			}
		}
	}
	return nil
}
