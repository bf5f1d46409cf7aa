package main

import (
	"encoding/json"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A deploy creates schedules, schedules shows when each starts its next run, and a
// destroy deletes them.
func TestSchedules(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "project: pair\n", `project: pair
schedules:
  new_year: { operation: destroy, once: 2198-12-31T18:00:00, time_zone: Europe/Berlin }
  often: { operation: refresh, rate: 90 minutes }
`)
	l.must(cli.ExitOK, "plan", l.project)
	if text := l.must(cli.ExitOK, "schedules"); strings.Count(text, "\n") != 1 {
		t.Errorf("before the deploy there are\n%s", text)
	}
	before := time.Now()
	l.must(cli.ExitOK, "deploy", l.project)
	text := l.must(cli.ExitOK, "schedules")
	l.has(text, "SCHEDULE  PROJECT       OPERATION  EXPRESSION", "new_year  pair@default  destroy    at(2198-12-31T18:00:00)  Europe/Berlin  2198-12-31 18:00:00 CET")
	if !regexp.MustCompile(`often +pair@default +refresh +rate\(90 minutes\) +UTC +20`).MatchString(text) {
		t.Errorf("shown are\n%s", text)
	}
	var often struct {
		Schedule string
		Next     time.Time
	}
	lines := strings.Split(strings.TrimSpace(l.must(cli.ExitOK, "schedules", "--project", "pair", "-o", "json")), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &often); err != nil || len(lines) != 2 {
		t.Fatal(err, lines)
	}
	if in := often.Next.Sub(before); often.Schedule != "often" || in < 89*time.Minute || in > 92*time.Minute {
		t.Errorf("%+v comes up in %s", often, in)
	}
	l.must(cli.ExitOK, "destroy", l.project, "--yes")
	if text := l.must(cli.ExitOK, "schedules"); strings.Count(text, "\n") != 1 {
		t.Errorf("after the destroy there are\n%s", text)
	}
}

// While serve runs, schedules start their runs, and one with a single time only once.
func TestScheduleComesUp(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\nschedules: { end: { operation: destroy, cron: 0 18 31 12 ? 2198 } }\n")
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	if !h.Cloud.Schedules.Fire(cli.Name, "pair.default.end") {
		t.Fatal("there is no such schedule")
	}
	var id string
	for id == "" {
		for _, r := range l.objects(l.must(cli.ExitOK, "runs", "-o", "json")) {
			if r["who"] == "schedule end" {
				id = r["run"].(string)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	l.has(l.must(cli.ExitOK, "status", id, "--follow"), "destroy of pair@default succeeded", "3 deleted")
	l.has(l.must(cli.ExitOK, "schedules"), "end       pair@default  destroy")
}
