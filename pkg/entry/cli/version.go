package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// The build information that make dist writes with -ldflags -X. If a value is
// empty, the one that the go command has written is used.
var version, commit, date string

// A build describes the source and the compiler of this program.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // of the commit
	Go      string `json:"go"`
}

// built is this program's build.
func built() build {
	b := build{Version: version, Commit: commit, Date: date, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			}
		}
	}
	b.Version, b.Commit, b.Date = cmp.Or(b.Version, "(devel)"), cmp.Or(b.Commit, "unknown"), cmp.Or(b.Date, "unknown")
	return b
}

// showVersion shows the build of this program.
func showVersion(_ context.Context, c *call) (int, error) {
	b := built()
	if c.flags.output == "json" {
		return ExitOK, json.NewEncoder(c.Out).Encode(b)
	}
	_, err := fmt.Fprintf(c.Out, "stackwright %s\ncommit  %s\ndate    %s\ngo      %s\n", b.Version, b.Commit, b.Date, b.Go)
	return ExitOK, err
}
