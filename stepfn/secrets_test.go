package stepfn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	canary  = "canary7f3e9a51"  // the value of every secret
	visible = "visible20c4d8b6" // a value that is not secret
	literal = "literal55d0b7c2" // a value that the project gives to a NoEcho parameter
)

// vault resolves the references of Secrets Manager and the parameter store. Only it
// knows the canary.
func vault(ref template.Dynamic) (string, bool) {
	switch {
	case ref.Service == template.Secrets && ref.Name == "prod/db":
		return `{"password": "` + canary + `"}`, true
	case ref.Name == "/prod/db":
		return canary, true
	}
	return "", false
}

// secretive is a project with a database that gets secrets in every possible way, and
// an app that gets the outputs of the database.
var secretive = archive.Files{
	"stackwright.yaml": []byte(`project: shop
stacks:
  db:
    template: db.yaml
    parameters:
      Password: ${secret:prod/db#password}
      Whole: ${secret:prod/db}
      Secure: ${ssm-secure:/prod/db}
      Plain: ${ssm:/prod/db:1}
      Url: postgres://app:${secret:prod/db#password}@${stack:db}/app
      Size: ` + visible + `
  app:
    template: app.yaml
    parameters:
      Password: ${db.Password}
      Url: ${db.Url}
      Size: ${db.Size}
`),
	"db.yaml": []byte(`Parameters:
  Password: {Type: String, NoEcho: true}
  Whole: {Type: String, NoEcho: true}
  Secure: {Type: String, NoEcho: true}
  Plain: {Type: String}
  Url: {Type: String, NoEcho: true}
  Size: {Type: String}
Resources:
  DB:
    Type: AWS::RDS::DBInstance
    Properties:
      DBInstanceClass: !Ref Size
      MasterUserPassword: !Ref Password
      Tags: [{Key: whole, Value: !Ref Whole}, {Key: plain, Value: !Ref Plain}, {Key: url, Value: !Ref Url}]
  Cluster:
    Type: AWS::RDS::DBCluster
    Properties: {MasterUserPassword: !Ref Secure}
Outputs:
  Password: {Value: !Ref Password}
  Url: {Value: !Ref Url}
  Size: {Value: !Ref Size}
`),
	"app.yaml": []byte(`Parameters: {Password: {Type: String, NoEcho: true}, Url: {Type: String, NoEcho: true}, Size: {Type: String}}
Resources:
  Service:
    Type: AWS::ECS::TaskDefinition
    Properties: {Cpu: !Ref Size, ContainerDefinitions: [{Name: app, Image: app, Environment: [{Name: P, Value: !Ref Password}, {Name: U, Value: !Ref Url}]}]}
`),
}

// with returns a project with some words of its files replaced.
func with(files archive.Files, words ...string) archive.Files {
	changed := make(archive.Files)
	for name, body := range files {
		changed[name] = []byte(strings.NewReplacer(words...).Replace(string(body)))
	}
	return changed
}

// No log, request, answer, item, object, history, event, line of output or value
// contains a secret, however the run ends.
func TestSecretsAreNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorded(t)
		id := r.deploy(secretive, run.StateSucceeded)
		r.deploy(secretive, run.StateSucceeded)
		r.checkParameter("db", "Password", "****")

		updates := r.cloud.Stacks.Calls()["UpdateStack"]
		r.deploy(secretive, run.StateSucceeded)
		if got := r.cloud.Stacks.Calls()["UpdateStack"] - updates; got != 2 {
			t.Errorf("a deploy without changes sent %d UpdateStack requests, want 2: for the stack that has secrets without a version, and for the one that gets them as outputs", got)
		}
		r.deploy(with(secretive, visible, visible+"x"), run.StateSucceeded)
		r.inject(local.Fault{Stack: "shop-db", Operation: "update", Reason: "injected", Times: 1})
		failed := r.deploy(with(secretive, visible, visible+"y"), run.StateFailed)
		r.follow("retry", failed, run.StateSucceeded)
		r.deploy(with(secretive, "#password", "#none"), run.StateFailed)
		r.deploy(with(secretive, "${ssm-secure:/prod/db}", literal), run.StateRefused)
		r.preview(secretive)
		r.follow("refresh", "", run.StateSucceeded)
		r.items()
		r.follow("destroy", "", run.StateSucceeded)

		r.collect()
		for where, expected := range map[string]string{
			"log": id, "request": visible, "answer": visible, "table": visible, "object": visible, "history": id, "event": id, "output": id, "value": visible,
		} {
			if !r.contains(where, expected) {
				t.Errorf("%s does not contain %s: is anything traced there?", where, expected)
			}
			if r.contains(where, canary) {
				t.Errorf("%s contains a secret", where)
			}
			if where != "object" && where != "answer" && r.contains(where, literal) { // the user put it into the object, which is read once
				t.Errorf("%s contains the value of a NoEcho parameter", where)
			}
		}
	})
}

