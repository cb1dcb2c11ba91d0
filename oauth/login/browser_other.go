//go:build !darwin && !windows

package login

// opener is the program that opens a URL, which comes after its arguments.
func opener() []string { return []string{"xdg-open"} }
