// Package fleet runs many MCP servers from one configuration.
//
// [Parse] reads the configuration files of MCP clients, [New] makes a [Fleet] of
// what they say:
//
//	config, err := fleet.Parse(text, os.LookupEnv)
//	f := fleet.New(config, &fleet.Options{Env: []string{"PATH=" + path}})
//	defer f.Close()
//	tools, failed := f.Tools(ctx)
//	result, err := f.Call(ctx, "github", "create_issue", arguments)
//
// # Life of a server
//
// A server is started when it is first needed, or at once if it is eager. One
// that dies is started again, after pauses that grow. One that hangs, so that it
// does not say it is there though it has nothing to do, is ended and started
// again. One that fails too often in a row is given up, and calls of it fail at
// once, until it has rested. [Fleet.Status] shows all of it.
//
// Servers do not touch each other: each has its own goroutine, its own time
// limits and its own errors.
package fleet
