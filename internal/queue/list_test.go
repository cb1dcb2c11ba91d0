package queue_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func TestFilterCheck(t *testing.T) {
	tests := []struct {
		name   string
		filter queue.Filter
		after  int64
		limit  int
		field  string // empty: accepted
	}{
		{"the zero filter begins at the start", queue.Filter{}, 0, queue.DefaultLimit, ""},
		{"limit and cursor are taken over", queue.Filter{Limit: 3, Cursor: queue.EncodeCursor(42)}, 42, 3, ""},
		{"the largest limit is accepted", queue.Filter{Limit: queue.MaxLimit}, 0, queue.MaxLimit, ""},
		{"a larger limit is refused", queue.Filter{Limit: queue.MaxLimit + 1}, 0, 0, "limit"},
		{"a negative limit is refused", queue.Filter{Limit: -1}, 0, 0, "limit"},
		{"an unknown status is refused", queue.Filter{Status: "Pending"}, 0, 0, "status"},
		{"a worker's name over the limit is refused", queue.Filter{Worker: strings.Repeat("x", queue.MaxWorker+1)}, 0, 0, "worker"},
		{"a foreign cursor is refused", queue.Filter{Cursor: "next"}, 0, 0, "cursor"},
	}
	for _, status := range queue.Statuses() {
		if _, _, err := (queue.Filter{Status: status}).Check(); err != nil {
			t.Errorf("status %s is refused: %v", status, err)
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after, limit, err := test.filter.Check()
			if test.field != "" {
				if !errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), test.field+" must ") {
					t.Errorf("got %v, want ErrInvalid that says what %s must be", err, test.field)
				}
				return
			}
			if err != nil || after != test.after || limit != test.limit {
				t.Errorf("got %d, %d, %v", after, limit, err)
			}
		})
	}
}

func TestPager(t *testing.T) {
	large := queue.Task{Result: strings.Repeat("x", queue.MaxPageBytes-10)}
	small := queue.Task{Title: "x", Description: "x", Worker: "x", Result: "x"}
	tests := []struct {
		name  string
		limit int
		offer []queue.Task
		taken int
	}{
		{"no tasks make an empty last page", 2, nil, 0},
		{"as many tasks as the limit make a last page", 2, []queue.Task{small, small}, 2},
		{"one task more opens a next page", 2, []queue.Task{small, small, small}, 2},
		{"texts up to the limit share a page", 9, []queue.Task{large, small, small}, 3},
		{"texts over the limit do not", 9, []queue.Task{large, small, small, small}, 3},
		{"a task that is too large makes a page by itself", 9, []queue.Task{{Description: strings.Repeat("x", queue.MaxPageBytes+1)}, small}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pager := queue.NewPager(test.limit)
			taken := 0
			for i, task := range test.offer {
				if !pager.Add(task, int64(10+i)) {
					break
				}
				taken++
			}
			page := pager.Page()
			if taken != test.taken || len(page.Tasks) != test.taken {
				t.Errorf("took %d, page of %d, want %d", taken, len(page.Tasks), test.taken)
			}
			want := ""
			if test.taken < len(test.offer) {
				want = queue.EncodeCursor(int64(10 + test.taken - 1))
			}
			if page.Next != want {
				t.Errorf("next is %q, want %q", page.Next, want)
			}
		})
	}
}

func TestDecodeCursorRefusesOthers(t *testing.T) {
	good := queue.EncodeCursor(7)
	tests := map[string]string{
		"too short":                     good[1:],
		"too long":                      good + "A",
		"padded":                        good + "==",
		"with a line break":             good[:9] + "\n" + good[9:],
		"with a letter changed":         "B" + good[1:],
		"with other trailing bits":      good[:len(good)-1] + string(good[len(good)-1]+1),
		"of a place before the start":   queue.EncodeCursor(-1),
		"of the start":                  queue.EncodeCursor(0),
		"not base64":                    strings.Repeat("!", len(good)),
		"a number":                      "7",
		"with a letter of other base64": "+" + good[1:],
	}
	for name, cursor := range tests {
		t.Run(name, func(t *testing.T) {
			if place, err := queue.DecodeCursor(cursor); !errors.Is(err, queue.ErrInvalid) {
				t.Errorf("got %d, %v, want ErrInvalid", place, err)
			}
		})
	}
}

func FuzzCursor(f *testing.F) {
	for _, place := range []int64{1, 7, math.MaxInt64, 0, -1} {
		f.Add(queue.EncodeCursor(place))
	}
	f.Add("")
	f.Add("AQAAAAAAAAAH\n")
	f.Fuzz(func(t *testing.T, cursor string) {
		place, err := queue.DecodeCursor(cursor)
		switch {
		case err != nil && !errors.Is(err, queue.ErrInvalid):
			t.Errorf("%q: got %v, want ErrInvalid", cursor, err)
		case err == nil && cursor == "" && place != 0:
			t.Errorf("the empty cursor is place %d", place)
		case err == nil && cursor != "" && (place <= 0 || queue.EncodeCursor(place) != cursor):
			t.Errorf("%q is taken for the cursor of place %d", cursor, place)
		}
	})
}
