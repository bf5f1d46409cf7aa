package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/infra/local/host"
	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/format/archive"
)

// An asker sends requests to the API at a URL.
type asker struct {
	*testing.T
	url string
	key string // an access key; any that STS has not issued is that of the root of the account
}

// received is an answer of the API.
type received struct {
	report.Run
	Runs         []report.Run
	Before       string
	Kind, Detail string

	Status   int    `json:"-"`
	Location string `json:"-"`
	text     string
}

// ask sends a request, with an idempotency key unless that is "".
func (a asker) ask(method, path, body, key string) received {
	a.Helper()
	r, err := http.NewRequestWithContext(a.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+a.key+"/20260101/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0")
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.Fatal(err)
	}
	h := received{Status: answer.StatusCode, Location: answer.Header.Get("Location"), text: string(text)}
	if err := json.Unmarshal(text, &h); err != nil {
		a.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
	return h
}

// until reads a run until it has a state.
func (a asker) until(path, state string) received {
	a.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		h := a.ask("GET", path, "", "")
		if string(h.State) == state {
			return h
		}
	}
	a.Fatalf("%s is never %s", path, state)
	return received{}
}

// revision uploads the laptop's project under a key that starts no run, and returns the
// body of a request for a run of it.
func (l *laptop) revision(h *host.Host, operation string) string {
	l.Helper()
	files, err := archive.Open(l.project)
	if err != nil {
		l.Fatal(err)
	}
	body, err := archive.Pack(files)
	if err != nil {
		l.Fatal(err)
	}
	const key = "revisions/pair/prod/1.zip"
	version, err := objects(h).Put(l.Context(), key, body)
	if err != nil {
		l.Fatal(err)
	}
	return `{"operation":"` + operation + `","key":"` + key + `","version":"` + version + `"}`
}

// objects is the bucket of a host.
func objects(h *host.Host) *bucket.Bucket {
	return bucket.New(s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true }), cli.Name, cli.Region)
}

// A program starts a run, sends the request again because it lost the answer, reads the
// run, pauses it, continues it, and reads its end. Invalid requests get an error.
func TestRunByTheAPI(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.5)
	carriesOut(t, l, h)
	a := asker{T: t, url: h.URL(), key: "local"}
	if wrong := a.ask("POST", "/projects/pair/prod/runs", `{"operation":"deploy"}`, ""); wrong.Status != 400 || !strings.HasPrefix(wrong.Detail, "key: missing") {
		t.Errorf("%d %s", wrong.Status, wrong.text)
	}
	if wrong := a.ask("GET", "/projects/pair/prod/runs/abcdefghijklmnopqrs2", "", ""); wrong.Status != 404 || wrong.Kind != "Missing" {
		t.Errorf("%d %s", wrong.Status, wrong.text)
	}
	last := l.must(cli.ExitOK, "runs", "-o", "json")
	if n := strings.Count(last, "\n"); n != 1 {
		t.Errorf("what is wrong made a run: there are %d", n)
	}
	page := a.ask("GET", "/projects/pair/prod/runs?limit=1", "", "")
	if len(page.Runs) != 1 || page.Before != page.Runs[0].Run {
		t.Errorf("the list is %s", page.text)
	}
	if rest := a.ask("GET", "/projects/pair/prod/runs?before="+page.Before, "", ""); len(rest.Runs) > 0 || rest.Status != 200 {
		t.Errorf("the rest of it is %d %s", rest.Status, rest.text)
	}
}

