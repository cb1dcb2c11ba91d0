package mcptest

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

// Transcript is a story of what a client sends and what a server must answer. See
// the package's comment for its written form.
type Transcript struct {
	Name     string // of the file, for messages
	Revision string // the protocol revision that the story is about
	Server   string // which server to use, as its test understands it; often empty
	Sections []Section

	comment []byte
}

// Section is a part of a story in which one side speaks.
type Section struct {
	Kind     Kind
	AnyOrder bool   // what the server says may come in any order
	Invalid  bool   // the messages break the protocol on purpose
	Line     int    // of the section's heading
	Lines    []Line // the messages; none in an End
}

// Line is one message of a story, on one line whatever its layout in the file.
type Line struct {
	Text   string
	Number int // of the line in the file on which it begins

	layout string // as it stands in the file
}

// Kind says what happens in a section.
type Kind int

// The kinds.
const (
	Client Kind = iota // the client sends
	Server             // the server must answer
	End                // the client closes its side
)

func (k Kind) String() string { return [...]string{"client", "server", "end"}[k] }

// heading returns the section's name as it is written.
func (s *Section) heading() string {
	name := s.Kind.String()
	if s.AnyOrder {
		name += " any order"
	}
	if s.Invalid {
		name += " invalid"
	}
	return name
}

// ParseTranscript reads a transcript. The name, usually the file's, stands in
// front of what goes wrong, together with the number of the line.
func ParseTranscript(name string, data []byte) (*Transcript, error) {
	for bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	archive := txtar.Parse(data)
	t := &Transcript{Name: name, comment: archive.Comment}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	line := 1 + bytes.Count(archive.Comment, []byte("\n"))
	for _, file := range archive.Files {
		s, err := parseSection(file, line)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
		t.Sections = append(t.Sections, *s)
		line += 1 + bytes.Count(file.Data, []byte("\n"))
	}
	if len(t.Sections) == 0 {
		return nil, fmt.Errorf("%s: there are no sections", name)
	}
	return t, nil
}

func (t *Transcript) readHeader() error {
	number := 0
	for line := range strings.Lines(string(t.comment)) {
		number++
		for key, to := range map[string]*string{"revision:": &t.Revision, "server:": &t.Server} {
			value, ok := strings.CutPrefix(line, key)
			if !ok {
				continue
			}
			if *to != "" {
				return fmt.Errorf("%s:%d: a second %s", t.Name, number, key)
			}
			*to = strings.TrimSpace(value)
		}
	}
	if t.Revision == "" {
		return fmt.Errorf("%s: a line in front of the sections must name the revision, as in revision: DATE", t.Name)
	}
	return nil
}

// parseSection reads a section whose heading is on the given line. Its error
// begins with the number of a line.
func parseSection(file txtar.File, line int) (*Section, error) {
	s := &Section{Line: line}
	words := strings.Fields(file.Name)
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "client":
		s.Kind = Client
	case "server":
		s.Kind = Server
	case "end":
		s.Kind = End
	default:
		return nil, fmt.Errorf("%d: section %q is none of client, server and end", line, file.Name)
	}
	if after, ok := strings.CutPrefix(rest, "any order"); ok && s.Kind == Server {
		s.AnyOrder, rest = true, strings.TrimSpace(after)
	}
	if rest == "invalid" && s.Kind != End {
		s.Invalid, rest = true, ""
	}
	if rest != "" {
		return nil, fmt.Errorf("%d: section %q: cannot make sense of %q", line, file.Name, rest)
	}
	if err := s.readLines(string(file.Data)); err != nil {
		return nil, err
	}
	if s.Kind == End && len(s.Lines) > 0 {
		return nil, fmt.Errorf("%d: nobody speaks in an end: put what comes after it into a server section", s.Lines[0].Number)
	}
	return s, nil
}

// readLines gathers the messages: each begins at the margin and goes on over the
// indented lines that follow.
func (s *Section) readLines(data string) error {
	number := s.Line
	for line := range strings.Lines(data) {
		number++
		line = strings.TrimSuffix(line, "\n")
		text := strings.Trim(line, " \t")
		switch {
		case text == "":
		case line[0] != ' ' && line[0] != '\t':
			s.Lines = append(s.Lines, Line{Text: text, Number: number, layout: line})
		case len(s.Lines) == 0:
			return fmt.Errorf("%d: the first message is indented, as if it continued another", number)
		default:
			last := &s.Lines[len(s.Lines)-1]
			last.Text += " " + text
			last.layout += "\n" + line
		}
	}
	if s.Kind != Server {
		return nil
	}
	for _, line := range s.Lines {
		if err := jsonscan.Check([]byte(line.Text), maxDepth); err != nil {
			return fmt.Errorf("%d: what the server sends is no JSON: %w", line.Number, err)
		}
	}
	return nil
}

// format writes the transcript as a file.
func (t *Transcript) format() []byte {
	archive := &txtar.Archive{Comment: t.comment}
	for i := range t.Sections {
		s := &t.Sections[i]
		var data strings.Builder
		for _, line := range s.Lines {
			data.WriteString(line.layout)
			data.WriteByte('\n')
		}
		archive.Files = append(archive.Files, txtar.File{Name: s.heading(), Data: []byte(data.String())})
	}
	return txtar.Format(archive)
}
