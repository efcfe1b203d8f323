package fabricsim

import _ "embed" // for the built-in world

// builtIn holds the assets of a new Sim, in neutral form. Every id and number in
// it is invented.
//
//go:embed world.json
var builtIn []byte

// buildWorld panics only where the embedded file is broken.
func (s *Sim) buildWorld() {
	v, err := parseJSON(builtIn)
	if err == nil {
		l, _ := v.([]any)
		err = s.seed(l)
	}
	if err != nil {
		panic("fabricsim: built-in world: " + err.Error())
	}
}
