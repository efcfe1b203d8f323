// Package pricing says what a change costs, exactly, or says that it does not
// know.
//
// Amounts are [Money]: exact decimals, read from text by [ParseMoney] and never
// rounded. What is to be priced is an [Item]. A [Quote] for it comes from one of
// two places: an operator's rate card ([ParseRateCard], then [RateCard.Quote]),
// or the rows of a live price search ([FromRows]). [Combine] puts the two
// together, the rate card first.
//
// What it promises:
//
//   - A row prices an item only if every term the row names is the item's. The
//     price of another metro, bandwidth or term is never a substitute.
//   - Amounts are never added up across rows, and no row is picked because it
//     came first: what still differs is a range.
//   - Monthly and one-time charges stay apart.
//   - A price that did not come is [Unpriced], with the reason. It is never 0.
//   - A currency that did not come stays "". It is never assumed.
//
// What it refuses to be: it does no I/O, knows no API, keeps no state, converts
// no currencies and calculates no taxes. Every value here may be shared between
// goroutines once it is built.
package pricing
