package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

var action = regexp.MustCompile(`\b(?:cloudformation|s3|dynamodb|states|kms|scheduler|execute-api):([A-Z][A-Za-z]+)\b`)

// The YAML on the pages about CI is YAML, the roles are templates, and both let
// the command do the same: each action is one that the command is said to need.
func TestPagesAboutCI(t *testing.T) {
	needed := section(t, read(t, "docs/commands.md"), "On AWS")
	var both [][]string
	for _, name := range []string{"docs/how-to/github-actions.md", "docs/how-to/gitlab-ci.md"} {
		blocks := block.FindAllStringSubmatch(read(t, name), -1)
		if len(blocks) < 2 {
			t.Fatalf("%s has %d blocks of YAML, not a role and a pipeline", name, len(blocks))
		}
		role := blocks[0][2]
		if _, err := template.Parse("role.yaml", []byte(role)); err != nil {
			t.Errorf("%s: the role: %v", name, err)
		}
		if _, err := document.Read("pipeline.yaml", []byte(blocks[len(blocks)-1][2])); err != nil {
			t.Errorf("%s: the pipeline: %v", name, err)
		}
		var may []string
		for _, m := range action.FindAllStringSubmatch(role, -1) {
			if may = append(may, m[0]); !strings.Contains(needed, "`"+m[1]+"`") {
				t.Errorf("%s: the role may %s, which docs/commands.md does not list", name, m[0])
			}
		}
		both = append(both, may)
	}
	if len(both[0]) < 2 || !slices.Equal(both[0], both[1]) {
		t.Errorf("the roles differ: %v and %v", both[0], both[1])
	}
}

// The access file of the page about it is accepted.
func TestAccessFileOfPage(t *testing.T) {
	page := read(t, "docs/how-to/say-who-may-do-what.md")
	blocks := regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d files", len(blocks))
	}
	if _, err := access.Parse(access.Key, []byte(unindented(blocks[0][1]))); err != nil {
		t.Error(err)
	}
	for _, role := range access.Roles() {
		if !strings.Contains(page, "| `"+role+"` |") {
			t.Errorf("the page does not describe the role %s", role)
		}
	}
}

// With the owner, the access file, the targets and the settings of the page about two teams, each team has its own projects, and
// nothing of the other one.
func TestPageOfTwoTeams(t *testing.T) {
	page := read(t, "docs/how-to/install-for-two-teams.md")
	one := func(form string) string {
		t.Helper()
		m := regexp.MustCompile(form).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no %s", form)
		}
		return m[1]
	}
	owner, err := access.ParseOwner(one(`-c owner=(\S+)`))
	if err != nil {
		t.Fatal(err)
	}
	policy := access.NewPolicy(owner, []byte(one("(?s)```yaml\n(grants:.*?)```")))
	if err := policy.Broken(); err != nil {
		t.Fatal(err)
	}
	const session = "arn:aws:sts::111111111111:assumed-role/"
	grants := map[string]project.Grants{"default": parsedGrants(t, one(`-c projects=([^\s"]+)`))}
	for _, team := range []string{"shop", "bank"} {
		grants[team] = parsedGrants(t, one(`targets add `+team+` [^\n]*--projects '([^']+)'`))
		one(`(execution-` + team + `)\n`)
	}
	for team, other := range map[string]string{"shop": "bank", "bank": "shop"} {
		own, theirs := team+"-web@prod", other+"-web@prod"
		for role, most := range map[string]access.Role{team + "-ci": access.Deployer, team + "-lead": access.Approver, "platform": access.Admin, other + "-ci": access.None, "evil": access.None} {
			for needed := access.Reader; needed <= access.Admin; needed++ {
				by := access.Principal{ARN: session + role + "/ann"}
				if got := policy.Decide(by, needed, own); got.Allowed != most.Includes(needed) {
					t.Errorf("%s as %s of %s: %+v", role, needed, own, got)
				}
			}
		}
		if d := policy.Decide(access.Principal{Account: "111111111111"}, access.Reader, own); d.Allowed {
			t.Errorf("uploads are allowed: %+v", d)
		}
		if !grants[team].Allow(own) || grants[team].Allow(theirs) || grants["default"].Allow(own) {
			t.Errorf("the targets are for %v", grants)
		}
	}
}

