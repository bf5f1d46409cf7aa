package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/hook"
)

// A receiver is a web server that is too busy for its first request.
type receiver struct {
	mu       sync.Mutex
	requests int
	headers  []map[string]string
	bodies   [][]byte
}

// Post implements notify.Servers.
func (r *receiver) Post(_ context.Context, url string, header map[string]string, body []byte) (notify.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests++; r.requests == 1 {
		return notify.Answer{Status: 503}, nil
	}
	if url == "https://ops.example.com/stackwright" {
		r.headers, r.bodies = append(r.headers, header), append(r.bodies, bytes.Clone(body))
	}
	return notify.Answer{Status: 204}, nil
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bodies)
}

// object is the content of an object of the installation's bucket.
func (l *laptop) object(h *host.Host, key string) ([]byte, error) {
	got, err := sdk.NewFromConfig(h.Cloud.Config(), func(o *sdk.Options) { o.UsePathStyle = true }).GetObject(l.Context(), &sdk.GetObjectInput{Bucket: aws.String(cli.Name), Key: &key})
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	return io.ReadAll(got.Body)
}

// write writes a file into the data folder.
func (l *laptop) write(name, text string) {
	l.Helper()
	at := filepath.Join(l.data, name)
	err := os.MkdirAll(filepath.Dir(at), 0o700)
	if err == nil {
		err = os.WriteFile(at, []byte(text), 0o600)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// The events of runs are delivered to the web servers that the file notify names, signed with a secret of the folder secrets: those of
// the named states, each once. Nothing else has the secret.
func TestNotify(t *testing.T) {
	t.Parallel()
	const secret = "4f1c0d9be57a4f3c8d2e6b7a90c1d2e3"
	l, to := newLaptop(t), &receiver{}
	l.servers = to
	l.write("secrets/ops", secret+"\n")
	l.write("notify", "# ours\nops;webhook=https://ops.example.com/stackwright;secret=arn:aws:secretsmanager:us-east-1:000000000000:secret:ops-AbCdEf;projects=pair@*;states=succeeded+failed\n"+
		"others;webhook=https://other.example.com/;secret=arn:aws:secretsmanager:us-east-1:000000000000:secret:none-AbCdEf;projects=other@*\nreports;report=html\n")
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.must(cli.ExitOK, "destroy", l.project, "--yes")
	patience := time.After(time.Minute)
	for to.count() < 2 {
		select {
		case <-patience:
			t.Fatalf("%d events were delivered\n%s", to.count(), l.log())
		case <-time.After(20 * time.Millisecond):
		}
	}
	states := make(map[string]bool)
	for n, body := range to.bodies {
		var got struct {
			ID     string
			Detail struct{ Project, Operation, State, Run string }
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		states[got.Detail.Operation+" "+got.Detail.State] = true
		signature := to.headers[n][hook.SignatureHeader]
		at, err := strconv.ParseInt(strings.TrimPrefix(strings.Split(signature, ",")[0], "t="), 10, 64)
		if err != nil || signature != hook.Sign([]byte(secret), time.Unix(at, 0), body) || to.headers[n][hook.IdempotencyHeader] != got.ID || got.Detail.Project != "pair@default" {
			t.Errorf("%v: %s, %v", to.headers[n], body, err)
		}
	}
	if len(states) != 2 || !states["deploy succeeded"] || !states["destroy succeeded"] {
		t.Errorf("delivered %v", states)
	}
	for _, r := range l.objects(l.must(cli.ExitOK, "runs", "-o", "json")) {
		id := r["run"].(string)
		for {
			text, err := l.object(h, s3.ReportKey("pair@default", id))
			if err == nil {
				if got := string(text); !strings.Contains(got, id) || !strings.Contains(got, "succeeded") || !strings.Contains(got, "<svg") || strings.Contains(got, "<script") {
					t.Errorf("the report of %s is %.500s", id, got)
				}
				break
			}
			select {
			case <-patience:
				t.Fatalf("there is no report of %s: %v\n%s", id, err, l.log())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	err := filepath.WalkDir(l.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, filepath.Join("secrets", "ops")) {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A file notify that cannot be read is refused before anything starts, with its name.
func TestNotifyFileIsWrong(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.write("notify", "ops;webhook=http://ops.example.com/\n")
	r := l.run("deploy", l.project)
	if r.code == cli.ExitOK {
		t.Error("it was deployed")
	}
	l.has(r.out+r.err, filepath.Join(l.data, "notify")+": notify: destination 1, ops: ", "it has no secret")
}
