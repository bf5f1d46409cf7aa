package format

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

const small = "Resources:\n  T: {Type: AWS::SNS::Topic}\nOutputs:\n  Arn: {Value: !Ref T}\n"

// The packages that read projects cannot use a network or start programs.
func TestNoNetwork(t *testing.T) {
	imports := make(map[string][]string) // of each package on which this one depends
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports[words[0]] = words[1:]
	}
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		for _, name := range imports[path] {
			first, _, _ := strings.Cut(name, "/")
			switch {
			case name == "net" || strings.HasPrefix(name, "net/") && name != "net/netip" && name != "net/url" || name == "os/exec":
				t.Errorf("%s imports %s", path, name)
			case strings.HasPrefix(name, "github.com/stackwright/") && !strings.HasSuffix(name, "/fault"), strings.HasPrefix(name, "go.yaml.in/"):
				visit(name)
			case strings.Contains(first, "."):
				seen[name] = true
			}
		}
	}
	visit("github.com/stackwright/stackwright/pkg/format")
	for _, want := range []string{"github.com/stackwright/stackwright/pkg/lib/template", "github.com/stackwright/stackwright/pkg/lib/document", "go.yaml.in/yaml/v4"} {
		if !seen[want] {
			t.Errorf("%s is not among the imports", want)
		}
	}
}

func chain(n int) archive.Files {
	var b strings.Builder
	b.WriteString("project: large\nstacks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d: {template: t.yaml", i)
		if i > 0 {
			fmt.Fprintf(&b, ", needs: [s%d], tags: {of: '${s%d.Arn}'}", i-1, i/2)
		}
		b.WriteString("}\n")
	}
	return archive.Files{"stackwright.yaml": []byte(b.String()), "t.yaml": []byte(small)}
}

func TestLargestProject(t *testing.T) {
	l, err := Read(chain(declared.MaxStacks), Options{Targets: here()})
	if err != nil {
		t.Fatalf("%.1000s", err.Error())
	}
	if got := len(l.Project.Nodes); got != declared.MaxStacks {
		t.Errorf("%d stacks, want %d", got, declared.MaxStacks)
	}
	_, err = Read(chain(declared.MaxStacks+1), Options{Targets: here()})
	want := "stackwright.yaml:3:3: stacks: 10001 stacks: a project has at most 10000: divide it into several projects"
	if err == nil || err.Error() != want {
		t.Errorf("with one more: %.300v\nwant %s", err, want)
	}
}

// Projects that are small in the file and large when expanded are refused, with
// little time and memory. Without limits each would take minutes or gigabytes.
func TestBombs(t *testing.T) {
	stacks := func(n int, head, each string) string {
		var b strings.Builder
		b.WriteString("project: bomb\n" + head + "stacks:\n")
		for i := range n {
			fmt.Fprintf(&b, "  s%d: {template: t.yaml%s}\n", i, each)
		}
		return b.String()
	}
	var parameters, tags, needs, template strings.Builder
	template.WriteString("Parameters:\n")
	for i := range 200 {
		fmt.Fprintf(&template, "  P%d: {Type: String, Default: ''}\n", i)
		fmt.Fprintf(&parameters, "P%d: '${project} ${environment} %s', ", i, strings.Repeat("x", 3000))
	}
	template.WriteString(small)
	for i := range 100_000 {
		fmt.Fprintf(&tags, "t%d: x, ", i)
	}
	for i := range declared.MaxStacks {
		fmt.Fprintf(&needs, "s%d, ", i)
	}
	for name, c := range map[string]struct{ yaml, want string }{
		"texts":      {stacks(declared.MaxStacks, "defaults: {'': {parameters: {"+parameters.String()+"}}}\n", ""), "more than 128 MB"},
		"tags":       {stacks(declared.MaxStacks, "defaults: {'': {tags: {"+tags.String()+"}}}\n", ""), "100000 tags"},
		"needs":      {stacks(declared.MaxStacks, "defaults: {'': {needs: ["+needs.String()+"]}}\n", ""), "more than 128 MB"},
		"unknown":    {stacks(declared.MaxStacks, "defaults: {'': {needs: ["+strings.ReplaceAll(needs.String(), "s", "x")+"]}}\n", ""), "and more than 10000 more"},
		"references": {stacks(1, "", ", tags: {a: '"+strings.Repeat("${s0.X}", 20_000)+"'}"), "at most 65536 are allowed"},
		"variables":  {stacks(1, "variables: {a: '"+strings.Repeat("x", 1<<20)+"'}\n", ""), "at most 65536 are allowed"},
		"names":      {"project: bomb\nstacks:\n  " + strings.Repeat("a", 1<<20) + ": {}\n", "too long"},
		"ring": {func() string {
			var b strings.Builder
			b.WriteString("project: bomb\nstacks:\n")
			for i := range declared.MaxStacks {
				fmt.Fprintf(&b, "  s%d: {template: t.yaml, needs: [s%d]}\n", i, (i+1)%declared.MaxStacks)
			}
			return b.String()
		}(), "9900 more"},
	} {
		t.Run(name, func(t *testing.T) {
			all := archive.Files{"stackwright.yaml": []byte(c.yaml), "t.yaml": []byte(template.String())}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := time.Now()
			_, err := Read(all, Options{Targets: here()})
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.500v\nwant %s", err, c.want)
			}
			if m := fault.Messages(err); len(m) > problem.MaxReported+1 || slices.Max(sizes(m)) > 20_000 {
				t.Errorf("%d messages, the longest of %d bytes", len(m), slices.Max(sizes(m)))
			}
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MB allocated in total", took, allocated)
			if allocated > 1_000 {
				t.Errorf("%d MB were allocated", allocated)
			}
		})
	}
}

