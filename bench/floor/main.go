// Command floor is the physical limit: a program that reads a line, or an HTTP
// request, and writes a canned answer. It knows the driver's requests by their
// looks, checks nothing, and is no MCP server; it shows what pipes, sockets,
// net/http and Go itself cost.
package main

import (
	"flag"
	"log"
)

func main() {
	addr := flag.String("http", "", "address to serve HTTP on; standard input and output without it")
	tools := flag.Int("tools", 0, "how many more tools to list")
	flag.Parse()
	c := newCanned(*tools)
	var err error
	if *addr == "" {
		err = serveLines(c)
	} else {
		err = serveHTTP(*addr, c)
	}
	if err != nil {
		log.Fatal(err)
	}
}
