package spelling_test

import (
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/spelling"
)

func TestSlipsAreFound(t *testing.T) {
	candidates := []string{"title", "description", "task_id", "state", "id"}
	for name, want := range map[string]string{
		"titel": "title", "tilte": "title", "Title": "title", "titles": "title", "desc": "description", "descripton": "description",
		"taskId": "task_id", "task-id": "task_id", "stat": "state", "ID": "id",
		"body": "", "x": "", "ix": "", "": "", "completely-different": "",
	} {
		if got, ok := spelling.Nearest(name, candidates); got != want || ok != (want != "") {
			t.Errorf("nearest to %q: got %q, want %q", name, got, want)
		}
	}
}

func TestSlipsInKeysAreFound(t *testing.T) {
	keys := []string{"command", "args", "disabled_tools", "headers"}
	for name, want := range map[string]string{
		"comand": "command", "Command": "command", "arg": "args", "disabledTools": "disabled_tools", "header": "headers",
		"": "", "colour": "", strings.Repeat("x", 100): "",
	} {
		if got, ok := spelling.Nearest(name, keys); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
