package docs

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

// installing are the pages that say how to install, change and remove an installation.
var installing = []string{
	"docs/deploy.md", "docs/how-to/upgrade.md", "docs/how-to/uninstall.md", "docs/how-to/add-an-account.md", "docs/how-to/add-a-region.md",
	"docs/how-to/github-actions.md", "docs/how-to/gitlab-ci.md", "docs/how-to/roll-back.md", "docs/how-to/install-for-two-teams.md",
}

// The targets of make, settings, outputs, parameters and roles that these pages
// name exist, and every setting and output is named.
func TestPagesAboutInstalling(t *testing.T) {
	var all strings.Builder
	for _, name := range installing {
		all.WriteString(read(t, name))
	}
	page := strings.NewReplacer("ParameterKey=", "", "OutputKey=", "").Replace(fence.ReplaceAllString(all.String(), ""))
	app, targets := source(t, "infra/aws/*.go"), source(t, "infra/aws/target/*.yaml")+source(t, "docs/how-to/*.md")
	for _, c := range []struct{ what, named, in, form string }{
		{"make target", "(?m)(?:`|^ {4,}(?:[A-Z_]+=\\S+ )*)make ([a-z-]+)", read(t, "Makefile"), `(?m)^%s:`},
		{"setting", `-c ([a-z]\w+)=`, app, `\{"%s", `},
		{"setting", "(?m)^\\| `([a-z][A-Za-z]+)`(?:, `[A-Za-z]+`)? \\| (?:`[^|]*`|none) \\|", app, `\{"%s", `},
		{"output", `\$\(output (\w+)\)`, app, `i\.output\("%s"`},
		{"output", "(?m)^\\| `([A-Z][A-Za-z]+)` \\|", app, `i\.output\("%s"`},
		{"output", "outputs? `([A-Z][A-Za-z]+)`", app, `i\.output\("%s"`},
		{"parameter", `\b((?:[A-Z][a-z]+)+)(?:=|,ParameterValue=)`, targets, `(?m)^  %s:`},
		{"role", `role/stackwright/stackwright-(?:eu-west-1-)?(\w+)`, targets, `RoleName: !Sub "\$\{Name\}-%s"`},
		{"resource", `--logical-resource-id (\w+)`, app, `"%s"`},
	} {
		found := regexp.MustCompile(c.named).FindAllStringSubmatch(page, -1)
		if len(found) == 0 {
			t.Errorf("the pages name no %s: %s", c.what, c.named)
		}
		for _, m := range found {
			if !regexp.MustCompile(fmt.Sprintf(c.form, m[1])).MatchString(c.in) {
				t.Errorf("there is no %s %s", c.what, m[1])
			}
		}
	}
	for what, defined := range map[string]string{"setting": `(?m)^\t\{"(\w+)", (?:"|func)`, "output": `i\.output\("(\w+)"`} {
		for _, m := range regexp.MustCompile(defined).FindAllStringSubmatch(app, -1) {
			if m[1] != "code" && !strings.Contains(page, "`"+m[1]+"`") { // where the functions are built concerns only the Makefile
				t.Errorf("docs/deploy.md does not describe the %s %s", what, m[1])
			}
		}
	}
}

// source returns the files of a pattern.
func source(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	var all strings.Builder
	for _, f := range files {
		name, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(read(t, name))
	}
	return all.String()
}

// What these pages tell people to type can be parsed by a shell.
func TestShellOfPages(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash on this machine")
	}
	count := 0
	for _, name := range append(installing, "docs/operate.md", "docs/local.md", "README.md", "CONTRIBUTING.md") {
		for _, block := range regexp.MustCompile(`(?m)(?:^ {4,}[A-Za-z(].*\n)(?:^ {4,}\S.*\n)*`).FindAllString(fence.ReplaceAllString(read(t, name), ""), -1) {
			if strings.Contains(block, "| filter") { // a query of CloudWatch Logs Insights
				continue
			}
			count++
			if out, err := exec.Command(shell, "-n", "-c", block).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", name, err, out, block)
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d blocks are found", count)
	}
}

// Installations are deployed from a bucket that the code and the policies deny to projects, over what is there.
func TestInstallationIsDeployedFromItsOwnBucket(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, want := range []string{
		"QUALIFIER = " + project.InstallationQualifier + "\n", "bootstrap --qualifier $(QUALIFIER) ",
		"\ndeploy: bootstrap ", "$(CDK) deploy --force ",
	} {
		if !strings.Contains(makefile, want) {
			t.Errorf("the Makefile lacks %q", want)
		}
	}
	if role := ":role/cdk-" + project.InstallationQualifier + "-*"; !strings.Contains(read(t, "infra/aws/target/account.yaml"), role) {
		t.Errorf("account.yaml does not deny %s", role)
	}
}
