package main_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the stories of the command line in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			name, value, _ := strings.Cut(raceSettings, "=")
			env.Setenv(name, value)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"schema": setSchema,
			"mode":   checkMode,
		},
	})
}

// setSchema marks a database as one of a later version: schema FILE VERSION.
func setSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: schema file version")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %s", args[1]))
	ts.Check(err)
}

// checkMode compares the permissions of a file: mode FILE OCTAL.
func checkMode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode file permissions")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%#o", info.Mode().Perm()); (got == args[1]) == neg {
		ts.Fatalf("%s has the permissions %s", args[0], got)
	}
}

// The help says every flag and command that there is.
func TestHelpIsComplete(t *testing.T) {
	out, err := command(t, program(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Usage:", "--db", "--answer-command", "--max-line", "--log-level", "version", "exit-codes", "BOSSMAN_DB", "mcpServers"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the help does not mention %s", want)
		}
	}
	for text := range strings.Lines(string(out)) {
		if len([]rune(strings.TrimRight(text, "\n"))) > 160 {
			t.Errorf("a line of the help is too long: %s", text)
		}
	}
}
