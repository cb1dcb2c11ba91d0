package queue

import (
	"slices"
)

// The sizes of a page of tasks.
const (
	DefaultLimit = 50
	MaxLimit     = 500
	// MaxPageBytes bounds the texts of one page. A task that alone is larger
	// makes a page by itself.
	MaxPageBytes = 1 << 20
)

// A Filter says which tasks to list. Its zero value lists the first page of all.
type Filter struct {
	Status Status // empty: any
	Worker string // who claimed it; empty: any or nobody
	Limit  int    // the most tasks a page may hold; zero: DefaultLimit
	Cursor string // Page.Next of the page before; empty: from the start
}

// Check returns the place after which the page begins and the most tasks it
// may hold, or ErrInvalid.
func (f Filter) Check() (after int64, limit int, err error) {
	if f.Status != "" && !slices.Contains(Statuses(), f.Status) {
		return 0, 0, invalid("status", "must be one of %s, %s, %s, %s", Pending, InProgress, Done, Failed)
	}
	if err := CheckWorker(f.Worker); err != nil {
		return 0, 0, err
	}
	if f.Limit < 0 || f.Limit > MaxLimit {
		return 0, 0, invalid("limit", "must be from 1 to %d, got %d", MaxLimit, f.Limit)
	}
	after, err = DecodeCursor(f.Cursor)
	if err != nil {
		return 0, 0, err
	}
	if f.Limit == 0 {
		return after, DefaultLimit, nil
	}
	return after, f.Limit, nil
}

// A Page is one page of a list.
type Page struct {
	Tasks []Task // oldest first
	Next  string // the cursor of the next page; empty on the last
}

// A Pager fills a page from a store's rows, so that all stores end their pages
// alike. Make one with NewPager.
type Pager struct {
	limit int
	bytes int
	last  int64
	full  bool
	tasks []Task
}

// NewPager returns a Pager for a page of at most limit tasks.
func NewPager(limit int) *Pager {
	return &Pager{limit: limit}
}

// Add offers the next task and its place in the list, a positive number that
// grows from task to task. It reports whether the task was taken: when not, the
// page is full and the task opens the next one.
func (p *Pager) Add(task Task, place int64) bool {
	size := len(task.Title) + len(task.Description) + len(task.Worker) + len(task.Result)
	if len(p.tasks) == p.limit || len(p.tasks) > 0 && p.bytes+size > MaxPageBytes {
		p.full = true
		return false
	}
	p.tasks = append(p.tasks, task)
	p.bytes += size
	p.last = place
	return true
}

// Page returns the page. It has a next page if a task was refused.
func (p *Pager) Page() Page {
	page := Page{Tasks: p.tasks}
	if p.full {
		page.Next = EncodeCursor(p.last)
	}
	return page
}
