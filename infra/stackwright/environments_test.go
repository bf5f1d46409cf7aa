package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/stackwright/stackwright/infra/local/host"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// ephemeral is an environment for each name that fits, which expires.
const ephemeral = "environments:\n  pr-*: { like: prod, ttl: 3d }\n"

// An environment that fits a pattern is deployed, listed and extended by the commands, on a laptop and through the API. When it has expired, the sweep
// destroys it.
func TestEnvironments(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*laptop, *host.Host){
		"laptop":       func(t *testing.T) (*laptop, *host.Host) { l := newLaptop(t); return l, l.serve(0.05) },
		"installation": newInstallation,
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t)
			l.edit("stackwright.yaml", "environments:\n", ephemeral)
			l.has(l.run("deploy", l.project, "--env", "qa").err, "environments: qa is not listed and fits no pattern: list it, or name another: available: pr-*, default, prod")
			l.has(l.run("deploy", l.project, "--env", "pr-*").err, "environments: pr-* is a pattern: name an environment that fits it, such as pr-1")
			l.has(l.must(cli.ExitOK, "deploy", l.project, "--env", "pr-7"), "3 created")
			l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")

			l.has(l.must(cli.ExitOK, "environments"), "ENVIRONMENT  PATTERN  EXPIRES", "pair@pr-7    pr-*     20", "pair@prod    -        never                3 ")
			one := l.objects(l.must(cli.ExitOK, "environments", "--env", "pr-7", "-o", "json"))
			lifetime, _ := one[0]["lifetime"].(map[string]any)
			if len(one) != 1 || one[0]["project"] != "pair@pr-7" || one[0]["stacks"] != 3.0 || lifetime["pattern"] != "pr-*" || lifetime["ttl"] != "3d" || !ends(t, lifetime, 72*time.Hour) {
				t.Errorf("%v", one)
			}

			l.has(l.must(cli.ExitOK, "extend", "--project", "pair", "--env", "pr-7", "--for", "4d12h", "--reason", "the demo"), "extend of pair@pr-7 succeeded", "pair@pr-7 lives until 20")
			l.has(l.run("extend", "--project", "pair", "--env", "pr-7", "--for", "1d").out, "pair@pr-7 already lives until")
			l.has(l.run("extend", "--project", "pair", "--env", "prod", "--for", "1d").out, "pair@prod has no end: an environment has one if it was deployed with a ttl")
			l.has(l.run("extend", "--env", "pr-7").err, "give either --for, such as 2d, or --until, such as 2026-03-01, and not both")
			l.has(l.run("extend", "--env", "pr-7", "--for", "1d", "--until", "2099-01-01").err, "give either --for")
			l.has(l.run("extend", "--env", "pr-7", "--for", "soon").err, `--for soon: "soon" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`)
			l.has(l.run("extend", "--env", "pr-7", "--until", "2020-01-01").err, "--until 2020-01-01: this is past")
			if one = l.objects(l.must(cli.ExitOK, "environments", "--env", "pr-7", "-o", "json")); !ends(t, one[0]["lifetime"].(map[string]any), 108*time.Hour) {
				t.Errorf("%v", one)
			}

			l.ages(h, "pair@pr-7")
			l.sweep(h)
			for end := time.Now().Add(patience); strings.Contains(l.must(cli.ExitOK, "environments"), "pr-7"); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal(l.must(cli.ExitOK, "status"))
				}
			}
			l.has(l.must(cli.ExitOK, "runs", "--env", "pr-7"), "destroy    succeeded", "expiry")
			if stacks := l.must(cli.ExitOK, "stacks"); strings.Contains(stacks, "pr-7") || !strings.Contains(stacks, "pair-prod-topic") {
				t.Error(stacks)
			}
		})
	}
}

// ends reports whether a lifetime that was set now ends after a time.
func ends(t *testing.T, lifetime map[string]any, after time.Duration) bool {
	text, _ := lifetime["expires"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Error(err)
	}
	left := time.Until(at)
	return left < after+time.Minute && left > after-10*time.Minute
}

