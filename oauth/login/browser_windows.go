package login

// opener is the program that opens a URL, which comes after its arguments. It is
// not cmd, which would read the URL as a command line.
func opener() []string { return []string{"rundll32", "url.dll,FileProtocolHandler"} }