// parsedGrants reads patterns of projects.
func parsedGrants(t *testing.T, text string) project.Grants {
	t.Helper()
	all, err := project.ParseGrants(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A project file on a page that says "project:" is accepted.
func TestProjectsOfPages(t *testing.T) {
	count := 0
	for name, page := range pages(t) {
		if name == "docs/configuration.md" || name == tutorial { // the one has tests of its own, the other is followed
			continue
		}
		for _, m := range regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```").FindAllStringSubmatch(page, -1) {
			text := unindented(m[1])
			if !strings.HasPrefix(text, "project: ") {
				continue
			}
			count++
			folder := t.TempDir()
			for file, body := range map[string]string{
				"stackwright.yaml": text,
				"db.yaml":          "Parameters: { Class: { Type: String } }\nResources: { T: { Type: AWS::SNS::Topic } }\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(body), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			files, err := archive.Open(folder)
			if err != nil {
				t.Fatal(err)
			}
			home := project.Target{Name: project.DefaultTarget, Account: "111111111111", Region: "eu-west-1"}
			environments := []string{"staging", "prod"}
			if strings.Contains(text, "pr-*:") {
				environments = append(environments, "pr-42")
			}
			for _, environment := range environments {
				if _, err := format.Read(files, format.Options{Project: "shop", Environment: environment, Targets: map[string]project.Target{home.Name: home}}); err != nil {
					t.Errorf("%s: %v\n%s", name, err, text)
				}
			}
		}
	}
	if count == 0 {
		t.Error("no page has a project file")
	}
}

// unindented takes the indentation of the first line from all lines.
func unindented(text string) string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n"+indent, "\n"), indent)
}

// The page about approvals describes each level, in their order.
func TestLevelsOfPage(t *testing.T) {
	page := section(t, read(t, "docs/how-to/approve-plans.md"), "Stacks")
	at := 0
	for _, level := range project.ApprovalLevels() {
		i := strings.Index(page[at:], "| `"+level.String()+"` |")
		if i < 0 {
			t.Fatalf("there is no row of the level %s, or it comes too early", level)
		}
		at += i
	}
}

// The functions of the page about notifications accept the signature of Stackwright, and no other, and no old one.
func TestSignaturesOfPage(t *testing.T) {
	page := read(t, "docs/how-to/get-notified.md")
	code := func(language string) string {
		t.Helper()
		m := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1)
		if len(m) != 1 {
			t.Fatalf("%d blocks of %s", len(m), language)
		}
		return m[0][1]
	}
	const secret, body = "0123456789abcdef", `{"id":"a","type":"ü"}`
	now := time.Now()
	signature := hook.Sign([]byte(secret), now, []byte(body))
	cases := []struct {
		secret, signature, body string
		want                    bool
	}{
		{secret, signature, body, true},
		{"fedcba9876543210", signature, body, false},
		{secret, signature, body + " ", false},
		{secret, hook.Sign([]byte(secret), now.Add(-time.Hour), []byte(body)), body, false},
		{secret, hook.Sign([]byte(secret), now.Add(time.Hour), []byte(body)), body, false},
		{secret, "t=" + strconv.FormatInt(now.Unix(), 10) + ",v1=", body, false},
		{secret, strings.Replace(signature, "v1=", "v0=", 1), body, false},
	}
	folder := t.TempDir()
	programs := map[string]string{
		"main.go": "package main\n\nimport (\n\"crypto/hmac\"\n\"crypto/sha256\"\n\"encoding/hex\"\n\"fmt\"\n\"os\"\n\"strconv\"\n\"strings\"\n\"time\"\n)\n\n" + code("go") +
			"\nfunc main() {\n\tfor n := 1; n < len(os.Args); n += 3 {\n\t\tfmt.Println(genuine([]byte(os.Args[n]), os.Args[n+1], []byte(os.Args[n+2])))\n\t}\n}\n",
		"main.py": code("python") + "\nimport sys\nfor n in range(1, len(sys.argv), 3):\n    print(str(genuine(sys.argv[n].encode(), sys.argv[n + 1], sys.argv[n + 2].encode())).lower())\n",
	}
	var args []string
	want := ""
	for _, c := range cases {
		args, want = append(args, c.secret, c.signature, c.body), want+strconv.FormatBool(c.want)+"\n"
	}
	for name, command := range map[string][]string{"main.go": {"go", "run"}, "main.py": {"python3"}} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(programs[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			t.Logf("%s is not installed, so its function is not tested", command[0])
			continue
		}
		got, err := exec.CommandContext(t.Context(), command[0], slices.Concat(command[1:], []string{file}, args)...).CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%s says %q (%v), want %q", name, got, err, want)
		}
	}
}
