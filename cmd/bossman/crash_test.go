package main_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

const crashRounds = 20

// Acknowledged means on disk: whatever bossman said it has created is there
// after kill -9, at any moment.
func TestAcknowledgedTasksSurviveKill(t *testing.T) {
	db := filepath.Join(t.TempDir(), "tasks.db")
	rng := rand.New(rand.NewPCG(9, 9))
	acknowledged := make(map[string]string) // description by id
	most := 0
	for round := range crashRounds {
		p := startOn(t, db)
		p.alive()
		known := len(acknowledged)
		p.createUntilKilled(fmt.Sprintf("round %d", round), time.Duration(rng.IntN(120))*time.Millisecond, acknowledged)
		most = max(most, len(acknowledged)-known)
	}
	if len(acknowledged) < crashRounds {
		t.Fatalf("only %d tasks were acknowledged in %d rounds", len(acknowledged), crashRounds)
	}
	p := startOn(t, db)
	for id, description := range acknowledged {
		m := p.call("tools/call", `"name":"get_task","arguments":{"id":"`+id+`"}`)
		if unquoted(m.member("structuredContent", "description")) != description {
			t.Errorf("%s was acknowledged as %q; now: %s", id, description, m.text)
		}
	}
	p.end()
	checkFile(t, db)
	t.Logf("%d tasks acknowledged in %d rounds, at most %d in one", len(acknowledged), crashRounds, most)
}

// createUntilKilled keeps 16 creations in flight for a while, kills bossman, and
// notes every task whose creation was answered, also if the answer is read after
// the kill.
func (p *process) createUntilKilled(name string, after time.Duration, acknowledged map[string]string) {
	p.t.Helper()
	timer := time.AfterFunc(after, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	sent := 0
	more := func() {
		description := fmt.Sprintf("%s, task %d", name, sent)
		_ = p.write(modern(quote(description), "tools/call", `"name":"create_task","arguments":{"description":`+quote(description)+`}`) + "\n") // fails after the kill
		sent++
	}
	for range 16 {
		more()
	}
	for l := range p.lines {
		text, whole := strings.CutSuffix(l.text, "\n")
		if !whole { // cut off by the kill: not acknowledged
			continue
		}
		m := decode(p.t, text)
		id := taskID(m)
		if id == "" {
			p.t.Fatalf("create_task: %s", m.text)
		}
		acknowledged[id] = unquoted(m.ID)
		more()
	}
	p.kill()
}

// checkFile fails the test unless the database is sound.
func checkFile(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the file is damaged: %s, %v", verdict, err)
	}
}

// Two bossmen on one file see each other's tasks, and hand each out once.
func TestTwoProcessesShareTheTasks(t *testing.T) {
	db := filepath.Join(t.TempDir(), "tasks.db")
	a, b := startOn(t, db), startOn(t, db)
	want := make(map[string]bool)
	for i := range 10 {
		want[a.create(fmt.Sprintf("a %d", i))] = true
		want[b.create(fmt.Sprintf("b %d", i))] = true
	}
	for i := 0; len(want) > 0 && i < 20; i++ {
		p := []*process{a, b}[i%2]
		m := p.ask(`{"jsonrpc":"2.0","id":1,"method":"getNextTask"}`)
		id := unquoted(m.member("id"))
		if !want[id] {
			t.Errorf("handed out: %s", m.text)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("never handed out: %v", want)
	}
	if m := a.ask(`{"jsonrpc":"2.0","id":1,"method":"getNextTask"}`); string(m.Result) != "null" {
		t.Errorf("handed out besides: %s", m.text)
	}
	a.end()
	b.end()
}