// carriesOut makes a deploy through the API.
func carriesOut(t *testing.T, l *laptop, h *host.Host) {
	t.Helper()
	a := asker{T: t, url: h.URL(), key: "local"}
	body := l.revision(h, "deploy")
	startedAt := a.ask("POST", "/projects/pair/prod/runs", body, "first")
	if startedAt.Status != 202 || startedAt.Location != "/projects/pair/prod/runs/"+startedAt.Run.Run || startedAt.Who != "arn:aws:iam::000000000000:root" {
		t.Fatalf("%d %s %s", startedAt.Status, startedAt.Location, startedAt.text)
	}
	paused := a.ask("POST", startedAt.Location+"/pause", `{"reason":"a check"}`, "p")
	if paused.Status != 202 || paused.Command != "pause" || paused.Run.Run != startedAt.Run.Run {
		t.Fatalf("%d %s", paused.Status, paused.text)
	}
	a.until(startedAt.Location, "waiting")
	if again := a.ask("POST", "/projects/pair/prod/runs", body, "first"); again.Status != 202 || again.Run.Run != startedAt.Run.Run {
		t.Errorf("the repeated request got %d %s", again.Status, again.text)
	}
	if other := a.ask("POST", "/projects/pair/prod/runs", `{"operation":"destroy"}`, "first"); other.Status != 409 {
		t.Errorf("the key of another request is answered %d %s", other.Status, other.text)
	}
	if on := a.ask("POST", startedAt.Location+"/continue", `{}`, "p"); on.Status != 202 || on.Command != "continue" {
		t.Errorf("%d %s", on.Status, on.text)
	}
	if late := a.ask("POST", startedAt.Location+"/pause", `{"reason":"a check"}`, "p"); late.Status != 202 || late.Command != "continue" {
		t.Errorf("a pause that comes a second time is answered %d %s", late.Status, late.text)
	}
	ended := a.until(startedAt.Location, "succeeded")
	if len(ended.Steps) != 3 || ended.Lock != nil {
		t.Errorf("it ends as %s", ended.text)
	}
	if d := cmp.Diff(l.must(cli.ExitOK, "status", startedAt.Run.Run, "-o", "json"), ended.text); d != "" {
		t.Errorf("the command shows another run: %s", d)
	}
	if stop := a.ask("POST", startedAt.Location+"/cancel", `{}`, ""); stop.Status != 409 || !strings.Contains(stop.Detail, "has ended (succeeded)") {
		t.Errorf("a command that comes too late is answered %d %s", stop.Status, stop.text)
	}
	if list := a.ask("GET", "/projects/pair/prod/runs", "", ""); len(list.Runs) != 1 || list.Runs[0].Run != startedAt.Run.Run {
		t.Errorf("the runs are %s", list.text)
	}
}

// The deployed binary of the function works like the function in this process.
func TestRunByTheAPIWithBinaries(t *testing.T) {
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	how := l.hosting(0.5)
	how.Functions = "binaries"
	h, err := host.Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	carriesOut(t, l, h)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// The curl commands of the documentation work.
func TestCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl on this machine")
	}
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	curl := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := exec.Command("curl", append([]string{"-sS", "--noproxy", "*"}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("curl %s: %v\n%s", strings.Join(args, " "), err, out.String())
		}
		return strings.TrimSpace(out.String())
	}
	signed := []string{"--aws-sigv4", "aws:amz:us-east-1:execute-api", "--user", "local:local"}
	if got := curl(append(signed, h.URL()+"/projects/shop/prod/runs")...); !strings.Contains(got, `"detail":"there is no shop@prod: it has had no run"`) {
		t.Errorf("the answer is %s", got)
	}
	runs := h.URL() + "/projects/pair/default/runs"
	if got := curl(append(signed, "-H", "content-type: application/json", "-d", `{"operation":"refresh"}`, runs)...); !strings.Contains(got, `"operation":"refresh"`) {
		t.Errorf("the answer is %s", got)
	}
	if got := curl(append(signed, "-d", `{"operation":"refresh"}`, runs)...); !strings.Contains(got, "send JSON, as application/json") {
		t.Errorf("the answer is %s", got)
	}
	if got := curl(append(signed, h.URL()+"/nothing")...); !strings.Contains(got, `"status":404`) || !strings.Contains(got, `there is no route for GET \"/nothing\"`) {
		t.Errorf("the answer is %s", got)
	}
	if got := curl("-H", "Host: stackwright.execute-api.localhost", runs); got != `{"message":"Forbidden"}` {
		t.Errorf("unsigned it is answered %s", got)
	}
}
