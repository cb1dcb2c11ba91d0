package storetest

import (
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

// awkward are texts that stores have been known to change.
func awkward() []string {
	return []string{
		"plain",
		" leading and trailing \t\r\n",
		"NUL \x00 in the middle, and at the end \x00",
		"\x00",
		"all controls: \x01\x02\x07\x08\x0b\x0c\x1b[31m\x7f\u0080\u009f",
		"line ends: \r \n \r\n \u0085 \u2028 \u2029",
		"bidi: \u202e\u2066abc\u2069\u200f",
		"invisible: a\u200bb\u200dc\u2060d\ufeffe\u00ade",
		"tags: \U000e0041\U000e007f",
		"one letter, two forms: \u00e9 e\u0301",
		"twins: paypal раураl Kelvin \u212a long s \u017f",
		"emoji: 👩‍👩‍👧‍👦 🏳️‍🌈",
		"edges: \ud7ff\ue000\ufffd\ufffe\uffff\U0001ffff\U0010ffff",
		"quotes: ' '' \" \"\" ` \\ \\\\ \\' \\x00 \\u0000",
		"patterns: % _ * ? [a-z] ^ $ {0} ${x} %s %d %00",
		"markup: <IMPORTANT>&amp;</IMPORTANT> <!-- --> ]]> {\"a\":1}",
		"007", "1e5", "0x1F", "-0", "NaN", "true", "null", "NULL", "2024-02-29T00:00:00Z", "12.50",
	}
}

func texts(t *testing.T, open opener) {
	store := open.start(t)
	var want []queue.Task
	for _, text := range append(awkward(), strings.Repeat("\u00e9\x00", 20_000)) {
		name := strings.ToValidUTF8(text[:min(len(text), queue.MaxWorker)], "")
		task, err := store.Create(t.Context(), queue.NewTask{Title: name, Description: text + "."})
		if err != nil {
			t.Fatalf("create %q: %v", name, err)
		}
		if task.Title != name || task.Description != text+"." {
			t.Errorf("%q was created as %q and %q", text, task.Title, task.Description)
		}
		expect(t, store, task)
		if claimed := claim(t, store, name); claimed.ID != task.ID || claimed.Worker != name {
			t.Errorf("claimed %+v by %q", claimed, name)
		}
		done, err := store.Finish(t.Context(), task.ID, queue.Outcome{Result: text})
		if err != nil || done.Result != text {
			t.Fatalf("finish with %q: got %q, %v", text, done.Result, err)
		}
		expect(t, store, done)
		want = append(want, done)
	}
	compare(t, all(t, store, queue.Filter{}), want)
	for _, task := range want {
		for _, found := range all(t, store, queue.Filter{Worker: task.Worker}) {
			if found.Worker != task.Worker {
				t.Errorf("the list of worker %q has a task of %q", task.Worker, found.Worker)
			}
		}
	}
}

func injections(t *testing.T, open opener) {
	store := open.start(t)
	strings := injectionStrings()
	tasks := make([]queue.Task, len(strings))
	together(32, func(worker int) {
		for i := worker; i < len(strings); i += 32 {
			task, err := store.Create(t.Context(), queue.NewTask{Title: strings[i], Description: strings[i]})
			if err != nil {
				t.Errorf("create %q: %v", strings[i], err)
			}
			if _, err := store.Get(t.Context(), strings[i]); err == nil {
				t.Errorf("there is a task with the ID %q", strings[i])
			}
			tasks[i], err = store.Finish(t.Context(), task.ID, queue.Outcome{Result: strings[i]})
			if err != nil {
				t.Errorf("finish %q: %v", strings[i], err)
			}
		}
	})
	found := make(map[string]queue.Task)
	for _, task := range all(t, store, queue.Filter{Limit: queue.MaxLimit}) {
		found[task.ID] = task
	}
	for i, task := range tasks {
		if task.Title != strings[i] || task.Description != strings[i] || task.Result != strings[i] {
			t.Errorf("%q became %+v", strings[i], task)
		}
		if found[task.ID] != task {
			t.Errorf("the store has %+v, want %+v", found[task.ID], task)
		}
	}
	if len(found) != len(strings) {
		t.Errorf("the store has %d tasks, want %d", len(found), len(strings))
	}
}

// injectionStrings returns 500 strings that end a SQL literal in one way or
// another and go on with a statement.
func injectionStrings() []string {
	openers := []string{"'", "\"", "`", "]", "\\'", "''", "%27", "x'", "$$", "?"}
	payloads := []string{
		" OR 1=1", "; DROP TABLE tasks", "; DELETE FROM tasks", " UNION SELECT sql FROM sqlite_schema",
		"); ATTACH DATABASE 'x' AS x", "; PRAGMA writable_schema=1", " || (SELECT id FROM tasks LIMIT 1)",
		"; UPDATE tasks SET status='done'", " AND randomblob(1000000000)", "; COMMIT; BEGIN",
	}
	closers := []string{"", " --", ";--", " /*", "\x00"}
	var all []string
	for _, opener := range openers {
		for _, payload := range payloads {
			for _, closer := range closers {
				all = append(all, opener+payload+closer)
			}
		}
	}
	return all
}

// compare fails the test unless both lists hold the same tasks in the same
// order.
func compare(t *testing.T, got, want []queue.Task) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d tasks, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("task %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
