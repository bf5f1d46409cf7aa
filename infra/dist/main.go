// Command dist builds the release archives of the stackwright command: one for each
// platform, with shell completions, man pages and a software bill of materials, and
// the checksums of all. The same commit gives the same bytes on every machine that
// has the same version of Go.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

// platforms are the platforms that have an archive.
var platforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

// A release says what is built.
type release struct {
	version, commit string
	date            time.Time // of the commit, in UTC
}

func main() {
	out := flag.String("out", "build/dist", "the folder for the archives; it is emptied first")
	version := flag.String("version", "", "the version; the default is git describe")
	flag.Parse()
	if err := dist(*out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// dist builds the archives of all platforms and their checksums into the folder out.
func dist(out, version string) error {
	r, err := read(version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("empty the folder: %w", err)
	}
	work, err := os.MkdirTemp("", "stackwright-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // a temporary folder: what is left of it does no harm
	shared, err := r.generated(work)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		files, err := r.files(p, work, shared)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		name := r.name(p)
		if err := archive(filepath.Join(out, name+".tar.gz"), name, files, r.date); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
	}
	return checksums(out)
}

// read returns the release of the commit that is checked out. Without git, as in a
// source archive, the version has to be given.
func read(version string) (release, error) {
	r := release{version: version}
	git := func(args ...string) (string, error) {
		text, err := exec.Command("git", args...).Output()
		return strings.TrimSpace(string(text)), err
	}
	var err error
	if r.version == "" {
		if r.version, err = git("describe", "--tags", "--always", "--dirty"); err != nil {
			return r, fmt.Errorf("git describe: %w: this is no git checkout: set -version", err)
		}
	}
	if r.commit, err = git("rev-parse", "HEAD"); err != nil {
		return r, fmt.Errorf("git rev-parse: %w", err)
	}
	at, err := git("show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return r, fmt.Errorf("git show: %w", err)
	}
	if r.date, err = time.Parse(time.RFC3339, at); err != nil {
		return r, fmt.Errorf("date of the commit: %w", err)
	}
	r.date = r.date.UTC()
	return r, nil
}

// name is the name of a platform's archive, without its ending.
func (r release) name(p platform) string {
	return fmt.Sprintf("stackwright_%s_%s_%s", strings.TrimPrefix(r.version, "v"), p.os, p.arch)
}

// build builds the command for a platform.
func (r release) build(p platform, file string) error {
	const cli = "github.com/stackwright/stackwright/pkg/entry/cli."
	flags := fmt.Sprintf("-s -w -buildid= -X %sversion=%s -X %scommit=%s -X %sdate=%s", cli, r.version, cli, r.commit, cli, r.date.Format(time.RFC3339))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, "./infra/stackwright")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}
