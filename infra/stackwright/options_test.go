package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// wrong are commands with options that are refused, on a laptop on which the project pair is deployed; PAIR is its folder.
var wrong = []string{
	"plan --only nothing",
	"plan --only 'tag:'",
	"plan --exclude nothing",
	"plan --only topic --exclude topic",
	"plan --only queue --with-dependencies=false --exclude alone,nothing",
	"plan --changed-since nothing",
	"plan --changed-since previous",
	"plan --adopt nothing",
	"plan --max-deletions 0 --env none",
	"plan --out ''",
	"cost --only nothing",
	"cost --link=perhaps",
	"cost --exclude nothing --adopt nobody",
	"cost -o markdown",
	"cost --exit-code",
	"cost --max-deletions few",
	"deploy --only nothing --exclude nobody",
	"deploy --changed-since nothing",
	"deploy --plan missing.plan",
	"deploy --max-deletions few",
	"deploy --skip Topic",
	"plan --skip nothing.Topic --skip topic.Topic",
	"destroy --yes --only nothing",
	"destroy --plan --only topic",
	"check --only nothing",
	"check --exclude nothing",
	"refresh --only topics",
	"drift --only nothing",
	"drift --accept",
	"drift --out accepted",
	"drift --run mfrg",
	"drift --accept --out accepted --run mfrg",
	"drift --plan",
	"drift --revert --exit-code",
	"drift -o markdown",
	"suspend --only nothing",
	"resume --only nothing",
	"adopt --only nothing",
	"prune --only nothing --yes",
	"replace nothing --yes",
	"replace topic --yes --retain Nothing --retain queue:Nothing",
	"replace topic --yes --retain ''",
	"replace topic --yes --max-deletions 0",
	"replace topic --files nowhere --yes",
	"replace topic --yes --exclude topic",
	"replace topic",
	"forget nothing --yes",
	"forget topic --yes",
	"forget topic --yes --exclude nothing",
	"rollback --to nothing",
	"rollback --to current --only nothing",
	"rollback --to current --exclude nothing",
	"rollback --exit-code",
	"rollback --max-deletions some --to current",
	"promote",
	"promote --from default",
	"promote --from default --to default",
	"promote --from default --to pr_1",
	"promote --from default --to pord",
	"promote --from prod --to default",
	"promote --from default --to prod --revision nothing",
	"promote --from default --to prod --max-deletions few",
	"extend",
	"extend --for 2d --until 2030-01-01",
	"extend --for soon",
	"extend --until 2020-01-01",
	"extend --until soon",
	"extend --for 2d",
	"snapshot",
	"snapshot a/b",
	"snapshot monday",
	"snapshots delete mondey --yes",
	"restore mondey",
	"restore monday --only nothing",
	"restore monday --exclude nothing --max-deletions many",
	"diff nothing",
	"revisions --before nothing",
	"revisions --limit 0",
	"why nothing",
	"why topic --only ''",
	"runs --state late",
	"runs --since soon",
	"runs --until soon",
	"runs --sort nothing",
	"runs --limit few",
	"runs --operation deplyo",
	"events --event nothing",
	"events --stack ''",
	"stacks --changed-since soon",
	"stacks --sort nothing",
	"stacks --status ''",
	"stacks --tag ''",
	"stacks --target ''",
	"stacks --stack ''",
	"resources --type ''",
	"resources --physical-id ''",
	"resources --sort nothing",
	"environments --limit few",
	"environments --sort nothing",
	"purge",
	"purge --older-than soon",
	"purge --keep many",
	"purge --older-than 1h --keep -1",
	"targets add org",
	"targets add org --ou ou-1 --except 1 --except 111111111111,111111111111 --region eu-wset-1 --projects shop --role admin --execution-role admin",
	"targets add org --ou r-home --region eu-west-1 --projects '*@*' --role arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator",
	"targets add org --ou ou-home-12345678 --account 111111111111 --region eu-west-1 --projects '*@*' --role 'arn:aws:iam::*:role/stackwright/stackwright-orchestrator'",
	"targets add org --except 111111111111 --region eu-west-1 --projects '*@*' --role 'arn:aws:iam::*:role/stackwright/stackwright-orchestrator'",
	"targets add org --ou '' --region eu-west-1 --projects '*@*'",
	"targets add org --ou ou-home-12345678 --except '' --region '' --role ''",
	"targets add org --ou ou-home-12345678 --region eu-west-1 --projects '*@*' --role 'arn:aws:iam::*:role/stackwright/stackwright-orchestrator'",
	"targets add org --ou ou-home-12345678 --except 111111111111,222222222222 --region eu-west-1 --projects '*@*' --role 'arn:aws:iam::*:role/stackwright/stackwright-orchestrator'",
	"targets add org --account one --region eu-west-1 --projects '*@*'",
	"targets remove org",
}

