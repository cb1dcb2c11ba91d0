package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func listFilters(t *testing.T, open opener) {
	store := open.start(t)
	if page, err := store.List(t.Context(), queue.Filter{}); err != nil || len(page.Tasks) != 0 || page.Next != "" {
		t.Errorf("an empty store lists %+v, %v", page, err)
	}
	for i := range 12 {
		create(t, store, fmt.Sprint(i))
	}
	for i := range 8 {
		task := claim(t, store, []string{"alice", "bob"}[i%2])
		if i < 4 {
			if _, err := store.Finish(t.Context(), task.ID, queue.Outcome{Failed: i == 3}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		filter queue.Filter
		want   string // descriptions
	}{
		{"everything", queue.Filter{}, "0 1 2 3 4 5 6 7 8 9 10 11"},
		{"pending", queue.Filter{Status: queue.Pending}, "8 9 10 11"},
		{"in progress", queue.Filter{Status: queue.InProgress}, "4 5 6 7"},
		{"done", queue.Filter{Status: queue.Done}, "0 1 2"},
		{"failed", queue.Filter{Status: queue.Failed}, "3"},
		{"a worker's", queue.Filter{Worker: "alice"}, "0 2 4 6"},
		{"a worker's in progress", queue.Filter{Worker: "bob", Status: queue.InProgress}, "5 7"},
		{"a worker's pending", queue.Filter{Worker: "bob", Status: queue.Pending}, ""},
		{"another worker's", queue.Filter{Worker: "ALICE"}, ""},
		{"a pattern's", queue.Filter{Worker: "%"}, ""},
	}
	for _, test := range tests {
		for _, limit := range []int{0, 1, 3} {
			test.filter.Limit = limit
			if got := descriptions(all(t, store, test.filter)); got != test.want {
				t.Errorf("%s by %d: got %q, want %q", test.name, limit, got, test.want)
			}
		}
	}
}

func listPages(t *testing.T, open opener) {
	store := open.start(t)
	var want []queue.Task
	for i := range queue.DefaultLimit + 10 {
		want = append(want, create(t, store, fmt.Sprint(i)))
	}
	page, err := store.List(t.Context(), queue.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Tasks) != queue.DefaultLimit || page.Next == "" {
		t.Errorf("the first page has %d tasks and the cursor %q", len(page.Tasks), page.Next)
	}
	for _, limit := range []int{1, 7, 10, len(want) - 1, len(want), len(want) + 1, queue.MaxLimit} {
		compare(t, all(t, store, queue.Filter{Limit: limit}), want)
	}
	page, err = store.List(t.Context(), queue.Filter{Limit: len(want)})
	if err != nil || page.Next != "" {
		t.Errorf("a page that holds all has the cursor %q, %v", page.Next, err)
	}
}

func listStable(t *testing.T, open opener) {
	store := open.start(t)
	for i := range 20 {
		create(t, store, fmt.Sprint(i))
	}
	var got []queue.Task
	filter := queue.Filter{Limit: 5}
	for added := 20; ; added++ {
		page, err := store.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Tasks...)
		if page.Next == "" {
			break
		}
		filter.Cursor = page.Next
		create(t, store, fmt.Sprint(added)) // one for five read: the list ends
		claim(t, store, "worker")
	}
	if want := "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"; descriptions(got) != want {
		t.Errorf("got %q, want %q", descriptions(got), want)
	}
}

func listLarge(t *testing.T, open opener) {
	store := open.start(t)
	large := strings.Repeat("x", queue.MaxPageBytes*2/5)
	for i := range 5 {
		task := create(t, store, fmt.Sprint(i))
		if _, err := store.Finish(t.Context(), task.ID, queue.Outcome{Result: large}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := store.List(t.Context(), queue.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if got := descriptions(page.Tasks); got != "0 1" || page.Next == "" {
		t.Errorf("the first page has %q and the cursor %q", got, page.Next)
	}
	if got := descriptions(all(t, store, queue.Filter{})); got != "0 1 2 3 4" {
		t.Errorf("all pages have %q", got)
	}
}

func listInvalid(t *testing.T, open opener) {
	store := open.start(t)
	create(t, store, "x")
	for _, filter := range []queue.Filter{
		{Status: "finished"}, {Status: "' OR 1=1 --"}, {Limit: -1}, {Limit: queue.MaxLimit + 1},
		{Cursor: "1"}, {Cursor: "' OR 1=1 --"}, {Cursor: strings.Repeat("A", 1<<20)}, {Cursor: "\x00"}, {Worker: "\xff"},
	} {
		if page, err := store.List(t.Context(), filter); !errors.Is(err, queue.ErrInvalid) || page.Tasks != nil {
			t.Errorf("%.80v: got %d tasks and %v, want ErrInvalid", filter, len(page.Tasks), err)
		}
	}
}

// descriptions returns the descriptions of tasks, separated by blanks.
func descriptions(tasks []queue.Task) string {
	var texts []string
	for _, task := range tasks {
		texts = append(texts, task.Description)
	}
	return strings.Join(texts, " ")
}
