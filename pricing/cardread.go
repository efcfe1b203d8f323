package pricing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

const (
	keyMonthly = "monthly_recurring"
	keyOneTime = "non_recurring"
)

var (
	cardKeys = []string{"version", "currency", "rates"}
	rowKeys  = append(termNames[:len(termNames):len(termNames)], keyMonthly, keyOneTime)

	// A row with a term of the other product would match nothing, ever.
	routerKeys     = map[string]bool{"metro": true, "package": true}
	connectionKeys = map[string]bool{
		"connection_type": true, "bandwidth_mbps": true, "a_metro": true, "z_metro": true,
		"a_type": true, "z_type": true, "profile_uuid": true, "network_scope": true,
	}
)

func readCard(body ast.Node) (*RateCard, *CardError) {
	entries, refusal := readMapping(body, 0, cardKeys)
	if refusal != nil {
		return nil, refusal
	}
	var currency string
	var rates *ast.SequenceNode
	var hasVersion bool
	for _, e := range entries {
		switch e.key {
		case "version":
			if text, ok := digits(e.value); !ok || text != "1" {
				return nil, e.refuse("version must be 1")
			}
			hasVersion = true
		case "currency":
			s, ok := e.value.(*ast.StringNode)
			if !ok || !isCurrency(s.Value) {
				return nil, e.refuse("currency must be three capital letters, such as EUR")
			}
			currency = s.Value
		case "rates":
			list, ok := e.value.(*ast.SequenceNode)
			if !ok || len(list.Values) == 0 {
				return nil, e.refuse("rates must be a list of at least one row")
			}
			rates = list
		}
	}
	switch {
	case !hasVersion:
		return nil, &CardError{Reason: "version is missing; write version: 1"}
	case currency == "":
		return nil, &CardError{Reason: "currency is missing; write one, such as currency: EUR"}
	case rates == nil:
		return nil, &CardError{Reason: "rates is missing; write a list of rows"}
	}
	return readRates(rates.Values, currency)
}

func readRates(values []ast.Node, currency string) (*RateCard, *CardError) {
	card := &RateCard{rows: make([]match, 0, len(values))}
	first := make(map[terms]int)
	for i, value := range values {
		row, refusal := readRow(value, i+1)
		if refusal != nil {
			return nil, refusal
		}
		t := row.Terms.terms()
		if earlier, ok := first[t]; ok {
			return nil, &CardError{Line: line(value), Row: i + 1, Reason: fmt.Sprintf("names the same terms as row %d; keep one of the two", earlier)}
		}
		first[t] = i + 1
		row.Currency = currency
		card.rows = append(card.rows, match{row, t})
	}
	return card, nil
}

func readRow(node ast.Node, number int) (Row, *CardError) {
	entries, refusal := readMapping(node, number, rowKeys)
	if refusal != nil {
		return Row{}, refusal
	}
	var row Row
	for _, e := range entries {
		if refusal := e.into(&row); refusal != nil {
			return Row{}, refusal
		}
	}
	refuse := func(reason string) (Row, *CardError) {
		return Row{}, &CardError{Line: line(node), Row: number, Reason: reason}
	}
	if row.Terms.Product == "" {
		return refuse(fmt.Sprintf("product is missing; write %s or %s", ProductConnection, ProductRouter))
	}
	if !row.HasMonthly && !row.HasOneTime {
		return refuse(fmt.Sprintf("no amount; write %s, %s or both", keyMonthly, keyOneTime))
	}
	foreign := routerKeys
	if row.Terms.Product == ProductRouter {
		foreign = connectionKeys
	}
	for _, e := range entries {
		if foreign[e.key] {
			return Row{}, e.refuse(fmt.Sprintf("%s is no term of %s, so the row would never match", e.key, row.Terms.Product))
		}
	}
	return row, nil
}

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	value ast.Node
	line  int
	row   int
}

func (e entry) refuse(reason string) *CardError {
	return &CardError{Line: e.line, Row: e.row, Reason: reason}
}

func readMapping(node ast.Node, row int, known []string) ([]entry, *CardError) {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return nil, &CardError{Line: line(node), Row: row, Reason: "not a mapping of keys to values; known keys are " + strings.Join(known, ", ")}
	}
	entries := make([]entry, 0, len(mapping.Values))
	seen := make(map[string]bool)
	for _, v := range mapping.Values {
		e := entry{value: v.Value, line: line(v.Key), row: row}
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, e.refuse("a key that is not text; known keys are " + strings.Join(known, ", "))
		}
		e.key = key.Value
		if !slices.Contains(known, e.key) {
			return nil, e.refuse(fmt.Sprintf("unknown key %s; known keys are %s", strconv.QuoteToASCII(cut(e.key, mostQuoted)), strings.Join(known, ", ")))
		}
		if seen[e.key] {
			return nil, e.refuse(e.key + " stands twice")
		}
		seen[e.key] = true
		entries = append(entries, e)
	}
	return entries, nil
}
