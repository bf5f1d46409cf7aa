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

// The packages in pkg, each with the packages of ours that it may import; "sdk"
// stands for the AWS SDK. A package imports only packages above it in the table.
// A new import that the table does not allow is a change of the architecture.
const table = `
lib/graph
lib/budget
lib/suggest
lib/pattern
lib/loopback
lib/shorten
lib/strict            lib/shorten lib/suggest
lib/cron              lib/pattern
lib/cidr
lib/document
lib/loss
lib/function          lib/cidr lib/suggest
lib/property          lib/suggest
lib/template          lib/cidr lib/document lib/graph lib/loss lib/pattern lib/property
lib/jinja
lib/resource
lib/diagram
lib/markdown          lib/pattern
lib/golden
lib/schema
lib/stackpolicy       lib/document
lib/difference        lib/pattern lib/resource lib/shorten lib/template
lib/expression        lib/suggest
lib/download
lib/unified
lib/price
lib/cost              lib/price lib/template

fault
project               fault lib/function lib/graph lib/pattern lib/suggest
remote                fault project lib/pattern
access                fault project lib/document lib/pattern lib/shorten lib/suggest
plan                  fault project lib/cost lib/difference lib/graph lib/loss lib/pattern lib/price lib/resource lib/shorten lib/stackpolicy lib/suggest lib/template
unit                  fault project
run                   fault project access plan lib/shorten
revision              fault project plan run
purge                 fault plan run
hook                  fault project remote lib/pattern
suspend               fault project plan
backup                fault project plan lib/pattern
action                fault project plan hook suspend lib/price
policy                fault project plan lib/difference lib/document lib/expression lib/resource lib/suggest
fact                  fault project plan run action lib/loss lib/template
engine                fault project plan run action fact revision lib/budget lib/loss lib/shorten lib/template

enginetest/asl        lib/shorten
enginetest/figure
enginetest/workload
enginetest/sim        fault hook backup suspend project unit plan policy run action fact engine enginetest/asl lib/budget lib/loss lib/price
enginetest/contract   fault project unit plan run backup suspend action engine lib/budget lib/loss lib/template

aws/awserr            fault sdk
aws/cloudformation    fault project plan action lib/difference lib/loss lib/pattern lib/resource lib/stackpolicy aws/awserr sdk
aws/awsbackup         fault project backup aws/awserr sdk
aws/autoscaling       fault project suspend lib/price aws/awserr sdk
aws/cloudwatch        fault project run aws/awserr sdk
aws/dynamodb          fault project backup plan run engine lib/budget aws/awserr sdk
aws/ec2               fault project suspend backup lib/price aws/awserr sdk
aws/ecr               fault project aws/awserr sdk
aws/ecs               fault project suspend lib/price aws/awserr sdk
aws/eventbridge       fault project plan run lib/markdown aws/awserr sdk
aws/lambda            fault project aws/awserr sdk
aws/organizations     fault project unit aws/awserr sdk
aws/rds               fault project backup suspend lib/price aws/awserr sdk
aws/redshift          fault project suspend backup lib/price aws/awserr sdk
aws/s3                fault project remote plan run purge engine aws/awserr sdk
aws/sagemaker         fault project suspend lib/price aws/awserr sdk
aws/scheduler         fault project aws/awserr sdk
aws/secretsmanager    fault project aws/awserr sdk
aws/sns               fault project aws/awserr sdk
aws/ssm               fault project aws/awserr sdk
aws/stepfunctions     fault project run engine aws/awserr sdk
aws/sts               fault project aws/awserr sdk

format/problem        fault lib/document lib/suggest
format/archive        fault format/problem lib/document lib/pattern
format/declared       project remote format/problem lib/pattern
format/reference      project format/declared format/problem lib/function lib/pattern lib/suggest lib/template
format/native         project remote access plan hook format/archive format/declared format/problem format/reference lib/cron lib/document lib/function lib/pattern lib/stackpolicy lib/template
format/packages       remote format/archive format/problem lib/document lib/template
format/plain          project format/archive format/declared format/packages format/problem lib/document lib/pattern lib/stackpolicy lib/template
format/cdk            project format/archive format/declared format/problem lib/document lib/template
format/sceptre        project hook remote format/archive format/declared format/problem format/reference lib/document lib/jinja lib/pattern lib/suggest lib/template
format/resolve        fault project remote format/archive format/declared format/packages format/problem format/reference lib/document lib/function lib/pattern lib/suggest lib/template
format/check          project hook format/declared format/problem format/resolve lib/graph lib/loss lib/property lib/resource lib/template
format/draft          fault project format/archive format/declared format/plain format/problem lib/loss lib/pattern lib/template
format                fault project remote format/archive format/cdk format/check format/declared format/native format/packages format/plain format/problem format/resolve format/sceptre
format/accept         plan project remote format format/archive format/declared format/problem lib/document lib/pattern lib/template
format/convert        fault project format format/archive format/declared format/draft format/problem lib/pattern

entry/report          fault project plan run purge lib/cron lib/diagram lib/price lib/template lib/unified
entry/target          fault project unit plan run lib/suggest
entry/page            fault plan run lib/loopback entry/report
entry/term            plan project run action entry/report lib/diagram lib/difference lib/markdown lib/price lib/resource
entry/notify          fault project remote run hook lib/pattern
entry/trigger         fault project plan run engine lib/pattern lib/shorten lib/strict lib/suggest
entry/api             fault project access run plan revision purge engine lib/pattern lib/strict entry/report entry/target

wire                  fault project remote access unit plan run action fact engine hook backup suspend lib/budget lib/download lib/pattern format format/archive format/check format/packages entry/api entry/notify entry/page entry/report entry/target entry/term entry/trigger aws/autoscaling aws/awsbackup aws/cloudformation aws/cloudwatch aws/dynamodb aws/ec2 aws/ecr aws/ecs aws/eventbridge aws/lambda aws/organizations aws/rds aws/redshift aws/s3 aws/sagemaker aws/scheduler aws/secretsmanager aws/sns aws/ssm aws/stepfunctions aws/sts sdk purge

client                fault plan entry/report sdk
entry/cli/httpapi     fault project plan run purge engine client entry/report
entry/cli/forward     fault client entry/api entry/page entry/report
entry/cli             fault project unit remote access plan policy run revision engine lib/cron lib/diagram lib/download lib/suggest format format/accept format/archive format/cdk format/convert format/draft format/packages format/problem format/resolve format/sceptre entry/notify entry/page entry/report entry/target entry/term client entry/cli/forward entry/cli/httpapi aws/awserr aws/dynamodb aws/organizations aws/s3 aws/scheduler aws/stepfunctions aws/sts sdk purge lib/price lib/template aws/cloudformation
`

