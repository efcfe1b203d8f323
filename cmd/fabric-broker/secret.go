package main

import (
	"fmt"
	"os"
	"strings"

	"fabricbroker/broker"
	"fabricbroker/broker/seal"
)

type secretCmd struct{}

// Run prints a new confirm secret. It is the one command whose output is a
// secret, which is what it is for.
func (secretCmd) Run() error {
	_, err := fmt.Fprintln(os.Stdout, seal.Generate())
	return err
}

// secret reads the secret variable name, or the file that name_FILE names.
// Secrets have no flag: a command line is seen by every user of a machine.
func secret(name string) (broker.Secret, error) {
	value, file := os.Getenv(name), os.Getenv(name+"_FILE")
	switch {
	case value != "" && file != "":
		return broker.Secret{}, fmt.Errorf("%s and %s_FILE are both set: set one of them", name, name)
	case file == "":
		return broker.NewSecret(value), nil
	}
	b, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return broker.Secret{}, fmt.Errorf("%s_FILE cannot be read: %w", name, err)
	}
	value = strings.TrimSpace(string(b))
	if value == "" {
		return broker.Secret{}, fmt.Errorf("%s_FILE: %s is empty", name, file)
	}
	return broker.NewSecret(value), nil
}
