package main

import (
	"embed"
	"io/fs"
	"time"

	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

//go:embed skills
var skillFiles embed.FS

// addSkills offers one skill with folders, one below a prefix, and a dynamic one.
func addSkills(s *server.Server) {
	folder, err := fs.Sub(skillFiles, "skills")
	if err != nil {
		panic(err)
	}
	err = skills.Serve(s, folder, &skills.Options{
		Dynamic: []string{"weather-today"}, TTL: time.Minute, Public: true, PageSize: 2,
	})
	if err != nil {
		panic(err)
	}
}
