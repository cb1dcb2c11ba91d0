package schema

// Nearest returns the candidate that name is most likely a misspelling of, and
// an empty string if none comes near.
func Nearest(name string, candidates []string) string {
	near, _ := nearest(name, candidates)
	return near
}
