package config

import (
	"github.com/stackwright/stackwright/pkg/fault"
)

// maxErrors is how many errors are told.
const maxErrors = 100

func read(files Files, o Options) (Loaded, error) {
	return Loaded{}, fault.New(fault.Broken, "read %d files: this is being written", len(files))
}
