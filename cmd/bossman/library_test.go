package main_test

import (
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object's members, raw.
func object(text string) (map[string]jsontext.Value, bool) {
	var members map[string]jsontext.Value
	err := json.Unmarshal([]byte(text), &members)
	return members, err == nil && members != nil
}

// elements returns the raw elements of an array.
func elements(text string) []string {
	var raw []jsontext.Value
	if json.Unmarshal([]byte(text), &raw) != nil {
		return nil
	}
	list := make([]string, len(raw))
	for i, value := range raw {
		list[i] = string(value)
	}
	return list
}

// member returns the raw value at a path of member names, nil if there is none.
func member(value jsontext.Value, path ...string) jsontext.Value {
	for _, name := range path {
		members, _ := object(string(value))
		value = members[name]
	}
	return value
}

// unquoted is the text of a JSON string, empty for anything else.
func unquoted(raw jsontext.Value) string {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// depth is how deep a value nests, or more where that is little.
func depth(text string) int {
	deepest := 0
	if brackets := strings.Count(text, "[") + strings.Count(text, "{"); brackets < 100 { // deep enough for nobody
		return brackets
	}
	for dec := jsontext.NewDecoder(strings.NewReader(text)); ; {
		if _, err := dec.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, dec.StackDepth())
	}
}

// pauses watches for how long the machine lets this process stand still.
type pauses struct {
	mu   sync.Mutex
	most time.Duration
	quit chan struct{}
	done sync.WaitGroup
}

func watchPauses() *pauses {
	w := &pauses{quit: make(chan struct{})}
	const step = 5 * time.Millisecond
	w.done.Go(func() {
		for ticks := time.NewTicker(step); ; {
			begin := time.Now()
			select {
			case <-w.quit:
				ticks.Stop()
				return
			case <-ticks.C:
			}
			w.mu.Lock()
			w.most = max(w.most, time.Since(begin)-step)
			w.mu.Unlock()
		}
	})
	return w
}

func (w *pauses) longest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most
}

func (w *pauses) stop() {
	close(w.quit)
	w.done.Wait()
}