// If AWS shows a secret, it is found at every place that it reaches: the test above
// would fail.
func TestLeakedSecretsAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorded(t)
		open := with(secretive, "Url: {Value: !Ref Url}", "Url: {Value: !GetAtt DB.MasterUserPassword}")
		r.deploy(open, run.StateSucceeded)
		r.inject(local.Fault{Stack: "shop-db", Operation: "update", Reason: "not " + canary, Times: 1})
		r.deploy(with(open, visible, visible+"x"), run.StateFailed)
		r.collect()
		for _, where := range []string{"request", "answer", "table", "event", "output", "value"} {
			if !r.contains(where, canary) {
				t.Errorf("%s: the secret is not found", where)
			}
		}
	})
}

// deploy uploads a project and waits for the end of the run.
func (r *recorded) deploy(files archive.Files, want run.State) string {
	r.Helper()
	body, err := archive.Pack(files)
	if err != nil {
		r.Fatal(err)
	}
	const key = "projects/shop/default.zip"
	id := engine.RunID("stackwright", key, r.put(key, body))
	r.emulators.requested = append(r.emulators.requested, id)
	return r.ends(id, want)
}

// preview requests the plan of a project.
func (r *recorded) preview(files archive.Files) {
	r.Helper()
	body, err := archive.Pack(files)
	if err != nil {
		r.Fatal(err)
	}
	const key, request = "revisions/shop/default/1.zip", "requests/shop/default/preview.json"
	version := r.put(key, body)
	requested := r.put(request, fmt.Appendf(nil, `{"operation": "plan", "key": %q, "version": %q}`, key, version))
	id := engine.RunID("stackwright", request, requested)
	r.emulators.requested = append(r.emulators.requested, id)
	r.ends(id, run.StateSucceeded)
}

// follow requests an operation that needs no files.
func (r *recorded) follow(operation, of string, want run.State) string {
	r.Helper()
	var w stacks
	return r.ends(r.Submit(operation, w, of), want)
}

// ends waits for the end of a run, and shows it in every possible way.
func (r *recorded) ends(id string, want run.State) string {
	r.Helper()
	if !r.WaitIdle() {
		r.Fatal("the run never ends")
	}
	got := r.ExecutionStatus(id)
	if got.State != want {
		r.Errorf("run %s %s: %s %v", got.Operation, id, got.State, got.Messages)
		for _, s := range got.Steps {
			r.Logf("%-20s %-8s %s", s.ID, s.Status, s.Why)
		}
	}
	r.show(got)
	return id
}

// checkParameter checks the value that CloudFormation shows for a parameter.
func (r *recorded) checkParameter(name, parameter, want string) {
	r.Helper()
	if _, all := r.Deployed(name); all[parameter] != want {
		r.Errorf("CloudFormation shows %q for parameter %s of %s, want %q", all[parameter], parameter, name, want)
	}
}

// contains reports whether a kind of place contains a text or its base64.
func (r *recorded) contains(where, text string) bool {
	r.trace.mu.Lock()
	defer r.trace.mu.Unlock()
	body := r.trace.text[where].String()
	return slices.ContainsFunc(forms(text), func(form string) bool { return strings.Contains(body, form) })
}
