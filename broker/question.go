package broker

// Question is what a person is asked.
type Question struct {
	// Proposal is asking, and has its Payload.
	Proposal Proposal
	Account  Account
	// Attention is what must be seen before all else, most important first:
	// single lines that are safe to print.
	Attention []string
	// Code is what must be typed into the form; "" where none is asked.
	Code string
}
