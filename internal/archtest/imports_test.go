package archtest_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// levels is the picture of the design, top first: a package imports packages of
// lower levels only. A name that ends in /... stands for every package below.
var levels = []struct {
	level    int
	packages []string
}{
	{8, []string{"cmd/...", "internal/archtest", "internal/interop", "internal/pairs"}},
	{7, []string{"internal/cli"}},
	{6, []string{"gateway", "conformance/..."}},
	{5, []string{"fleet", "skills/load"}},
	{4, []string{"client", "mcptest", "deferred/storetest", "examples/..."}},
	{3, []string{"stdio", "streamable", "deferred", "skills", "codemode", "internal/queue/tools"}},
	{2, []string{"internal/lifecycle", "server", "oauth/resource"}},
	{1, []string{
		"mcp", "jsonrpc/peer", "oauth/login",
		"internal/queue/sqlite", "internal/queue/postgres", "internal/queue/storetest", "internal/board",
	}},
	{0, []string{
		"jsonrpc", "mcp/revision", "schema", "oauth", "internal/plain",
		"internal/sse", "internal/parked", "internal/queue", "internal/config", "internal/scaffold",
	}},
	// The ground: these import nothing of ours.
	{-1, []string{"internal/jsonscan", "internal/lifetime", "internal/deadline", "internal/errands", "internal/spelling", "internal/need/..."}},
}

// sameLevel are the arrows between packages of one level, with the reason.
var sameLevel = map[string]string{}

// reserved are packages that only some may import, whatever their level, and
// tests.
var reserved = []struct {
	target string // as in levels, or a pattern of packages outside the module
	open   []string
	why    string
}{
	{target: "internal/need/...", open: []string{"internal/need/...", "internal/queue/storetest", "deferred/storetest", "mcptest"},
		why: "it skips and fails tests, and starts programs"},
	{target: "internal/queue/storetest", why: "it is a suite of tests"},
	{target: "deferred/storetest", why: "it is a suite of tests"},
	{target: "testing/...", open: []string{"internal/need/...", "internal/queue/storetest", "deferred/storetest", "mcptest"},
		why: "only packages that support tests know of tests"},
	{target: "mcp/revision", open: []string{"internal/lifecycle", "stdio", "streamable", "mcptest", "conformance/..."},
		why: "revisions stay at the door, and features are written for the newest shape"},
	{target: "database/sql/...", open: []string{"internal/queue/sqlite", "internal/queue/postgres"},
		why: "a store's technology stays in its folder"},
	{target: "encoding/json", why: "our JSON is strict: use github.com/go-json-experiment/json"},
}

// strangers are packages that one of ours must never import, whatever their level.
var strangers = []struct {
	dir  string
	bans []string
	why  string
}{
	{"internal/queue", []string{"database/sql/...", "mcp/...", "jsonrpc/...", "server", "net", "net/http/..."}, "the domain knows no SQL and no MCP"},
	{"jsonrpc", []string{"os/...", "net", "net/http/...", "bufio"}, "messages know no input and output"},
	{"schema", []string{"mcp/...", "jsonrpc/...", "net", "net/http/..."}, "schemas know nothing of MCP, and fetch nothing"},
	{"mcp", []string{"os/...", "net/http/...", "jsonrpc/peer"}, "above the doors nobody knows a transport"},
	{"server", []string{"os/...", "net/http/...", "jsonrpc/peer"}, "above the doors nobody knows a transport"},
	{"stdio", []string{"net", "net/http/..."}, "a server on standard input and output is small, and starts in no time"},
	{"internal/lifecycle", []string{"net", "net/http/..."}, "a server on standard input and output is small, and starts in no time"},
	{"jsonrpc/peer", []string{"net", "net/http/..."}, "a server on standard input and output is small, and starts in no time"},
}

// sdk is the path of somebody else's MCP library: any module outside ours with
// mcp as a word of its path.
var sdk = regexp.MustCompile(`(?i)modelcontextprotocol|(^|[-_./])mcp([-_./]|$)`)

