package mcptest

// Compare returns the differences between a message and what was expected.
func Compare(want, got string) []string { return captures{}.match(want, got) }

// Layout lays a message out for people.
func Layout(text string) string { return layout(text) }

// Find lists the transcripts of a folder.
func Find(dir string) ([]string, error) { return find(dir) }

// Format writes a transcript as a file.
func Format(t *Transcript) string { return string(t.format()) }

// Update replaces what a transcript expects by what a server says.
func Update(t *Transcript, c *Conn) (string, error) {
	err := t.update(c)
	return string(t.format()), err
}
