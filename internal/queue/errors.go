package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The errors of a Store. Callers match them with errors.Is. Their texts, and
// the texts of the errors that wrap them, are fit to be shown to a caller: they
// hold no paths and no SQL.
var (
	// ErrNotFound: no task has this ID. NotFound makes one that names the ID.
	ErrNotFound = errors.New("task not found")
	// ErrEmpty: no task is waiting to be claimed.
	ErrEmpty = errors.New("no task is ready")
	// ErrFinished: the task has ended with another outcome, which stands.
	ErrFinished = errors.New("task already finished")
	// ErrInvalid: an input is not allowed. The text names the field and what
	// is allowed.
	ErrInvalid = errors.New("invalid input")
	// ErrUnavailable: the store cannot do it now (a full or failing disk, or
	// another process in the way). Nothing was acknowledged; trying again later
	// is right.
	ErrUnavailable = errors.New("task store unavailable, try again later")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("task store is closed")
)

// shownID is how many bytes of an unknown ID an error repeats.
const shownID = 64

// NotFound returns an ErrNotFound that names id, shortened and quoted where it
// would make the text long or unprintable.
func NotFound(id string) error {
	if len(id) > shownID {
		cut := shownID
		for cut > 0 && !utf8.RuneStart(id[cut]) {
			cut--
		}
		id = id[:cut] + "…"
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) {
		id = strconv.Quote(id)
	}
	return fmt.Errorf("%w: %s", ErrNotFound, id)
}

// invalid returns an ErrInvalid about field.
func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrInvalid, field, fmt.Sprintf(format, args...))
}

// checkText refuses a text that is too long or not UTF-8.
func checkText(field, text string, limit int) error {
	if len(text) > limit {
		return invalid(field, "must be at most %d bytes, got %d", limit, len(text))
	}
	if !utf8.ValidString(text) {
		return invalid(field, "must be valid UTF-8")
	}
	return nil
}
