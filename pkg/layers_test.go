package pkg

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The layer of each package of ours, its name, and what it may import of ours;
// "sdk" lets it import the AWS SDK. To add a word here is to change the
// architecture.
//
// Layers are numbered from the bottom; A are adapters, which never import one
// another, T are tools, W are what wires them: the functions, and the command line.
const layers = `
0  fault
0  lib/graph
0  lib/budget
0  lib/cron
1  project   lib/graph fault
2  plan      lib/graph project fault
3  run       plan fault
4  action    project plan fault
5  engine    action run plan project fault lib/budget

A  aws/cloudformation   action plan project fault sdk
A  aws/dynamodb         engine run plan project fault lib/budget sdk
A  aws/s3               engine project fault sdk
A  aws/sts              project fault sdk
A  entry/trigger        engine run plan project fault
A  entry/api            engine run project fault entry/report
A  aws/eventbridge      run plan sdk
A  aws/cloudwatch       run
A  aws/stepfunctions    engine run fault sdk
A  aws/scheduler        project fault sdk

F  format/problem    fault lib/document lib/suggest
F  format/archive    format/problem fault lib/document
F  format/declared   format/problem project
F  format/reference  format/declared format/problem project lib/template
F  format/native     format/archive format/declared format/problem format/reference plan project lib/cron lib/document
F  format/resolve    format/archive format/declared format/problem format/reference project lib/document lib/suggest lib/template
F  format/check      format/declared format/problem format/resolve project lib/graph lib/template
F  format            format/archive format/check format/declared format/native format/problem format/resolve project

T  lib/asl
T  lib/document
T  lib/suggest
T  lib/template         lib/document
T  entry/cli/term       run plan
T  entry/report         run plan fault
T  enginetest/sim       action engine plan project run fault lib/budget lib/asl
T  enginetest/contract  action engine run plan project fault lib/budget

W  wire      engine action run plan project fault lib/budget format format/archive format/check aws/cloudformation aws/dynamodb aws/s3 aws/sts entry/trigger entry/api aws/eventbridge aws/cloudwatch aws/stepfunctions aws/scheduler sdk
W  entry/cli engine run plan project fault lib/cron format format/archive format/resolve entry/report entry/cli/term aws/dynamodb aws/s3 aws/sts aws/stepfunctions aws/scheduler sdk
`

// The rest of the house. What is below a folder is like it.
const rest = `
stepfn
infra/local  * sdk
infra/stackwright  *
functions    wire
examples
docs
`

const (
	module  = "github.com/stackwright/stackwright/"
	sdk     = "github.com/aws/aws-sdk-go-v2"
	smithy  = "github.com/aws/smithy-go" // what the SDK is made of
	jsii    = "github.com/aws/jsii-runtime-go"
	longest = 10 // lines of a function's main
)

// A piece is a package of this module.
type piece struct {
	ImportPath, Dir  string
	Imports, GoFiles []string

	name  string   // its folder
	inPkg bool     // it is in pkg
	known bool     // it is in a table
	may   []string // it import of ours; "*" is all
}

func TestLayers(t *testing.T) {
	pieces := house(t)
	if len(pieces) < 10 {
		t.Fatalf("only %d packages are seen", len(pieces))
	}
	for _, p := range pieces {
		if !p.known {
			t.Errorf("package %s has no place in the house", p.name)
			continue
		}
		for _, imp := range p.Imports {
			if why := p.forbids(imp); why != "" {
				t.Errorf("package %s must not import %s: %s", p.name, imp, why)
			}
		}
	}
}

// The table keeps the laws that it is read for.
func TestTableOfLayers(t *testing.T) {
	layer := make(map[string]string)
	for line := range strings.Lines(layers) {
		if w := strings.Fields(line); len(w) > 0 {
			layer[w[1]] = w[0]
		}
	}
	for line := range strings.Lines(layers) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		for _, on := range w[2:] {
			switch below := layer[on]; {
			case on == "sdk" && !strings.Contains("AW", w[0]):
				t.Errorf("%s is no adapter: it does not import the SDK", w[1])
			case on != "sdk" && below == "":
				t.Errorf("%s may import %s, which is not in the table", w[1], on)
			case below == "A" && w[0] != "W":
				t.Errorf("%s may import %s: only what wires them knows adapters", w[1], on)
			case w[0] >= "0" && w[0] <= "9" && on != "sdk" && below >= w[0]:
				t.Errorf("%s of layer %s may import %s of layer %s", w[1], w[0], on, below)
			}
		}
	}
}

// A function is a main that anyone reads in one look.
func TestMainsAreShort(t *testing.T) {
	for _, p := range house(t) {
		if !strings.HasPrefix(p.name, "functions/") {
			continue
		}
		lines := 0
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines > longest {
			t.Errorf("%s has %d lines, more than %d: move what it does to pkg", p.name, lines, longest)
		}
	}
}

// forbids says why p must not import a package, if it must not.
func (p piece) forbids(imp string) string {
	own, ours := strings.CutPrefix(imp, module)
	name, lower := strings.CutPrefix(own, "pkg/")
	switch {
	case strings.HasPrefix(imp, jsii):
		return "only infra/aws does, which is a module of its own"
	case (strings.HasPrefix(imp, sdk) || strings.HasPrefix(imp, smithy)) && !slices.Contains(p.may, "sdk"):
		return "only adapters, wire and infra speak to AWS"
	case !ours || slices.Contains(p.may, "*"):
		return ""
	case lower && !slices.Contains(p.may, name):
		return "the table does not say so"
	case !lower && p.inPkg:
		return "what is in pkg knows nothing of what is built on it"
	}
	return ""
}

// house lists the packages of this module, with what the tables say of them.
func house(t *testing.T) []piece {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	list.Dir, list.Stderr = "..", os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	table, others := make(map[string][]string), make(map[string][]string)
	for line := range strings.Lines(layers) {
		if w := strings.Fields(line); len(w) > 0 {
			table["pkg/"+w[1]] = w[2:]
		}
	}
	for line := range strings.Lines(rest) {
		if w := strings.Fields(line); len(w) > 0 {
			others[w[0]] = w[1:]
		}
	}
	var pieces []piece
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p piece
		if err := d.Decode(&p); err != nil {
			t.Fatal("go list: ", err)
		}
		if p.name = strings.TrimPrefix(p.ImportPath, module); p.name == "pkg" {
			continue // this test
		}
		p.inPkg = strings.HasPrefix(p.name, "pkg/")
		p.may, p.known = table[p.name]
		for folder, may := range others {
			if p.name == folder || strings.HasPrefix(p.name, folder+"/") {
				p.may, p.known = may, true
			}
		}
		pieces = append(pieces, p)
	}
	return pieces
}
