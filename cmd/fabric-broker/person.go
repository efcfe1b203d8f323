package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// person answers the forms of the demo: in the terminal, or as a flag says.
type person struct {
	in   io.Reader
	out  io.Writer
	says string // "yes", "no"; "" asks
	read *bufio.Reader
	// approved says whether the last answer was an approval.
	approved bool
}

// codeLine finds the confirm code in the prompt, as a person would.
var codeLine = regexp.MustCompile(`(?m)code[^\n]*: ([A-Z0-9]{6})\b`)

// answer shows the prompt word for word and answers it.
func (p *person) answer(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	fmt.Fprintf(p.out, "\n%s\n", frame(req.Params.Message))
	says, how := p.says, "as the flag says"
	if says == "" {
		line, err := p.ask(ctx, "Approve this? Type yes to create it, anything else to decline: ")
		if err != nil {
			return nil, err
		}
		says, how = line, "in this terminal"
	}
	p.approved = says == "yes"
	fmt.Fprintf(p.out, "   The person answers %q, %s.\n", says, how)
	if !p.approved {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	content := map[string]any{"confirm": true}
	if wantsCode(req.Params.RequestedSchema) {
		code := ""
		if m := codeLine.FindStringSubmatch(req.Params.Message); m != nil && p.says != "" {
			code = m[1]
		} else if line, err := p.ask(ctx, "Type the code of the prompt: "); err == nil {
			code = line
		}
		content["confirm_code"] = code
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// ask reads one line. An interrupt ends it although the read itself goes on.
func (p *person) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.out, question)
	if p.read == nil {
		p.read = bufio.NewReader(p.in)
	}
	type input struct {
		line string
		err  error
	}
	lines := make(chan input, 1)
	go func() {
		line, err := p.read.ReadString('\n')
		lines <- input{line, err}
	}()
	select {
	case got := <-lines:
		if got.err != nil && got.line == "" {
			return "", fmt.Errorf("no answer: %w", got.err)
		}
		return strings.ToLower(strings.TrimSpace(got.line)), nil
	case <-ctx.Done():
		return "", errInterrupted
	}
}

func wantsCode(schema any) bool {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	_, wants := properties["confirm_code"]
	return wants
}

// frame sets the prompt off from the story.
func frame(s string) string {
	return "   | " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n   | ")
}

// decline makes the next answers a silent no, until the returned function is
// called.
func (p *person) decline() (restore func()) {
	says, out := p.says, p.out
	p.says, p.out = "no", io.Discard
	return func() { p.says, p.out = says, out }
}
