package main_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue/tools"
)

// The methods of the Copilot orchestrator are plain JSON-RPC: no handshake comes
// first. Their errors are word for word those of its document.

func TestOrchestratorTasks(t *testing.T) {
	p := start(t)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"getNextTask","id":1}`,
		`{"jsonrpc":"2.0","method":"getNextTask","params":{},"id":1}`,
	} {
		if got, want := p.ask(line).text, `{"jsonrpc":"2.0","id":1,"result":null}`; got != want {
			t.Errorf("no task: got %s, want %s", got, want)
		}
	}
	id := p.create("Step 1: Create auth middleware")
	want := `{"jsonrpc":"2.0","id":2,"result":{"id":"` + id + `","title":"Step 1: Create auth middleware","description":"Step 1: Create auth middleware","status":"pending"}}`
	if got := p.ask(`{"jsonrpc":"2.0","method":"getNextTask","id":2}`).text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := p.ask(`{"jsonrpc":"2.0","method":"getNextTask","id":3}`).text; got != `{"jsonrpc":"2.0","id":3,"result":null}` {
		t.Errorf("the task was handed out twice: %s", got)
	}
	done := `{"jsonrpc":"2.0","method":"reportTaskDone","params":{"taskId":"` + id + `","result":"Completed successfully"},"id":4}`
	for range 2 { // saying it again is harmless
		if got, want := p.ask(done).text, `{"jsonrpc":"2.0","id":4,"result":{"success":true}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if m := p.call("tools/call", `"name":"get_task","arguments":{"id":"`+id+`"}`); string(m.member("structuredContent", "status")) != `"done"` ||
		string(m.member("structuredContent", "result")) != `"Completed successfully"` {
		t.Errorf("the task is %s", m.text)
	}
	p.end()
}

func TestOrchestratorErrors(t *testing.T) {
	p := start(t, "--answer-command", "oracle say")
	id := p.create("x")
	p.ask(`{"jsonrpc":"2.0","method":"reportTaskDone","params":{"taskId":"` + id + `","result":"one"},"id":1}`)
	for _, tc := range []struct {
		method, params string // params with their comma
		code           int
		message        string
	}{
		{"askQuestion", ``, invalidParams, "params must be an object"},
		{"askQuestion", `,"params":null`, invalidParams, "params must be an object"},
		{"askQuestion", `,"params":"x"`, invalidParams, "params must be an object"},
		{"askQuestion", `,"params":[]`, invalidParams, "params must be an object"},
		{"askQuestion", `,"params":{}`, invalidParams, "question must be a non-empty string"},
		{"askQuestion", `,"params":{"question":""}`, invalidParams, "question must be a non-empty string"},
		{"askQuestion", `,"params":{"question":null}`, invalidParams, "question must be a non-empty string"},
		{"askQuestion", `,"params":{"question":7}`, invalidParams, "question must be a non-empty string"},
		{"askQuestion", `,"params":{"question":["x"],"chatId":1}`, invalidParams, "question must be a non-empty string"},
		{"askQuestion", `,"params":{"question":"x","chatId":1}`, invalidParams, "chatId must be a string if provided"},
		{"askQuestion", `,"params":{"question":"x","chatId":null}`, invalidParams, "chatId must be a string if provided"},
		{"askQuestion", `,"params":{"question":"x","chatId":{}}`, invalidParams, "chatId must be a string if provided"},
		{"reportTaskDone", ``, invalidParams, "params must be an object"},
		{"reportTaskDone", `,"params":{}`, invalidParams, "taskId must be a non-empty string"},
		{"reportTaskDone", `,"params":{"taskId":""}`, invalidParams, "taskId must be a non-empty string"},
		{"reportTaskDone", `,"params":{"taskId":5}`, invalidParams, "taskId must be a non-empty string"},
		{"reportTaskDone", `,"params":{"taskId":"` + id + `","result":5}`, invalidParams, "result must be a string if provided"},
		{"reportTaskDone", `,"params":{"taskId":"TICKET-001"}`, invalidParams, "task not found: TICKET-001"},
		{"reportTaskDone", `,"params":{"taskId":"` + id + `","result":"two"}`, invalidParams, "task already finished: " + id + " is done with another result"},
		{"getTask", ``, methodNotFound, "Method not found: getTask"},
		{"getnexttask", ``, methodNotFound, "Method not found: getnexttask"},
	} {
		m := p.ask(`{"jsonrpc":"2.0","id":1,"method":"` + tc.method + `"` + tc.params + `}`)
		m.refused(t, tc.code, "1")
		if m.Error != nil && m.Error.Message != tc.message {
			t.Errorf("%s%s: got %q, want %q", tc.method, tc.params, m.Error.Message, tc.message)
		}
	}
	p.end()
}

