// Command dist builds the release archives of the stackwright command: one for each
// platform, with shell completions, man pages, the JSON schema of project files and a
// software bill of materials, the schema as a file of its own, and the checksums of all. The same commit gives the same bytes on every machine that
// has the same version of Go.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/format/native"
)

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

// platforms are the platforms that have an archive.
var platforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

// shells are the shells that have completions, by the file that each expects.
var shells = map[string]string{"stackwright.bash": "bash", "_stackwright": "zsh", "stackwright.fish": "fish"}

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
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "stackwright-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // a temporary folder: what is left of it does no harm
	shared := filepath.Join(work, "shared")
	if err := r.generate(shared, filepath.Join(work, "host")); err != nil {
		return err
	}
	for _, p := range platforms {
		name := fmt.Sprintf("stackwright_%s_%s_%s", strings.TrimPrefix(r.version, "v"), p.os, p.arch)
		folder := filepath.Join(work, name)
		if err := os.CopyFS(folder, os.DirFS(shared)); err != nil {
			return err
		}
		if err := r.build(p, filepath.Join(folder, "stackwright")); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		if err := r.describe(filepath.Join(folder, "stackwright"), filepath.Join(folder, "sbom.cdx.json")); err != nil {
			return fmt.Errorf("bill of materials of %s/%s: %w", p.os, p.arch, err)
		}
		if err := archive(filepath.Join(out, name+".tar.gz"), folder, r.date); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
	}
	if err := writeSchema(out); err != nil {
		return err
	}
	return checksums(out)
}

// read returns the release of the commit that is checked out. Without git, as in a
// source archive, the version has to be given.
func read(version string) (release, error) {
	if version == "" {
		var err error
		if version, err = output("git", "describe", "--tags", "--always", "--dirty"); err != nil {
			return release{}, fmt.Errorf("%w: this is no git checkout: set -version", err)
		}
	}
	text, err := output("git", "show", "-s", "--format=%H %cI", "HEAD")
	if err != nil {
		return release{}, err
	}
	commit, at, _ := strings.Cut(text, " ")
	date, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return release{}, fmt.Errorf("date of the commit: %w", err)
	}
	return release{version, commit, date.UTC()}, nil
}

// generate writes into a folder the files that are the same on every platform: the
// completions and man pages, which the command itself writes, and the texts of the
// project. host is the file for the command that it builds for that.
func (r release) generate(folder, host string) error {
	if err := r.build(platform{runtime.GOOS, runtime.GOARCH}, host); err != nil {
		return err
	}
	if _, err := output(host, "man", filepath.Join(folder, "man", "man1")); err != nil {
		return err
	}
	texts := make(map[string]string)
	for file, shell := range shells {
		text, err := output(host, "completion", shell)
		if err != nil {
			return err
		}
		texts["completions/"+file] = text + "\n"
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts[name] = string(text)
	}
	if err := os.MkdirAll(filepath.Join(folder, "completions"), 0o755); err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return writeSchema(folder)
}

// writeSchema writes the JSON schema of project files into a folder.
func writeSchema(folder string) error {
	schema, err := native.Schema()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "project.schema.json"), schema, 0o644)
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

// output runs a program and returns what it prints, without the last line feed.
func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(program), args[0], err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
