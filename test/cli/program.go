package cli

// A Program is one agent CLI in the version that the tests are written for.
type Program struct {
	// Name is the command's name.
	Name string
	// Package and Version name it on npm.
	Package, Version string
	// configure writes the settings that a user has after the first start, and returns variables to add to the
	// environment.
	configure func(w *World) ([]string, error)
}

// Programs are the CLIs of one world.
type Programs []Program
