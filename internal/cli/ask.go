package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// asker puts the server's questions to the person at the terminal.
type asker struct {
	in    *os.File
	out   io.Writer
	lines *bufio.Reader // of in; made when first needed
	force bool          // for tests: in is as good as a terminal
}

var errNoTerminal = errors.New("the server asks a question, and there is no terminal to ask it at")

// line asks for one line. An end of input means that nobody will answer.
func (a *asker) line(prompt string) (string, error) {
	if !a.force && !term.IsTerminal(int(a.in.Fd())) {
		return "", errNoTerminal
	}
	if a.lines == nil {
		a.lines = bufio.NewReader(a.in)
	}
	fmt.Fprint(a.out, prompt)
	text, err := a.lines.ReadString('\n')
	if err != nil && text == "" {
		return "", err
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// form asks for the fields of a form, one by one. An empty line takes the default
// or leaves an optional field out; the end of input cancels.
func (a *asker) form(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	var form mcp.FormSchema
	if err := json.Unmarshal(p.RequestedSchema, &form); err != nil {
		return nil, fmt.Errorf("the server asks with a form that makes no sense: %w", err)
	}
	answer, err := a.line(fmt.Sprintf("The server asks: %s\nAnswer? [Y/n] ", oneLine(p.Message)))
	switch {
	case errors.Is(err, io.EOF):
		return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
	case err != nil:
		return nil, err
	case strings.HasPrefix(strings.ToLower(answer), "n"):
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}
	text := []byte{'{'}
	for name, field := range jsonscan.Members(jsonscan.Get(p.RequestedSchema, "properties")) {
		value, err := a.field(string(name), field, required(form.Required, string(name)))
		if errors.Is(err, io.EOF) {
			return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
		}
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(jsonscan.AppendQuote(text, string(name)), ':'), value...)
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: append(text, '}')}, nil
}

func required(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// field asks until the answer fits. Nil means that it was left out.
func (a *asker) field(name string, field jsontext.Value, needed bool) (jsontext.Value, error) {
	rules, err := schema.Parse(field)
	if err != nil {
		return nil, fmt.Errorf("the server asks for %s in a form that makes no sense: %w", name, err)
	}
	fallback := jsonscan.Get(field, "default")
	prompt := "  " + oneLine(name)
	if description := jsonscan.Unquote(jsonscan.Get(field, "description")); description != "" {
		prompt += ", " + oneLine(description)
	}
	if choices := jsonscan.Get(field, "enum"); choices != nil {
		prompt += " " + oneLine(string(choices))
	}
	if fallback != nil {
		prompt += " [" + oneLine(string(fallback)) + "]"
	}
	for {
		text, err := a.line(prompt + ": ")
		if err != nil {
			return nil, err
		}
		if text == "" && (fallback != nil || !needed) {
			return fallback, nil
		}
		value := jsontext.Value(text)
		if jsonscan.Check(value, 10) != nil || !wantsJSON(field) {
			value = jsonscan.AppendQuote(nil, text)
		}
		if err := rules.Validate(value); err == nil {
			return value, nil
		}
		fmt.Fprintf(a.out, "  that does not fit: %v\n", oneLine(rules.Validate(value).Error()))
	}
}

// visit shows an address and asks whether the user went there.
func (a *asker) visit(_ context.Context, p *mcp.ElicitParams) (mcp.ElicitAction, error) {
	answer, err := a.line(fmt.Sprintf("The server asks you to visit an address: %s\n  %s\nOpen it yourself if you trust it. Done? [y/N] ", oneLine(p.Message), oneLine(p.URL)))
	switch {
	case errors.Is(err, io.EOF):
		return mcp.ElicitCancel, nil
	case err != nil:
		return "", err
	case strings.HasPrefix(strings.ToLower(answer), "y"):
		return mcp.ElicitAccept, nil
	}
	return mcp.ElicitDecline, nil
}