func TestImportsPointDown(t *testing.T) {
	hold(t, []rule{
		{
			name:       "a package imports only packages of lower levels",
			check:      checkLevels,
			exceptions: sameLevel,
			examples: []example{
				{"an import upwards is refused, one downwards and a test's are not", `
-- mcp/a.go --
package mcp

import (
	"fmt"

	"@/server"
	"@/jsonrpc"
)
-- mcp/a_test.go --
package mcp_test

import "@/server"
-- server/a.go --
package server
-- jsonrpc/a.go --
package jsonrpc
`, []string{"mcp/a.go:6"}},
				{"an import within a level is refused", `
-- stdio/a.go --
package stdio

import "@/streamable"
-- streamable/a.go --
package streamable
`, []string{"stdio/a.go:3"}},
				{"a package without a level is refused, and so is its import", `
-- soup/a.go --
package soup
-- server/a.go --
package server

import "@/soup"
`, []string{"server/a.go:3", "soup/a.go:1"}},
				{"a new command has a level", `
-- cmd/new/main.go --
package main

import "@/internal/cli"
-- internal/cli/cli.go --
package cli
`, nil},
			},
		},
		{
			name:  "a reserved package is imported only by those it is open to",
			check: checkReserved,
			examples: []example{
				{"the strict JSON library has no rival outside tests", `
-- server/a.go --
package server

import _ "encoding/json"
-- server/a_test.go --
package server_test

import _ "encoding/json"
`, []string{"server/a.go:3"}},
				{"test support stays in tests and test support", `
-- stdio/a.go --
package stdio

import _ "@/internal/need"
import _ "@/internal/queue/storetest"
import _ "testing/synctest"
import _ "testing"
-- internal/queue/storetest/a.go --
package storetest

import _ "@/internal/need"
import _ "testing"
`, []string{"stdio/a.go:3", "stdio/a.go:4", "stdio/a.go:5", "stdio/a.go:6"}},
				{"a feature may not know revisions, a door may", `
-- server/a.go --
package server

import "@/mcp/revision"
-- mcp/a.go --
package mcp

import "@/mcp/revision"
-- internal/lifecycle/a.go --
package lifecycle

import "@/mcp/revision"
`, []string{"mcp/a.go:3", "server/a.go:3"}},
				{"SQL stays in the stores", `
-- internal/cli/a.go --
package cli

import "database/sql"
import "database/sql/driver"
-- internal/queue/sqlite/a.go --
package sqlite

import "database/sql"
`, []string{"internal/cli/a.go:3", "internal/cli/a.go:4"}},
			},
		},
		{
			name:  "a package keeps away from what it must not know",
			check: checkStrangers,
			examples: []example{{"the queue knows neither SQL nor MCP, its store and its tests may", `
-- internal/queue/a.go --
package queue

import "database/sql"
import "@/mcp"
import "@/jsonrpc"
import "time"
-- internal/queue/a_test.go --
package queue_test

import "@/mcp"
-- internal/queue/sqlite/a.go --
package sqlite

import "database/sql"
`, []string{"internal/queue/a.go:3", "internal/queue/a.go:4", "internal/queue/a.go:5"}}},
		},
		{
			name:  "nobody imports an MCP library but ours",
			check: checkSDK,
			examples: []example{
				{"imports are refused, in tests too", `
-- server/a.go --
package server

import "github.com/modelcontextprotocol/go-sdk/mcp"
import "@/mcp"
-- server/a_test.go --
package server_test

import "github.com/somebody/mcp-go/server"
import "github.com/somebody/mcpherson"
`, []string{"server/a.go:3", "server/a_test.go:3"}},
				{"a requirement in go.mod is refused", `
-- go.mod --
module github.com/bossman-mcp/bossman

require (
	github.com/somebody/go-mcp v1.0.0
	golang.org/x/tools v0.1.0 // not mcp
)
`, []string{"go.mod:4"}},
			},
		},
	})
}

// levelOf returns the level of a package, false if the table has none.
func levelOf(dir string) (int, bool) {
	for _, l := range levels {
		if within(dir, l.packages...) {
			return l.level, true
		}
	}
	return 0, false
}

func checkLevels(m *tree) []finding {
	var found []finding
	for _, p := range m.packages {
		from, known := levelOf(p.dir)
		if !known {
			file := append(p.source, p.tests...)[0]
			f := m.at(file.syntax.Package)
			f.subject, f.problem = p.dir, "package "+p.dir+" has no level"
			f.advice = "add it to levels in internal/archtest/imports_test.go, one level above the highest package it imports, and to ARCHITECTURE.md"
			found = append(found, f)
			continue
		}
		for _, file := range p.source {
			file.imports(func(spec *ast.ImportSpec, target string, inside bool) bool {
				to, known := levelOf(target)
				if !inside || known && to < from {
					return true
				}
				f := m.at(spec.Pos())
				f.subject = arrow(p.dir, target)
				f.problem = fmt.Sprintf("%s (level %d) imports %s (level %d)", p.dir, from, target, to)
				if !known {
					f.problem = fmt.Sprintf("%s imports %s, which has no level", p.dir, target)
				}
				f.advice = "imports point down only: define the interface you need here and let a package above connect the two, or move what you need to a lower level"
				found = append(found, f)
				return true
			})
		}
	}
	return found
}

// arrow names an import in exceptions.
func arrow(from, to string) string { return from + " -> " + to }

func checkReserved(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		file.imports(func(spec *ast.ImportSpec, target string, inside bool) bool {
			for _, r := range reserved {
				if !within(target, r.target) || file.test || within(file.dir(), r.open...) {
					continue
				}
				f := m.at(spec.Pos())
				f.subject = file.path + " imports " + target
				f.problem = fmt.Sprintf("%s is not open to %s, because %s", target, file.dir(), r.why)
				f.advice = "do without it; it is open to: tests"
				if len(r.open) > 0 {
					f.advice += ", " + strings.Join(r.open, ", ")
				}
				found = append(found, f)
			}
			return true
		})
	}
	return found
}

func checkStrangers(m *tree) []finding {
	var found []finding
	for _, file := range m.files {
		if file.test {
			continue
		}
		for _, s := range strangers {
			if file.dir() != s.dir {
				continue
			}
			file.imports(func(spec *ast.ImportSpec, target string, inside bool) bool {
				if within(target, s.bans...) {
					f := m.at(spec.Pos())
					f.subject, f.problem = arrow(s.dir, target), s.dir+" imports "+target
					f.advice = s.why + "; do this in a package that may"
					found = append(found, f)
				}
				return true
			})
		}
	}
	return found
}

func checkSDK(m *tree) []finding {
	const advice = "write it ourselves; programs that compare us with others live in modules of their own, such as bench"
	var found []finding
	for _, file := range m.files {
		file.imports(func(spec *ast.ImportSpec, target string, inside bool) bool {
			if !inside && sdk.MatchString(target) {
				f := m.at(spec.Pos())
				f.subject, f.problem, f.advice = target, "import of the MCP library "+target, advice
				found = append(found, f)
			}
			return true
		})
	}
	text, err := fs.ReadFile(m.fsys, "go.mod")
	if err != nil {
		return found
	}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		for _, word := range strings.Fields(line) {
			if word != modulePath && strings.Contains(word, "/") && sdk.MatchString(word) {
				found = append(found, finding{
					path: "go.mod", line: i + 1, subject: word,
					problem: "requirement of the MCP library " + word, advice: advice,
				})
			}
		}
	}
	return found
}