// ages lets an environment expire.
func (l *laptop) ages(h *host.Host, id string) {
	l.Helper()
	store := table.New(dynamodb.NewFromConfig(h.Cloud.Config()), cli.Name)
	is, err := store.Lifetime(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	is.Expires = time.Now().Add(-time.Minute).Truncate(time.Second)
	if err := store.SetLifetime(l.Context(), is); err != nil {
		l.Fatal(err)
	}
}

// sweep sends the event of the sweep's rule to the function start.
func (l *laptop) sweep(h *host.Host) {
	l.Helper()
	event, err := os.ReadFile("../../events/start.sweep.json")
	if err != nil {
		l.Fatal(err)
	}
	out, err := lambda.NewFromConfig(h.Cloud.Config()).Invoke(l.Context(), &lambda.InvokeInput{FunctionName: aws.String("start"), Payload: event})
	if err != nil || out.FunctionError != nil {
		l.Fatal(err, string(out.Payload))
	}
}

// Where the files list environments, and default is not one of them, a command that is about one has to name it.
func TestEnvironmentHasToBeNamed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "  default: {}", "  dev: {}\n  pr-*: {}")
	const name = "the files list environments, and default is not one of them: name one with --env: dev, pr-*, prod"
	for _, args := range [][]string{
		{"deploy"}, {"plan"}, {"cost"}, {"destroy", "--yes"}, {"refresh"}, {"adopt"}, {"prune", "--yes"}, {"suspend"}, {"resume"}, {"render"}, {"graph"},
		{"drift", "--revert"}, {"drift", "--accept", "--out", t.TempDir()}, {"rollback"}, {"extend", "--for", "2d"}, {"snapshots", "prune", "--yes"},
	} {
		r := l.run(append(args, l.project)...)
		if l.has(r.err, name); r.code != cli.ExitRefused {
			t.Errorf("%v ended with %d", args, r.code)
		}
	}
	l.has(l.run("why", "topic", l.project).err, name)
	l.has(l.run("replace", "topic", "--files", l.project, "--yes").err, name)
	l.has(l.must(cli.ExitOK, "validate", l.project), "pair@dev is valid", "pair@pr-1 is valid", "pair@prod is valid")
	if stacks := l.must(cli.ExitOK, "stacks"); strings.Contains(stacks, "pair") {
		t.Error(stacks)
	}
	l.must(cli.ExitOK, "plan", l.project, "--env", "dev")
	l.env["STACKWRIGHT_ENV"] = "dev"
	l.must(cli.ExitOK, "plan", l.project)
}

// A check and a drift detection without --env are about all environments, and so are the lists of revisions and snapshots. Where nothing
// is recorded, an operation about recorded stacks is refused, and names the environments that have some.
func TestOfAllEnvironments(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "  default: {}", "  dev: {}\n  qa: {}")
	for _, command := range []string{"drift", "check"} {
		r := l.run(command, l.project)
		if l.has(r.err, "nothing is recorded for pair, in any environment: deploy it first"); r.code != cli.ExitRefused {
			t.Errorf("%s of nothing ended with %d", command, r.code)
		}
	}
	for _, environment := range []string{"dev", "prod"} {
		l.must(cli.ExitOK, "deploy", l.project, "--env", environment)
		l.must(cli.ExitOK, "snapshot", "monday", "--project", "pair", "--env", environment)
	}
	for _, command := range []string{"drift", "check", "refresh", "suspend", "resume", "destroy", "prune"} {
		args := []string{command, l.project, "--env", "qa"}
		if command == "destroy" || command == "prune" {
			args = append(args, "--yes")
		}
		r := l.run(args...)
		if l.has(r.out, "nothing is recorded for pair@qa: deploy it first, or name an environment of pair that has stacks: pair@dev, pair@prod"); r.code != cli.ExitRefused {
			t.Errorf("%s of nothing ended with %d", command, r.code)
		}
	}
	l.has(l.must(cli.ExitOK, "check", l.project), "check of pair@dev succeeded", "check of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "drift", l.project, "--exit-code"), "drift of pair@dev succeeded", "drift of pair@prod succeeded")
	l.has(l.must(cli.ExitOK, "snapshots", l.project), "pair@dev", "pair@prod")
	l.has(l.must(cli.ExitOK, "revisions", l.project), "pair@dev", "pair@prod")
	if prod := l.must(cli.ExitOK, "revisions", l.project, "--env", "prod"); strings.Contains(prod, "pair@dev") {
		t.Error(prod)
	}
	r := l.run("revisions", l.project, "--limit", "1")
	l.has(r.err, "1 older: stackwright revisions --before ", l.project)
	l.has(l.run("revisions", l.project, "--before", "current").err, "--before current: 2 projects and environments have such a revision: give --project and --env")
}

// A script can give the same flags to all commands.
func TestCommonFlags(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	for _, args := range [][]string{
		{"validate"}, {"plan"}, {"cost"}, {"deploy"}, {"adopt", "--plan"}, {"refresh"}, {"check"}, {"destroy", "--plan"}, {"destroy"},
	} {
		l.must(cli.ExitOK, append(args, l.project, "--yes")...) // and --data
		l.elsewhere = true
		l.must(cli.ExitOK, append([]string{"validate", l.project, "--yes", "--endpoint"}, h.URL())...)
		if args[0] != "destroy" {
			l.must(cli.ExitOK, append(args, l.project, "--yes", "--endpoint", h.URL())...)
		}
		l.elsewhere = false
	}
}
