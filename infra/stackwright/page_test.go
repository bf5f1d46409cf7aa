package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// read returns a file of the project.
func read(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// What docs/deploy.md tells people to type is there to be typed.
func TestDeployPage(t *testing.T) {
	t.Parallel()
	page := strings.NewReplacer("ParameterKey=", "", "OutputKey=", "").Replace(read(t, "docs/deploy.md"))
	var app strings.Builder
	files, err := filepath.Glob("../../infra/aws/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("infra/aws has no code: %v", err)
	}
	for _, f := range files {
		app.WriteString(read(t, strings.TrimPrefix(f, "../../")))
	}
	targets := read(t, "infra/aws/target/account.yaml") + read(t, "infra/aws/target/region.yaml")
	for _, c := range []struct{ what, named, in, form string }{
		{"make target", "(?m)(?:`|^ {4,}(?:[A-Z_]+=\\S+ )*)make ([a-z-]+)", read(t, "Makefile"), `(?m)^%s:`},
		{"setting", `-c ([a-z]\w+)=`, app.String(), `\{"%s", `},
		{"setting", "(?m)^\\| `([a-z][A-Za-z]+)`(?:, `[A-Za-z]+`)? \\| (?:`[^|]*`|none) \\|", app.String(), `\{"%s", `},
		{"output", `\$\(output (\w+)\)`, app.String(), `i\.output\("%s"`},
		{"output", "(?m)^\\| `([A-Z][A-Za-z]+)` \\|", app.String(), `i\.output\("%s"`},
		{"parameter", `\b((?:[A-Z][a-z]+)+)(?:=|,ParameterValue=)`, targets, `(?m)^  %s:$`},
		{"role", `role/stackwright/stackwright-(\w+)`, targets, `RoleName: !Sub "\$\{Name\}-%s"`},
		{"resource", `--logical-resource-id (\w+)`, app.String(), `called\([^\n]*"%s"\)`},
	} {
		found := regexp.MustCompile(c.named).FindAllStringSubmatch(page, -1)
		if len(found) == 0 {
			t.Errorf("the page names no %s: %s", c.what, c.named)
		}
		for _, m := range found {
			if !regexp.MustCompile(fmt.Sprintf(c.form, m[1])).MatchString(c.in) {
				t.Errorf("there is no %s %s", c.what, m[1])
			}
		}
	}
	for what, defined := range map[string]string{"setting": `(?m)^\t\{"(\w+)", (?:"|func)`, "output": `i\.output\("(\w+)"`} {
		for _, m := range regexp.MustCompile(defined).FindAllStringSubmatch(app.String(), -1) {
			if m[1] != "code" && !strings.Contains(page, "`"+m[1]+"`") { // where the functions were built is nobody's matter
				t.Errorf("%s %s is not told of", what, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?:file://|--template-file )(\S+)|\]\(\.\./([^)#]+)\)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1]+m[2])); err != nil {
			t.Error(err)
		}
	}
}

// What stands there to be typed is read by a shell as it is meant.
func TestShellOfDeployPage(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash on this machine")
	}
	blocks := regexp.MustCompile(`(?m)(?:^ {4,}\S[^\n]*\n)+`).FindAllString(read(t, "docs/deploy.md"), -1)
	if len(blocks) < 10 {
		t.Errorf("only %d blocks are found", len(blocks))
	}
	for _, b := range blocks {
		if out, err := exec.Command(shell, "-n", "-c", b).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, b)
		}
	}
}
