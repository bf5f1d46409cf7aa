package main

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// The audit log has who changed what in the installation, too: targets, and by an event of S3 the access file and policies, put or deleted.
func TestAuditOfInstallation(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.01)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "targets", "add", "near", "--projects", "*@*", "--region", "eu-west-1")
	l.must(cli.ExitOK, "targets", "remove", "near")
	l.must(cli.ExitOK, "access", "put", l.file("grants:\n  - projects: '*@*'\n    role: admin\n    to: [arn: arn:aws:iam::000000000000:root]\n"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, h.URL()+"/"+cli.Name+"/"+access.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	got, err := http.DefaultClient.Do(r)
	if err != nil || got.StatusCode != http.StatusNoContent {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Body.Close()
	want := []string{"deploy -", "delete access/access.yaml 127.0.0.1", "put access/access.yaml 127.0.0.1", "put target near: account 000000000000, region eu-west-1, role none, projects *@* -", "remove target near -"}
	slices.Sort(want)
	var seen []string
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		seen = nil
		for _, e := range l.objects(l.must(cli.ExitOK, "audit", "-o", "json")) {
			from, known := e["from"].(string)
			if !known || e["run"] != nil {
				from = "-"
			}
			if who, _ := e["who"].(string); who == "" {
				t.Errorf("nobody did %v", e)
			}
			seen = append(seen, fmt.Sprint(e["what"], " ", from))
		}
		if slices.Sort(seen); slices.Equal(seen, want) {
			break
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the audit log has %q, want %q", seen, want)
	}
	if table := l.must(cli.ExitOK, "audit"); !strings.Contains(table, "FROM") || !strings.Contains(table, "remove target near") {
		t.Error(table)
	}
	if table := l.must(cli.ExitOK, "audit", "--project", "pair"); strings.Contains(table, "target near") {
		t.Error(table)
	}
}

// A program that accepts server-sent events gets those of a run as they happen, at the address of the page, until the run has ended.
func TestEventsAreStreamed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	how := l.hosting(0.3)
	how.Console = "127.0.0.1:0"
	h, err := host.Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	over := l.start("deploy", l.project)
	defer over(cli.ExitOK)
	for len(l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))) == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	run := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.Page()+"/projects/pair/default/runs/"+run+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	got, err := http.DefaultClient.Do(r)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", got, err)
	}
	defer got.Body.Close()
	var events []string
	for lines := bufio.NewScanner(got.Body); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
			events = append(events, text)
		}
	}
	if n := len(events); n < 6 || events[n-1] != `{"state":"succeeded"}` || !strings.Contains(events[0], `"requested"`) {
		t.Errorf("%d events: %q", n, events)
	}
}