// The groups of packages, each with the groups that its packages may import. A
// group is a folder of pkg; "core" are the packages that are in no folder.
const groups = `
lib          lib
core         core lib
enginetest   core lib enginetest
awserr       core sdk
aws          core lib awserr sdk
format       core lib format
entry        core lib entry
wire         core lib aws format entry sdk
client       core entry sdk
cli          core lib aws awserr format entry client cli sdk
`

// The folders outside pkg, with the packages of pkg that they may import; "*"
// stands for all. A folder's rule holds for the folders in it.
const outside = `
stepfn
infra/local        * sdk
infra/ministack
infra/moto         *
infra/stackwright  *
functions          policy wire
infra/dist         format/native
infra/bench        *
examples
docs
`

const (
	module  = "github.com/stackwright/stackwright/"
	sdk     = "github.com/aws/aws-sdk-go-v2"
	smithy  = "github.com/aws/smithy-go" // the runtime of the SDK
	jsii    = "github.com/aws/jsii-runtime-go"
	longest = 10 // lines of a function's main
)

// A goPackage is a package of this module.
type goPackage struct {
	ImportPath, Dir  string
	Imports, GoFiles []string

	name  string   // its folder
	inPkg bool     // it is in pkg
	known bool     // it is in a table
	may   []string // it import of ours; "*" is all
}

