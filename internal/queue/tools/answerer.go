package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// Answerer answers a question that an agent asks, in a chat that the agent may
// name to go on with it.
type Answerer interface {
	Answer(ctx context.Context, question, chat string) (string, error)
}

// ErrNoAnswerer tells an agent that nobody answers, and its owner what to do.
var ErrNoAnswerer = errors.New("no answerer is configured; start bossman with --answer-command, a program that reads the question on its input and writes the answer on its output")

// AnswerError says why an answerer gave no answer. Its text is for the asker.
type AnswerError struct{ Reason string }

func (e *AnswerError) Error() string { return e.Reason }

// CommandAnswerer asks a program: the question is its input, what it prints is
// the answer. The chat's name is in its environment as BOSSMAN_CHAT_ID.
type CommandAnswerer struct {
	Command []string      // the program and its arguments; no shell sees them
	Env     []string      // the program's environment, as in os/exec
	Timeout time.Duration // 0: two minutes
}

// maxAnswer is the longest answer taken, in bytes.
const maxAnswer = 1 << 20

// Answer runs the program once.
func (a *CommandAnswerer) Answer(ctx context.Context, question, chat string) (string, error) {
	timeout := a.Timeout
	if timeout == 0 {
		timeout = 2 * time.Minute
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, a.Command[0], a.Command[1:]...)
	cmd.Stdin = strings.NewReader(question)
	cmd.Env = append(a.Env[:len(a.Env):len(a.Env)], "BOSSMAN_CHAT_ID="+chat)
	cmd.WaitDelay = time.Second
	out := &capped{room: maxAnswer}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", &AnswerError{"the question was given up before an answer came"}
	case limited.Err() != nil:
		return "", &AnswerError{fmt.Sprintf("the answerer did not answer within %v", timeout)}
	case out.over:
		return "", &AnswerError{fmt.Sprintf("the answer is longer than %d bytes", maxAnswer)}
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", &AnswerError{"the answerer ended with " + exit.Error()}
		}
		return "", &AnswerError{"the answerer could not be started"}
	case !utf8.Valid(out.text.Bytes()):
		return "", &AnswerError{"the answer is no UTF-8 text"}
	}
	return strings.TrimRight(out.text.String(), "\r\n"), nil
}

// capped keeps what is written up to its room, and notes what is over.
type capped struct {
	text bytes.Buffer
	room int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.text.Len()+len(p) > c.room {
		c.over = true
		return len(p), nil
	}
	return c.text.Write(p)
}
