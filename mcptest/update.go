package mcptest

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// How long a server must be silent before an update believes that it has said
// everything: after what was not expected, and after what was.
const (
	silence      = 150 * time.Millisecond
	shortSilence = 10 * time.Millisecond
)

// update plays the client's part and replaces the server's by what really came.
// What matches stays as it is. It closes the connection.
func (t *Transcript) update(c *Conn) error {
	seen := make(captures)
	var next []Section
	for i := range t.Sections {
		s := t.Sections[i]
		wait := silence
		switch s.Kind {
		case Client:
			if err := t.speak(c, &s, seen); err != nil {
				return err
			}
		case Server:
			if t.hear(c, &s, seen) {
				wait = shortSilence
			}
		case End:
			c.closeInput()
		}
		if s.Kind != Server || len(s.Lines) > 0 {
			next = append(next, s)
		}
		if i+1 == len(t.Sections) || t.Sections[i+1].Kind != Server {
			next = addLines(next, c.rest(wait))
		}
	}
	c.Close()
	if extra := c.takeUnread(); len(extra) > 0 {
		if !slices.ContainsFunc(next, func(s Section) bool { return s.Kind == End }) {
			next = append(next, Section{Kind: End})
		}
		next = addLines(next, extra)
	}
	t.Sections = next
	return nil
}

// hear replaces the messages of a section by as many that came, and reports
// whether they are the same.
func (t *Transcript) hear(c *Conn, s *Section, seen captures) bool {
	var came []string
	for range s.Lines {
		line, err := c.inbox.take(min(c.opts.Wait, 2*time.Second), nil)
		if err != nil {
			break
		}
		came = append(came, line)
	}
	before := s.Lines
	s.Lines = make([]Line, 0, len(came))
	if !s.AnyOrder {
		for i, got := range came {
			s.Lines = append(s.Lines, before[i].follow(got, seen))
		}
		return slices.Equal(s.Lines, before)
	}
	left, extra := seen.pair(before, came)
	for _, line := range before {
		if !slices.Contains(left, line) {
			s.Lines = append(s.Lines, line)
		} else if len(extra) > 0 {
			s.Lines = append(s.Lines, line.follow(extra[0], seen))
			extra = extra[1:]
		}
	}
	return slices.Equal(s.Lines, before)
}

// rest returns what the server still says until it is silent for that long.
func (c *Conn) rest(wait time.Duration) []string {
	var lines []string
	for {
		line, err := c.inbox.take(wait, nil)
		if err != nil {
			return lines
		}
		lines = append(lines, line)
	}
}

func (c *Conn) takeUnread() []string {
	lines := c.Unread()
	for range lines {
		_, _ = c.inbox.take(0, nil)
	}
	return lines
}

// addLines adds what came to the last section, or in a new one behind it.
func addLines(sections []Section, came []string) []Section {
	if len(came) == 0 {
		return sections
	}
	if last := len(sections) - 1; last < 0 || sections[last].Kind != Server {
		sections = append(sections, Section{Kind: Server})
	}
	s := &sections[len(sections)-1]
	for _, text := range came {
		s.Lines = append(s.Lines, Line{Text: text, layout: layout(text)})
	}
	return sections
}

// follow returns the line as it must be for got to match it: the same if it
// does, else what came with the placeholders that still fit.
func (l Line) follow(got string, seen captures) Line {
	if seen.matchAnyOrder(l.Text, got) == nil {
		return l
	}
	text := string(seen.merge(jsonscan.Trim([]byte(l.Text)), jsonscan.Trim([]byte(got))))
	return Line{Text: text, Number: l.Number, layout: layout(text)}
}

// merge returns got with the placeholders of want, and captures those.
func (c captures) merge(want, got jsontext.Value) jsontext.Value {
	kind := jsonscan.KindOf(want)
	switch {
	case kind == jsonscan.String:
		if c.match(string(want), string(got)) == nil {
			return want
		}
	case kind == jsonscan.Object && jsonscan.KindOf(got) == kind:
		merged := object{}
		for name, value := range jsonscan.Members(got) {
			if expected := jsonscan.Get(want, string(name)); expected != nil {
				value = c.merge(expected, value)
			}
			merged.set(string(name), value)
		}
		return merged.JSON()
	case kind == jsonscan.Array && jsonscan.KindOf(got) == kind:
		wants, merged := elements(want), jsontext.Value{'['}
		for i, value := range elements(got) {
			if i > 0 {
				merged = append(merged, ',')
			}
			if i < len(wants) {
				value = c.merge(wants[i], value)
			}
			merged = append(merged, value...)
		}
		return append(merged, ']')
	}
	return got
}