func TestLayers(t *testing.T) {
	all := listPackages(t)
	if len(all) < 10 {
		t.Fatalf("go list lists only %d packages", len(all))
	}
	for _, p := range all {
		if !p.known {
			t.Errorf("package %s stands in no table: add it", p.name)
			continue
		}
		for _, imp := range p.Imports {
			if why := p.forbids(imp); why != "" {
				t.Errorf("package %s must not import %s: %s", p.name, imp, why)
			}
		}
	}
}

// The table itself keeps the rules of the groups, and no import points upward.
func TestTableKeepsRulesOfGroups(t *testing.T) {
	may, above := rows(groups), make(map[string]bool)
	for line := range strings.Lines(table) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		for _, on := range w[1:] {
			switch to := group(on); {
			case !slices.Contains(may[group(w[0])], to):
				t.Errorf("%s may import %s: packages of %s must not import %s", w[0], on, group(w[0]), to)
			case on != "sdk" && !above[on]:
				t.Errorf("%s may import %s, which does not stand above it in the table", w[0], on)
			}
		}
		above[w[0]] = true
	}
}

// group returns the group of a package.
func group(name string) string {
	folder, _, inFolder := strings.Cut(name, "/")
	switch {
	case name == "aws/awserr":
		return "awserr" // the only package that adapters share
	case name == "entry/cli" || strings.HasPrefix(name, "entry/cli/"):
		return "cli" // it also works with installations on AWS
	case inFolder || name == "sdk" || name == "wire" || name == "format" || name == "client":
		return folder
	}
	return "core"
}

// rows reads a table: its first words, each with the words after it.
func rows(table string) map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(table) {
		if w := strings.Fields(line); len(w) > 0 {
			all[w[0]] = w[1:]
		}
	}
	return all
}

// The main of a function only names its handler.
func TestMainsAreShort(t *testing.T) {
	for _, p := range listPackages(t) {
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
			t.Errorf("%s has %d lines, more than %d: move its code to pkg/wire", p.name, lines, longest)
		}
	}
}

// forbids says why p must not import a package, or returns "".
func (p goPackage) forbids(imp string) string {
	own, ours := strings.CutPrefix(imp, module)
	name, lower := strings.CutPrefix(own, "pkg/")
	switch {
	case strings.HasPrefix(imp, jsii):
		return "only the module infra/aws uses the CDK"
	case (strings.HasPrefix(imp, sdk) || strings.HasPrefix(imp, smithy)) && !slices.Contains(p.may, "sdk"):
		return "only adapters, wire, the command line and infra use the SDK"
	case !ours || slices.Contains(p.may, "*"):
		return ""
	case lower && !slices.Contains(p.may, name):
		return "the table does not allow it"
	case !lower && p.inPkg:
		return "packages in pkg import only packages in pkg"
	}
	return ""
}

// listPackages lists the packages of this module, each with its row of the tables.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	list.Dir, list.Stderr = "..", os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	inPkg, others := rows(table), rows(outside)
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal("go list: ", err)
		}
		if p.name = strings.TrimPrefix(p.ImportPath, module); p.name == "pkg" {
			continue // this test
		}
		p.inPkg = strings.HasPrefix(p.name, "pkg/")
		p.may, p.known = inPkg[strings.TrimPrefix(p.name, "pkg/")]
		for folder, may := range others {
			if p.name == folder || strings.HasPrefix(p.name, folder+"/") {
				p.may, p.known = may, true
			}
		}
		all = append(all, p)
	}
	return all
}
