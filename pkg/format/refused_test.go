package format

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// Each folder in testdata/refused is a project with something wrong, and want.txt
// has all its messages. The file .options.json, if there is one, has the project,
// the name without a project file, the environment, the targets besides default, and the installation. Files that are elsewhere
// come from a web server of the test, and from a bucket.
func TestRefusedProjects(t *testing.T) {
	for _, dir := range folders(t, "testdata/refused", 35) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			all, err := archive.Folder(dir)
			if err != nil {
				t.Fatal(err)
			}
			delete(all, "want.txt")
			_, err = Fetch(all, options(t, dir), newElsewhere(t, "https://example.com/,https://inside.example.com/,shop@*=s3://shop-templates/").get)
			if err == nil {
				t.Fatal("the project is accepted")
			}
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("the error's kind is %q, want Invalid", fault.KindOf(err))
			}
			golden.Same(t, filepath.Join(dir, "want.txt"), strings.Join(fault.Messages(err), "\n")+"\n")
		})
	}
}

func folders(t *testing.T, in string, least int) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(in, "*", ""))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, name := range all {
		if about, err := os.Stat(name); err == nil && about.IsDir() {
			dirs = append(dirs, name)
		}
	}
	if len(dirs) < least {
		t.Fatalf("%d projects in %s, want %d at least", len(dirs), in, least)
	}
	return dirs
}

func here() map[string]project.Target {
	return map[string]project.Target{"default": {Name: "default", Account: "000000000000", Region: "us-east-1"}}
}

// regions are the regions of the targets in account 111111111111.
var regions = map[string]string{"eu": "eu-west-1", "us": "us-west-2", "ap": "ap-south-1", "twin": "eu-west-1"}

func options(t *testing.T, dir string) Options {
	t.Helper()
	o := Options{Targets: here(), Store: packages.Store{Bucket: "uploads", Region: "us-east-1"}, Holds: policy.Holds}
	body, err := os.ReadFile(filepath.Join(dir, ".options.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return o
	}
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Project, Name, Environment string
		Targets                    []string
		Installation               check.Installation
	}
	if err := json.Unmarshal(body, &said); err != nil {
		t.Fatal(err)
	}
	o.Project, o.Name, o.Environment, o.Installation = said.Project, said.Name, said.Environment, said.Installation
	for _, name := range said.Targets {
		o.Targets[name] = project.Target{Name: name, Account: "111111111111", Region: regions[name]}
	}
	return o
}
