package pricing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

var (
	codeText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	uuidText = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

const mostMbps = 10_000_000 // 10 Tbps: above it, somebody wrote another unit

// into sets the field of row that the entry stands for.
func (e entry) into(row *Row) *CardError {
	t := &row.Terms
	switch e.key {
	case "product":
		return e.product(&t.Product)
	case "connection_type":
		return e.code(&t.ConnectionType)
	case "bandwidth_mbps":
		return e.number(&t.BandwidthMbps, mostMbps)
	case "a_metro":
		return e.code(&t.AMetro)
	case "z_metro":
		return e.code(&t.ZMetro)
	case "a_type":
		return e.code(&t.AType)
	case "z_type":
		return e.code(&t.ZType)
	case "profile_uuid":
		return e.uuid(&t.ProfileUUID)
	case "network_scope":
		return e.code(&t.NetworkScope)
	case "metro":
		return e.code(&t.Metro)
	case "package":
		return e.code(&t.Package)
	case "account_number":
		return e.number(&t.AccountNumber, 1<<62)
	case "term_months":
		var months int64
		refusal := e.number(&months, mostMonths)
		t.TermMonths = int(months)
		return refusal
	case keyMonthly:
		row.HasMonthly = true
		return e.amount(&row.Monthly)
	case keyOneTime:
		row.HasOneTime = true
		return e.amount(&row.OneTime)
	}
	panic("pricing: bug: a row key without a field: " + e.key)
}

func (e entry) code(to *string) *CardError {
	s, ok := e.value.(*ast.StringNode)
	if !ok {
		return e.refuse(e.key + " must be text; write it in quotes")
	}
	if !codeText.MatchString(s.Value) {
		return e.refuse(fmt.Sprintf("%s %s is not a code: letters, digits, - _ and . only", e.key, strconv.QuoteToASCII(cut(s.Value, mostQuoted))))
	}
	*to = s.Value
	return nil
}

func (e entry) product(to *string) *CardError {
	if refusal := e.code(to); refusal != nil {
		return refusal
	}
	if *to != ProductConnection && *to != ProductRouter {
		return e.refuse(fmt.Sprintf("product %s is not one that is created here; write %s or %s", *to, ProductConnection, ProductRouter))
	}
	return nil
}

func (e entry) uuid(to *string) *CardError {
	if refusal := e.code(to); refusal != nil {
		return refusal
	}
	if !uuidText.MatchString(*to) {
		return e.refuse(e.key + " must be a UUID, such as 1bec77a7-c503-5196-83a5-5d489a6056ff")
	}
	return nil
}

func (e entry) number(to *int64, most int64) *CardError {
	text, ok := digits(e.value)
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || n < 1 || n > most {
		return e.refuse(fmt.Sprintf("%s must be a whole number from 1 to %d, without quotes", e.key, most))
	}
	*to = n
	return nil
}

// amount insists on quotes. What YAML calls a number is a float to the next tool
// that rewrites the file, and loses digits there.
func (e entry) amount(to *Money) *CardError {
	s, ok := e.value.(*ast.StringNode)
	if !ok || s.Token.Type != token.SingleQuoteType && s.Token.Type != token.DoubleQuoteType {
		return e.refuse(e.key + ` must be a decimal in quotes, such as "1200.50"`)
	}
	m, err := ParseMoney(s.Value)
	if err != nil {
		reason := e.key + strings.TrimPrefix(err.Error(), "pricing: amount")
		return &CardError{Line: e.line, Row: e.row, Reason: reason, Err: err}
	}
	*to = m
	return nil
}

// digits returns the text of a whole number written in plain decimal, for YAML
// knows more spellings than people: 0x32, 062, 5_0.
func digits(node ast.Node) (string, bool) {
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		return "", false
	}
	text := n.Token.Value
	whole, rest := leadingDigits(text)
	return text, rest == "" && whole != "" && (len(whole) == 1 || whole[0] != '0')
}

func line(node ast.Node) int {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