// general are flags that all commands have, or that take any text.
var general = map[string]bool{
	"installation": true, "api": true, "endpoint": true, "data": true, "seconds": true, "functions": true, "console": true, "output": true,
	"project": true, "env": true, "reason": true, "var": true, "var-file": true, "map": true, "who": true,
}

// A refusal of an option names all that is wrong, and what to do, as testdata/options.txt has it. Each option of the commands that request and show
// operations is in it.
func TestRefusedOptions(t *testing.T) {
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "snapshot", "monday")
	for name, account := range map[string]string{"eu": "111111111111", "us": "222222222222"} { // each with an external ID of its own
		l.must(cli.ExitOK, "targets", "add", name, "--account", account, "--region", "eu-west-1", "--projects", "shop@*", "--role", "arn:aws:iam::"+account+":role/stackwright/stackwright-orchestrator")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sections := commandSections(t)
	t.Chdir(l.project)
	var got strings.Builder
	for _, line := range wrong {
		var args []string
		for _, word := range strings.Fields(line) {
			args = append(args, strings.Trim(word, "'"))
		}
		r := l.run(args...)
		if r.code == cli.ExitOK || r.code == cli.ExitFailed && r.out == "" && r.err == "" {
			t.Errorf("%s ended with %d: %s%s", line, r.code, r.out, r.err)
		}
		text := fmt.Sprintf("$ stackwright %s\n%s%sexit %d\n\n", line, r.out, r.err, r.code)
		text = strings.NewReplacer(l.project, "PAIR", l.data, "DATA").Replace(text)
		for _, v := range varying {
			text = v.is.ReplaceAllString(text, v.say)
		}
		got.WriteString(text)
	}
	golden.Same(t, filepath.Join(here, "testdata", "options.txt"), got.String())

	tried := make(map[string]bool)
	for _, line := range wrong {
		for command, flags := range sections {
			if !strings.HasPrefix(line+" ", command+" ") {
				continue
			}
			for flag, row := range flags {
				tried[row] = tried[row] || strings.Contains(line+" ", "--"+flag+" ") || strings.Contains(line, "--"+flag+"=")
			}
		}
	}
	for command, flags := range sections {
		for flag, row := range flags {
			if is, listed := tried[row]; listed && !is && !general[flag] {
				t.Errorf("no line of %s has a refused value of --%s, as %s has it: %s", "testdata/options.txt", flag, command, row)
			}
		}
	}
}

// valued matches a row of a flag with a value in docs/commands.md.
var valued = regexp.MustCompile("(?m)^\\| `(?:-\\w, )?--([a-z-]+) [A-Z,]+` \\|.*$")

// commandSections are the rows of the flags with values of each command, as docs/commands.md has them.
func commandSections(t *testing.T) map[string]map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]string)
	for _, section := range strings.Split(string(page), "\n### ")[1:] {
		command, text, _ := strings.Cut(section, "\n")
		all[command] = make(map[string]string)
		for _, row := range valued.FindAllStringSubmatch(text, -1) {
			all[command][row[1]] = row[0]
		}
	}
	return all
}
