package pricing

// The categories of a row of the price search. A price made for this customer
// replaces the country's list price.
const (
	CategoryCustomer = "CUSTOMER"
	CategoryCountry  = "COUNTRY"
)

// Row is one priced row, of a rate card or of a price search.
type Row struct {
	// Terms are what the row is a price for. A zero field is a term that the row
	// does not name. BilledTo is not looked at.
	Terms Item

	// A charge is absent where its Has field is false, which is not 0.
	HasMonthly, HasOneTime bool
	Monthly, OneTime       Money

	Currency string // three letters; "" = not returned
	Category string // CategoryCustomer, CategoryCountry, or "" = not returned
}
