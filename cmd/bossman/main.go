// Command bossman is a durable task queue that a team of coding agents shares
// over the Model Context Protocol.
package main

import (
	"os"

	"github.com/bossman-mcp/bossman/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
