// Package audit is the state directory: what must survive a crash before money
// is spent, and the log of all that happened.
//
// [OpenDir] makes or checks the directory. [Dir.Intents] are the creates that
// nobody has seen the end of, a file each; [Dir.Halt] is the operator's stop
// switch, a file too. All processes of one directory share both.
//
// Everything there fails closed. A file that is there counts, whatever is in it:
// a torn intent still holds its request, a halt without a reason still halts. A
// directory that is gone, was replaced, or cannot be written refuses.
//
// [Dir.Log] is the audit log: a broker.Recorder that writes one JSON line an
// event into a file of its own process, each line with the hash of the one
// before. [Verify] finds lines that were changed, removed, doubled, swapped or
// cut off, and says what it cannot find. [Prune] removes old files. [Replay]
// rebuilds every proposal from the lines. Nothing that keeps money safe depends on
// the chain: a broken one is reported and stops nothing.
package audit
