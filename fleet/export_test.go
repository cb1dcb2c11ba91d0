package fleet

import "github.com/bossman-mcp/bossman/client"

// Reconcile shows what a reload would do, as words such as "add name".
func Reconcile(wanted, running map[string]ServerConfig) []string {
	var words []string
	for _, act := range reconcile(wanted, running) {
		words = append(words, string(act.verb)+" "+act.name)
	}
	return words
}

// Match is match.
func Match(pattern, name string) bool { return match(pattern, name) }

// NewMemory is what a fleet without Options.Memory remembers with.
func NewMemory() func(key string) client.Memory { return new(Options).withDefaults().Memory }
