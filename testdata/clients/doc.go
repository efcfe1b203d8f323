// Package clients runs other people's MCP clients against the real programs:
// fabric-broker over stdio and over HTTP, with fabric-sim as the API. `make
// clients` starts it. What was created is counted at the simulator after every
// run, and what each client was seen to do becomes the table in the README.
//
// A client is driven by a script of its own: ts1.mjs, ts2.mjs, mcpdo.mjs, gosdk
// and mcpgo. All of them take a [job.Job] as JSON in their only argument, read,
// propose and confirm, and print a [job.Saw] as one line. What the person does
// is the job's answer:
//
//	accept   says yes
//	code     says yes and types the code, for something that needs one
//	decline  says no
//	cancel   closes the form
//	empty    the client answers {} for the person
//	slow     says yes after more than a minute
//	kept     the same, and the client was told to wait as long as progress comes
//	late     says yes when the server has given up
//	none     is never asked: the client declares no forms
//	lost     thinks, and the client is killed meanwhile
//
// Where a confirm brings no result, the script asks what became of it, as an
// agent is told to.
//
// package.json overrides vite, which the Inspector has for its web page: 8.4.0
// names a package for Windows that `npm ci` wants in the lock file even where it
// cannot be had.
package clients