func TestQuestionsAreAnsweredByACommand(t *testing.T) {
	for _, tc := range []struct{ name, command, params, want string }{
		{"in a chat of their own", "oracle say", `"question":"What is async/await?","chatId":"chat-123"`, `"result":{"answer":"|What is async/await?|chat-123","chatId":"chat-123"}`},
		{"in a new chat", "oracle say", `"question":"Why?"`, `"result":{"answer":"|Why?|new","chatId":"new"}`},
		{"in a chat without a name", "oracle say", `"question":"Why?","chatId":""`, `"result":{"answer":"|Why?|new","chatId":"new"}`},
		{"with the command's arguments, and no shell", "oracle say $HOME ; echo *", `"question":"Why?"`, `"result":{"answer":"$HOME|;|echo|*|Why?|new","chatId":"new"}`},
		{"whatever they hold", "oracle say", `"question":"a\nb\u0000\"c\" é $(id)"`, `"answer":"|a\nb\u0000\"c\" é $(id)|new"`},
		{"with nothing", "oracle silent", `"question":"Why?"`, `"result":{"answer":"","chatId":"new"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, "--answer-command", tc.command)
			m := p.ask(`{"jsonrpc":"2.0","id":2,"method":"askQuestion","params":{` + tc.params + `}}`)
			if !strings.Contains(m.text, tc.want) {
				t.Errorf("got %s, want %s", m.text, tc.want)
			}
			p.end()
		})
	}
}

func TestQuestionsThatAreNotAnswered(t *testing.T) {
	const unknown = "no-such-program-anywhere"
	for _, tc := range []struct {
		name, command, want string
	}{
		{"nobody is configured", "", "Failed to answer question: no answerer is configured; start bossman with --answer-command, a program that reads the question on its input and writes the answer on its output"},
		{"the command fails", "oracle fail", "Failed to answer question: the answerer ended with exit status 3"},
		{"the command is not there", unknown, "Failed to answer question: the answerer could not be started"},
		{"the answer is too long", "oracle long", "Failed to answer question: the answer is longer than 1048576 bytes"},
		{"the answer is no text", "oracle bytes", "Failed to answer question: the answer is no UTF-8 text"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, "--answer-command", tc.command)
			m := p.ask(question("2"))
			m.refused(t, internalError, "2")
			if m.Error != nil && m.Error.Message != tc.want {
				t.Errorf("got %q, want %q", m.Error.Message, tc.want)
			}
			p.alive()
			p.end()
		})
	}
}

func TestAnswerCommandComesFromTheEnvironment(t *testing.T) {
	p := start(t, "BOSSMAN_ANSWER_COMMAND=oracle say environment")
	if m := p.ask(question("1")); !strings.Contains(m.text, `"answer":"environment|when?|new"`) {
		t.Error(m.text)
	}
	p.end()
	p = start(t, "BOSSMAN_ANSWER_COMMAND=oracle say environment", "--answer-command", "oracle say flag")
	if m := p.ask(question("1")); !strings.Contains(m.text, `"answer":"flag|when?|new"`) {
		t.Errorf("the flag does not win: %s", m.text)
	}
	p.end()
}

func TestAnswererTakesTooLong(t *testing.T) {
	slow := &tools.CommandAnswerer{
		Command: []string{"oracle", "gate"}, Env: append(os.Environ(), gateVariable+"=never"), Timeout: 50 * time.Millisecond,
	}
	begin := time.Now()
	_, err := slow.Answer(t.Context(), "when?", "new")
	var answer *tools.AnswerError
	if !errors.As(err, &answer) || answer.Reason != "the answerer did not answer within 50ms" {
		t.Errorf("got %v", err)
	}
	slow.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = slow.Answer(ctx, "when?", "new"); !errors.As(err, &answer) || answer.Reason != "the question was given up before an answer came" {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v to give up", took)
	}
}
