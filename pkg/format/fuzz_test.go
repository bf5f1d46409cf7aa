package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/project"
)

// Read never panics. A project that it reads is consistent, and the same when it is
// packed, unpacked and read again; an error has a position.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/refused/*/stackwright.yaml", "testdata/accepted/*/*.y*ml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body, []byte(small))
		}
	}
	f.Add([]byte("project: shop\nimports: [vpc.yaml]\nx-a: &a {template: any.yaml}\nstacks: {a: {<<: *a}}\n"), []byte("variables: {x: [1]}\nstacks: &s {b: {template: {Resources: {T: {Type: AWS::SNS::Topic}}}}}\nenvironments: {prod: {variables: {x: {y: 1}}}}\nmoved: []\n"))
	f.Add([]byte("project: shop\nimports: [vpc.yaml]\nstacks: {a: {template: any.yaml}}\nenvironments: {prod: {stacks: {}}}\n"), []byte("imports: [vpc.yaml, stackwright.yaml]\nenvironments: {prod: {stacks: {b: {template: any.yaml}}}}\n"))
	f.Fuzz(func(t *testing.T, body, template []byte) {
		all := archive.Files{"stackwright.yaml": body, "t.yaml": template, "any.yaml": []byte(small), "vpc.yaml": template, "app.yaml": []byte(small)}
		targets := here()
		targets["eu"] = project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
		o := Options{Targets: targets, Installation: check.Installation{Stack: "stackwright", Bucket: "uploads"}}
		var l Loaded
		var err error
		contract.Memory(t, len(body)+len(template), 300<<20, 10_000, func() { l, err = Read(all, o) })
		if err != nil {
			isGoodRefusal(t, err)
			return
		}
		isConsistent(t, l)
		survivesStorage(t, l)
		packed, err := archive.Pack(all)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := archive.Unpack("again.zip", packed)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(unpacked, o)
		if diff := cmp.Diff(l, again); diff != "" || err != nil {
			t.Errorf("the project changed when it was packed and unpacked: %v\n%s", err, diff)
		}
	})
}

// isGoodRefusal checks that an error is of kind Invalid, short enough to be read
// and stored, and has positions.
func isGoodRefusal(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%q: %v", fault.KindOf(err), err)
	}
	all := (document.Errors)(nil)
	if n := len(fault.Messages(err)); n == 0 || n > problem.MaxReported+1 || errors.As(err, &all) && n != len(all) {
		t.Errorf("%d messages: %v", n, err)
	}
	for _, e := range all {
		switch {
		case len(e.Text) == 0 || len(e.Text) > 20_000:
			t.Errorf("the message has %d bytes", len(e.Text))
		case e.File == "" && !strings.HasPrefix(e.Text, "and ") && !strings.HasPrefix(e.Text, "there is no stackwright.yaml"):
			t.Errorf("it has no position: %s", e.Text)
		}
	}
}

// survivesStorage checks that each node is the same after it was stored and read
// back, and so is the request to CloudFormation.
func survivesStorage(t *testing.T, l Loaded) {
	t.Helper()
	value := func(node, output string) (string, error) { return "<" + node + "." + output + ">", nil }
	for name, n := range l.Project.Nodes {
		n.Template.Creation, n.Template.Path, n.Links = 0, "", project.Links{} // only the plan uses them
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var back project.Node
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, back); diff != "" {
			t.Errorf("%s: it changed when it was stored:\n%s", name, diff)
		}
		one, err := n.Digest()
		two, again := back.Digest()
		if one != two || err != nil || again != nil {
			t.Errorf("%s: its digest is %s, and then %s: %v, %v", name, one, two, err, again)
		}
		request, err := n.Resolve(value)
		requestAgain, again := back.Resolve(value)
		if err != nil && again != nil && err.Error() == again.Error() && fault.Is(err, fault.Invalid, fault.Missing) && (strings.Contains(string(text), `"expression":`) || strings.Contains(string(text), `"source":`)) {
			continue // a function refuses the value, or nothing was read from elsewhere
		}
		if diff := cmp.Diff(request, requestAgain); diff != "" || err != nil || again != nil {
			t.Errorf("%s: %v, %v\n%s", name, err, again, diff)
		}
	}
}