// What is allowed in one stack may be too much in thousands.
func TestLimitsOfAllStacksTogether(t *testing.T) {
	grows := "'" + strings.Repeat("x", 20) + "'"
	for range 20 {
		grows = "!Sub ['${a}${a}', {a: " + grows + "}]"
	}
	exporting := "Resources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {O: {Value: a, Export: {Name: " + grows + "}}}\n"
	naming := "Resources: {B: {Type: AWS::S3::Bucket, Properties: {BucketName: " + grows + "}}}\n"
	deciding := "Conditions: {C: !Equals [a, " + grows + "]}\n" + small
	wide := "a: b: c\n#" + strings.Repeat(",", document.MaxNodes-10)
	for name, c := range map[string]struct{ template, want string }{
		"exports":    {exporting, "the values of the templates of all stacks take more than 512 MB"},
		"names":      {naming, "the values of the templates of all stacks take more than 512 MB"},
		"conditions": {deciding, "the values of the templates of all stacks take more than 512 MB"},
		"templates":  {wide, "the templates of all stacks have more than 2000000 keys and values"},
	} {
		t.Run(name, func(t *testing.T) {
			all := archive.Files{}
			var b strings.Builder
			b.WriteString("project: bomb\nstacks:\n")
			for i := range 1000 {
				fmt.Fprintf(&b, "  s%d: {template: t%d.yaml}\n", i, i%10)
				all[fmt.Sprintf("t%d.yaml", i%10)] = []byte(c.template)
			}
			all["stackwright.yaml"] = []byte(b.String())
			contract.Memory(t, 0, 1200<<20, 0, func() {
				_, err := Read(all, Options{Targets: here(), Installation: check.Installation{Stack: "stackwright", Bucket: "uploads"}})
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "stackwright.yaml: "+c.want) {
					t.Errorf("%.500v\nwant %s", err, c.want)
				}
			})
		})
	}
}

func sizes(messages []string) []int {
	all := make([]int, len(messages))
	for i, m := range messages {
		all[i] = len(m)
	}
	return all
}

// A value may be made of those of another stack, and each of these of a third stack's.
func TestValuesOfManyStacks(t *testing.T) {
	for name, c := range map[string]struct {
		stacks      int
		value, want string
	}{
		"twice":      {17, "${join('', [attr:s%[1]d.parameters.P, attr:s%[1]d.parameters.P])}", "its functions make more than 1024 KB"},
		"beside":     {17, "${attr:s%[1]d.parameters.P}${upper(attr:s%[1]d.parameters.P)}", "its functions make more than 1024 KB"},
		"in a list":  {17, "${[attr:s%[1]d.parameters.P, attr:s%[1]d.parameters.P]}", "its functions make more than 1024 KB"},
		"one deeper": {300, "${upper(attr:s%[1]d.parameters.P)}", "with the values of other stacks, the expression is nested too deep: at most 50 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "project: bomb\nstacks:\n  db: {template: db.yaml}\n  s%d: {template: t.yaml, parameters: {P: \"${lower(db.Arn)}\"}}\n", c.stacks)
			for i := range c.stacks {
				fmt.Fprintf(&b, "  s%d: {template: t.yaml, parameters: {P: %q}}\n", i, fmt.Sprintf(c.value, i+1))
			}
			all := archive.Files{
				"stackwright.yaml": []byte(b.String()), "db.yaml": []byte(small),
				"t.yaml": []byte("Parameters: {P: {Type: String}}\n" + small),
			}
			contract.Memory(t, 0, 200<<20, 0, func() {
				_, err := Read(all, Options{Targets: here()})
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%.500v\nwant %s", err, c.want)
				}
			})
		})
	}
}
