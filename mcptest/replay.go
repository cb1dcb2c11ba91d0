package mcptest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Replay plays the client's part on a connection, checks the server's, and
// closes the connection. The error says, with the number of the line, where the
// server first left the story. [Transcripts] does this for a folder.
func (t *Transcript) Replay(c *Conn) error {
	seen := make(captures)
	for i := range t.Sections {
		s := &t.Sections[i]
		var err error
		switch s.Kind {
		case Client:
			err = t.speak(c, s, seen)
		case Server:
			err = t.listen(c, s, seen)
		case End:
			c.closeInput()
		}
		if err != nil {
			return err
		}
	}
	c.Close()
	if extra := c.Unread(); len(extra) > 0 {
		return fmt.Errorf("%s: the story is over, but the server went on:\n%s", t.Name, indent("got:  ", extra...))
	}
	return nil
}

// speak sends the messages of a section.
func (t *Transcript) speak(c *Conn, s *Section, seen captures) error {
	for _, line := range s.Lines {
		text, err := seen.substitute(line.Text)
		if err == nil {
			err = c.send(text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: send: %w", t.Name, line.Number, err)
		}
	}
	return nil
}

// listen takes as many messages as a section expects and compares them.
func (t *Transcript) listen(c *Conn, s *Section, seen captures) error {
	var got []string
	for i, want := range s.Lines {
		line, err := c.inbox.take(c.opts.Wait, nil)
		if err != nil {
			return t.missing(s, got, i, err)
		}
		got = append(got, line)
		if s.AnyOrder {
			continue
		}
		if diffs := seen.match(want.Text, line); diffs != nil {
			return t.mismatch(want, line, diffs)
		}
	}
	if !s.AnyOrder {
		return nil
	}
	wants, gots := seen.pair(s.Lines, got)
	if len(wants) == 0 {
		return nil
	}
	want := wants[0]
	line, diffs := seen.nearest(want.Text, gots)
	return t.mismatch(want, line, diffs)
}

// missing says that the server stopped speaking.
func (t *Transcript) missing(s *Section, got []string, next int, err error) error {
	want := s.Lines[next]
	if s.AnyOrder && len(got) > 0 {
		return fmt.Errorf("%s:%d: only %d of %d messages came: %w\n%s", t.Name, s.Line, len(got), len(s.Lines), err, indent("got:  ", got...))
	}
	return fmt.Errorf("%s:%d: %w\n%s", t.Name, want.Number, err, indent("want: ", want.Text))
}

func (t *Transcript) mismatch(want Line, got string, diffs []string) error {
	return fmt.Errorf("%s:%d: the server said something else:\n%s\n%s\n%s", t.Name, want.Number,
		indent("", diffs...), indent("want: ", want.Text), indent("got:  ", got))
}

// indent sets lines off from the text around them.
func indent(label string, lines ...string) string {
	const most = 10
	out := make([]string, 0, len(lines))
	for i, line := range lines {
		if i == most {
			out = append(out, fmt.Sprintf("\tand %d more", len(lines)-most))
			break
		}
		out = append(out, "\t"+label+line)
	}
	return strings.Join(out, "\n")
}

// pair matches messages with expectations in any order, and returns those of
// either that are left over.
func (c captures) pair(wants []Line, gots []string) ([]Line, []string) {
	gots = slices.Clone(gots)
	var left []Line
	for _, want := range wants {
		i := slices.IndexFunc(gots, func(got string) bool { return c.matchAnyOrder(want.Text, got) == nil })
		if i < 0 {
			left = append(left, want)
			continue
		}
		gots = slices.Delete(gots, i, i+1)
	}
	return left, gots
}

// matchAnyOrder is match for messages where the order of the answers in a batch
// does not matter either.
func (c captures) matchAnyOrder(want, got string) []string {
	wants, gots := batch(want), batch(got)
	if wants == nil || len(wants) != len(gots) {
		return c.match(want, got)
	}
	var left []string
	for _, want := range wants {
		i := slices.IndexFunc(gots, func(got string) bool { return c.match(want, got) == nil })
		if i < 0 {
			left = append(left, "the batch: got no "+shorten(want))
			continue
		}
		gots = slices.Delete(gots, i, i+1)
	}
	return left
}

// batch returns the messages of a batch, nil for anything else.
func batch(text string) []string {
	var all []string
	for _, value := range elements(jsontext.Value(text)) {
		all = append(all, string(value))
	}
	return all
}

// nearest picks the message that was most likely meant: the one that answers the
// same request or has the same method, else the first. There is always one.
func (c captures) nearest(want string, gots []string) (string, []string) {
	i := max(0, slices.IndexFunc(gots, func(got string) bool { return subject(got) == subject(want) }))
	return gots[i], c.matchAnyOrder(want, gots[i])
}

// subject tells what a message is about.
func subject(text string) string {
	raw := []byte(text)
	return string(jsonscan.Get(raw, "method")) + " " + string(jsonscan.Get(raw, "id"))
}
