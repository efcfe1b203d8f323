// Package audit is the state directory: what must survive a crash before money
// is spent.
//
// [OpenDir] makes or checks the directory. [Dir.Intents] are the creates that
// nobody has seen the end of, a file each; [Dir.Halt] is the operator's stop
// switch, a file too. All processes of one directory share both.
//
// Everything here fails closed. A file that is there counts, whatever is in it:
// a torn intent still holds its request, a halt without a reason still halts. A
// directory that is gone, was replaced, or cannot be written refuses.
package audit
