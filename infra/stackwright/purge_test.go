package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	emulator "github.com/stackwright/stackwright/infra/local/cloudformation"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
)

// After a purge of everything that is old, what is deployed is unchanged, a rollback goes back to the last successful deploy, and the runs that went are no
// longer listed. A second purge finds nothing.
func TestPurgeOfAnInstallation(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "refresh", l.project)
	l.must(cli.ExitOK, "refresh", l.project)
	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	p := purge.Purge{
		Table: table.New(dynamodb.NewFromConfig(h.Cloud.Config()), cli.Name), Bucket: bucket.PurgedBucket{Bucket: bucket.New(objects, cli.Name, cli.Region), Client: objects},
		Now: func() time.Time { return time.Now().Add(100 * 24 * time.Hour) },
	}
	all := func(only bool) purge.Freed {
		t.Helper()
		f, next, err := p.Some(t.Context(), run.Retention{OlderThan: 90 * 24 * time.Hour, Keep: 1}, only, "", time.Hour)
		if err != nil || next != "" {
			t.Fatalf("%q, %v", next, err)
		}
		return f
	}
	shown, done := all(true), all(false)
	if shown.Runs != done.Runs || done.Runs == 0 || done.Versions["specs"] == 0 || shown.Bytes != done.Bytes {
		t.Errorf("shown are %+v, and deleted are %+v", shown, done)
	}
	if again := all(false); again.Runs+len(again.Versions) > 0 {
		t.Errorf("a second purge deletes %+v", again)
	}
	if runs := l.objects(l.must(cli.ExitOK, "runs", "-o", "json")); len(runs) != 4-done.Runs {
		t.Errorf("%d runs are listed, and %d were deleted", len(runs), done.Runs)
	}
	markers, err := objects.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(cli.Name)})
	if err != nil || len(markers.DeleteMarkers) > 0 {
		t.Errorf("delete markers: %d, %v", len(markers.DeleteMarkers), err)
	}
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 3 unchanged")
	l.must(cli.ExitOK, "history", "topic")
	l.edit("stackwright.yaml", "text: goodbye", "text: failing")
	l.fail(h, emulator.Fault{Stack: "pair-topic", Operation: "update", Times: 1})
	l.has(l.must(cli.ExitFailed, "deploy", l.project, "--rollback"), "rollback of pair@default succeeded")
	l.edit("stackwright.yaml", "text: failing", "text: goodbye")
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 3 unchanged")
}

// The command says what it would delete, asks, and is refused without an age that is safe.
func TestPurgeCommand(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, "purge", "--older-than", "90d", "--plan"), "0 runs and 0 versions of objects would be deleted\n")
	l.has(l.must(cli.ExitOK, "purge", "--older-than", "48h", "--keep", "3", "--yes"), "0 runs and 0 versions of objects deleted\n")
	l.has(l.must(cli.ExitOK, "purge", "--older-than", "90d", "--plan", "-o", "json"), `{"plan":true,"run_count":0,"versions":{},"bytes":0}`)
	l.has(l.must(cli.ExitOK, "audit"), "purge: older than 48h0m0s, and not among the newest 3 runs of a project")
	for args, want := range map[string]string{
		"purge":                           "--older-than: say how long ago",
		"purge --older-than 1h --yes":     "give at least 24h",
		"purge --older-than week --yes":   "is not an age",
		"purge --older-than 90d":          "confirm it: confirm with --yes",
		"purge --older-than 90d --keep 0": "keep at least 1 run",
	} {
		if r := l.run(strings.Fields(args)...); r.code != cli.ExitRefused || !strings.Contains(r.err, want) {
			t.Errorf("%s: %d %s", args, r.code, r.err)
		}
	}
}
