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
			l.has(l.run("deploy", l.project, "--env", "qa").err, "environments: qa is not listed and fits no pattern: list it, or name another: available: pr-*, prod")
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
