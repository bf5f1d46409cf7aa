package docs

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

var actionlint = flag.String("actionlint", "", "the command actionlint, which checks the workflow for GitHub Actions")

// The workflow for GitHub Actions is one for the program that knows what GitHub accepts: its keys, expressions, events, and the inputs of actions.
func TestWorkflowOnActionlint(t *testing.T) {
	if *actionlint == "" {
		t.Skip("-actionlint names no command")
	}
	blocks := block.FindAllStringSubmatch(read(t, "docs/how-to/github-actions.md"), -1)
	for name, text := range map[string]string{"workflow": blocks[workflowBlock][2], "wrong": strings.Replace(blocks[workflowBlock][2], "runs-on:", "run-on:", 1)} {
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := exec.CommandContext(t.Context(), *actionlint, "-no-color", file).CombinedOutput()
		if (err == nil) != (name == "workflow") {
			t.Errorf("%s: %v\n%s", name, err, found)
		}
	}
}

// The scripts of the workflow for GitHub Actions end with the exit code of the command. The job plan writes one comment with what the
// command has printed, and replaces it the next time; the job deploy sets the status of the commit.
func TestWorkflowForGitHub(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Shell, Run string }
		}
	}
	blocks := block.FindAllStringSubmatch(read(t, "docs/how-to/github-actions.md"), -1)
	if err := yaml.Unmarshal([]byte(blocks[workflowBlock][2]), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ job, code, earlier, requests string }{
		{"plan", "0", "", "POST repos/o/n/issues/7/comments"},
		{"plan", "0", "41\n42", "PATCH repos/o/n/issues/comments/41"},
		{"plan", "1", "", "POST repos/o/n/issues/7/comments"},
		{"deploy", "0", "", "pending success"},
		{"deploy", "3", "", "pending error"},
		{"deploy", "1", "", "pending failure"},
	} {
		steps := workflow.Jobs[c.job].Steps
		last := steps[len(steps)-1]
		if last.Shell != "bash" || strings.Contains(last.Run, "${{") {
			t.Fatalf("%s: the script is not one for bash, or has an expression that GitHub replaces: %s", c.job, last.Run)
		}
		folder := t.TempDir()
		for name, script := range map[string]string{
			"stackwright": "echo \"$1 ran\"; exit $CODE\n",
			"gh": `case "$*" in
*--paginate*) printf '%s' "$EARLIER" ;;
*statuses/c0ffee*) for a; do case $a in state=*) printf '%s ' "${a#state=}" >> requests ;; esac; done ;;
*PATCH*) echo "PATCH $5" >> requests ;;
*) echo "POST $3" >> requests ;;
esac
`,
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		script := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", last.Run)
		script.Dir = folder
		script.Env = []string{
			"PATH=" + folder + ":" + os.Getenv("PATH"), "CODE=" + c.code, "EARLIER=" + c.earlier, "RUNNER_TEMP=" + folder, "GITHUB_REPOSITORY=o/n", "PULL_REQUEST=7",
			"GITHUB_SHA=c0ffee", "GITHUB_SERVER_URL=https://github.com", "GITHUB_RUN_ID=9",
		}
		output, err := script.CombinedOutput()
		if (err == nil) != (c.code == "0") || err != nil && err.Error() != "exit status "+c.code {
			t.Errorf("%s, exit code %s: %v\n%s", c.job, c.code, err, output)
		}
		requests, err := os.ReadFile(filepath.Join(folder, "requests"))
		if err != nil || strings.TrimSpace(string(requests)) != c.requests {
			t.Errorf("%s, exit code %s: requests %q, want %q: %v", c.job, c.code, requests, c.requests, err)
		}
		if c.job != "plan" {
			continue
		}
		if comment, err := os.ReadFile(filepath.Join(folder, "comment")); err != nil || string(comment) != "<!-- plan of prod -->\nplan ran\n" {
			t.Errorf("%s, exit code %s: the comment is %q, %v", c.job, c.code, comment, err)
		}
	}
}

// The workflows name actions by commits and the command by a version, because tags can be moved. No job that a pull request
// starts has the role of a deploy, unless its environments are those of pull requests.
func TestExamplesOfPipelines(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	found := 0
	for _, page := range []string{"docs/how-to/github-actions.md", "docs/how-to/preview-pull-requests.md"} {
		text := read(t, page)
		for _, used := range regexp.MustCompile(`- uses: (\S+)`).FindAllStringSubmatch(text, -1) {
			if found++; !pinned.MatchString(used[1]) {
				t.Errorf("%s: %s is not named by its commit", page, used[1])
			}
		}
		if strings.Contains(text, "@latest") {
			t.Errorf("%s installs the latest version", page)
		}
	}
	if found < 10 {
		t.Errorf("only %d actions are used", found)
	}
	var workflow struct {
		Jobs map[string]struct {
			If, Environment string
			Permissions     map[string]string
		}
	}
	blocks := block.FindAllStringSubmatch(read(t, "docs/how-to/github-actions.md"), -1)
	if err := yaml.Unmarshal([]byte(blocks[workflowBlock][2]), &workflow); err != nil {
		t.Fatal(err)
	}
	for name, j := range workflow.Jobs {
		if j.Permissions["id-token"] == "write" && !strings.Contains(j.If, "github.event_name == 'push'") && j.Environment != "plan" {
			t.Errorf("a pull request starts the job %s with a token for the environment %q", name, j.Environment)
		}
	}
}

// workflowBlock is the place of the workflow among the blocks of its page.
const workflowBlock = 2
