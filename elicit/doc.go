// Package elicit holds the words by which a person decides: the message, the
// form under it, and what a form that came back means.
//
// [Prompt] writes the message of a question, [Schema] the form, and [Read] turns
// what a client sent back into a broker.Answer. The channels that carry them are
// the packages below this one.
//
// What it promises:
//
//   - The message never changes its order, and its first six lines decide: what,
//     from where, to where, whose account, what it costs, what the dry run said.
//     Only what needs attention stands above them.
//   - Those lines are at most 80 columns wide. What is shortened to fit stands
//     whole further down.
//   - Everything is printable ASCII, and no value of an agent or an upstream
//     begins a line, becomes a link or is rendered as markdown.
//   - Only one reply is an approval: the action "accept" with confirm exactly
//     true and, where one was asked, the right code. Everything else is a no,
//     with the reason in plain words.
//
// What it refuses to be: it asks nobody and keeps nothing. It cannot know whether
// a person read the message: a reply proves only what the client reported.
package elicit