// A text with references is split so that joining the parts gives the text again,
// and resolves to what the parts say, or is refused with its position.
func FuzzReference(f *testing.F) {
	for _, text := range []string{
		"", "plain", "${db.Arn}", "a${db.Arn}b${db.Arn}", "$${literal}", "$$${x}", "$${${db.Arn}}", "${", "${}", "${var.size}", "${var.}", "${file:memo.txt}", "${file:../x}", "${file:}",
		"${project}-${environment}", "${account}${region}", "${stack:db}", "${stack:db@default}", "${stack:@}", "${db@default.Arn}", "${db@.Arn}", "${db.}", "${.Arn}", "${own.Arn}", "${nope.Arn}",
		"${secret:prod/db#password}", "${secret:a#b:0123456789abcdef0123456789abcdef}", "${ssm:/a/b:3}", "${ssm-secure:x}", "${ssm:a:}", "${export:x}", "${export:a:b-c@eu}", "${lower(export:x@eu ?? 'y')}", "${external:a.B}", "${ssm-value:/a/b:3@eu}${lower(ssm-value:a ?? db.Arn)}", "${x:y}",
		"{{resolve:ssm:/a:1}}", "{{resolve:secretsmanager:a:SecretString:b}}", "${network/vpc.Id}", "${a/../b.Id}", "$", "}", "${${db.Arn}.X}", "\x00", "é${db.Arn}\u2028", strings.Repeat("${db.Arn}", 500), strings.Repeat("x", 5000),
		"${join(',', [db.Arn, 'x', 1, true, null])}", "${split('-', db.Arn)[0]}", "${sub('${a}$${b}', {a: db.Arn, 'b c': 1.50})}", "${from_json('{\"a\": [1]}').a[0]}", "${base64(file('memo.txt'))}", "${json({a: [db.Arn]})}",
		"${cidr('10.0.0.0/8', 256, 8)}", "${db.Nope ?? db.Arn ?? 'x'}", "${var.nope ?? upper(db.Arn)}", "${lower(var.size)}-${[db.Arn]}", "${select('a', {a: 'it''s'})}", "${lower(secret:a)}", "${lower('{{resolve:ssm:a}}')}", "${file(db.Arn)}",
		"${" + strings.Repeat("[", 60), "${json([" + strings.Repeat("1,", 1001) + "])}", "${" + strings.Repeat("base64(", 40) + "'x'" + strings.Repeat(")", 40) + "}", "${join(join(',', [1,2]), split(',', 'a,b'))}", "${var.size.x ?? var.size[0]}", "${{a: 1}}",
		"${attr:db.id}", "${attr:db.name}${attr:db@default.region}", "${lower(attr:db.id)}", "${attr:own.parameters.P}", "${attr:db.tags.x ?? attr:own.id}", "${attr:db}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // no document holds it
		}
		parts, err := reference.Parse(text)
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("the message has %d bytes", len(err.Error()))
		}
		if err == nil && joined(parts) != text {
			t.Errorf("%q is split into %q", text, joined(parts))
		}
		quoted, mistake := json.Marshal(text)
		if mistake != nil {
			t.Fatal(mistake)
		}
		template := "Parameters:\n  P: {Type: String}\n" + small
		all := archive.Files{"db.yaml": []byte(small), "own.yaml": []byte(template), "memo.txt": []byte("memo\n"), "stackwright.yaml": fmt.Appendf(nil,
			"project: fuzz\nvariables: {size: s}\nstacks:\n  db: {template: db.yaml}\n  own:\n    template: own.yaml\n    parameters:\n      P: %s\n", quoted)}
		var l Loaded
		contract.Memory(t, len(text), 24<<20, 1000, func() { l, mistake = Read(all, Options{Targets: here()}) })
		if mistake != nil {
			isGoodRefusal(t, mistake)
			return
		}
		if err != nil {
			t.Fatalf("%q is accepted, although %v", text, err)
		}
		isConsistent(t, l)
		survivesStorage(t, l)
		isReadAsShown(t, all, l.Project.Nodes["own"].Parameters["P"])
		if want, sure := resolved(parts, l); sure {
			got, err := l.Project.Nodes["own"].Parameters["P"].Resolve(func(node, output string) (string, error) { return "<" + node + "." + output + ">", nil })
			if err != nil || got != want {
				t.Errorf("%q becomes %q, %v; want %q", text, got, err, want)
			}
		}
	})
}

// isReadAsShown checks that an expression means the same when it is written as it is shown.
func isReadAsShown(t *testing.T, all archive.Files, text project.Text) {
	t.Helper()
	if i := slices.IndexFunc(text, func(p project.Part) bool { return p.Expression != nil }); i >= 0 {
		text = text[i : i+1]
		quoted, err := json.Marshal(text.String())
		if err != nil {
			t.Fatal(err)
		}
		if len(text.String()) > declared.MaxWritten || strings.Contains(text.String(), "@") {
			return
		}
		all["stackwright.yaml"] = fmt.Appendf(nil, "project: fuzz\nvariables: {size: s}\nstacks:\n  db: {template: db.yaml}\n  own:\n    template: own.yaml\n    parameters:\n      P: %s\n", quoted)
		l, err := Read(all, Options{Targets: here()})
		if err != nil {
			t.Fatalf("%s is refused: %v", text, err)
		}
		if diff := cmp.Diff(text, l.Project.Nodes["own"].Parameters["P"]); diff != "" {
			t.Errorf("%s means something else:\n%s", text, diff)
		}
	}
}

// joined writes parts as they were written.
func joined(all []declared.Part) string {
	var b strings.Builder
	for _, p := range all {
		if p.Reference != nil {
			b.WriteString(p.Reference.Written)
			continue
		}
		if p.Expression != nil {
			b.WriteString(p.Expression.Written)
			continue
		}
		b.WriteString(strings.ReplaceAll(p.Literal, "${", "$${"))
	}
	return b.String()
}

// resolved is what parts resolve to, if that is certain.
func resolved(all []declared.Part, l Loaded) (string, bool) {
	var b strings.Builder
	for _, p := range all {
		target := l.Project.Nodes["own"].Target
		switch {
		case p.Expression != nil:
			return "", false
		case p.Reference == nil:
			b.WriteString(p.Literal)
		case p.Reference.Kind == "output":
			b.WriteString("<" + p.Reference.Name + "." + p.Reference.Key + ">")
		case p.Reference.Kind == "var":
			b.WriteString("s")
		case p.Reference.Kind == "file" && p.Reference.Name == "memo.txt":
			b.WriteString("memo")
		case p.Reference.Kind == "project":
			b.WriteString("fuzz")
		case p.Reference.Kind == "environment":
			b.WriteString("default")
		case p.Reference.Kind == "account":
			b.WriteString(target.Account)
		case p.Reference.Kind == "region":
			b.WriteString(target.Region)
		case p.Reference.Kind == "stack":
			b.WriteString(l.Project.Nodes[p.Reference.Name].Stack)
		default:
			return "", false
		}
	}
	return b.String(), true
}
