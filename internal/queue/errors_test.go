package queue_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func TestNotFound(t *testing.T) {
	tests := []struct{ name, id, want string }{
		{"names the task", "task_xyz", "task not found: task_xyz"},
		{"keeps other scripts", "任務", "task not found: 任務"},
		{"cuts a long ID between characters", "x" + strings.Repeat("é", 500), "task not found: x" + strings.Repeat("é", 31) + "…"},
		{"quotes a line break", "a\nb", `task not found: "a\nb"`},
		{"quotes an escape sequence", "\x1b[2J", `task not found: "\x1b[2J"`},
		{"quotes an invisible character", "a\u202eb", `task not found: "a\u202eb"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := queue.NotFound(test.id)
			if !errors.Is(err, queue.ErrNotFound) || err.Error() != test.want {
				t.Errorf("got %q, want %q", err, test.want)
			}
		})
	}
}
