package pricing

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	mostCardBytes = 1 << 20
	mostCardDepth = 4 // of brackets and braces; a card needs two
)

// ParseRateCard reads a rate card: at most 1 MB of YAML with the keys version (1),
// currency (three capital letters) and rates, a list of rows. A row has a product,
// at least one of monthly_recurring and non_recurring as quoted decimals, and any
// terms that narrow it. Anything else is refused with a [*CardError], so that no
// row is silently without effect.
func ParseRateCard(data []byte) (*RateCard, error) {
	body, refusal := parseYAML(data)
	if refusal != nil {
		return nil, refusal
	}
	card, refusal := readCard(body)
	if refusal != nil {
		return nil, refusal
	}
	return card, nil
}

// parseYAML returns the one document of a file that is plain enough to be a rate
// card. What could be large in memory while it is small on disk is refused before
// the parser builds anything: aliases, and nesting.
func parseYAML(data []byte) (ast.Node, *CardError) {
	if len(data) > mostCardBytes {
		return nil, &CardError{Reason: fmt.Sprintf("larger than 1 MB (%d bytes)", len(data))}
	}
	if !utf8.Valid(data) {
		return nil, &CardError{Reason: "not UTF-8 text"}
	}
	text := strings.TrimPrefix(string(data), "\ufeff") // some editors put a byte order mark there
	if refusal := refuseLines(text); refusal != nil {
		return nil, refusal
	}
	tokens := lexer.Tokenize(text)
	if refusal := refuseTokens(tokens); refusal != nil {
		return nil, refusal
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	if len(file.Docs) > 1 {
		return nil, &CardError{Reason: "more than one YAML document; a rate card is one"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, &CardError{Reason: "empty; version, currency and rates are needed"}
	}
	return file.Docs[0].Body, nil
}

// refuseLines keeps from the lexer what takes it minutes: its time grows with the
// square of a run of blank lines in block text (100,000 of them: 67 s with
// goccy/go-yaml 1.19.2) and of a run of entries that hold nothing.
func refuseLines(text string) *CardError {
	const mostBlank = 100
	number, blank, empty := 0, 0, 0
	// A lone \r ends a line for the lexer, too.
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for line := range strings.SplitSeq(lines, "\n") {
		number++
		line = strings.TrimSpace(line)
		item, isEntry := strings.CutPrefix(line, "-")
		item = strings.TrimSpace(item)
		switch {
		case line == "":
			blank++
		case isEntry && (item == "" || item[0] == '#'):
			blank = 0
			empty++
		case line[0] == '#':
			blank = 0
		default:
			blank, empty = 0, 0
		}
		if blank > mostBlank {
			return &CardError{Line: number, Reason: fmt.Sprintf("more than %d blank lines in a row", mostBlank)}
		}
		if empty > 1 {
			return &CardError{Line: number, Reason: "an empty row; write it or leave it out"}
		}
	}
	return nil
}

func refuseTokens(tokens token.Tokens) *CardError {
	depth, entryLine := 0, 0
	for _, t := range tokens {
		line := t.Position.Line
		refuse := func(reason string) *CardError { return &CardError{Line: line, Reason: reason} }
		switch t.Type { //nolint:exhaustive // all other tokens are plain YAML
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return refuse("anchors, aliases and merge keys are refused; write each row out")
		case token.TagType, token.DirectiveType:
			return refuse("tags and directives are refused; write plain keys and values")
		case token.MappingKeyType:
			return refuse("keys with ? are refused; write key: value")
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > mostCardDepth {
				return refuse("nested too deep; a row is one flat mapping")
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if line == entryLine {
				return refuse("a list inside a list; a row is one flat mapping")
			}
			entryLine = line
		}
	}
	return nil
}

// yamlError keeps the parser's words and its line, and drops its drawing of the
// source: a card holds prices that need not stand in a log.
func yamlError(err error) *CardError {
	refusal := &CardError{Reason: "not YAML"}
	var located interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &located) {
		return refusal
	}
	refusal.Reason = "not YAML: " + strings.ToValidUTF8(cut(located.GetMessage(), 120), "?")
	if t := located.GetToken(); t != nil && t.Position != nil {
		refusal.Line = t.Position.Line
	}
	return refusal
}
