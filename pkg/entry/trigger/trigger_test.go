package trigger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An object answers with its text, or its error.
type object struct {
	text string
	err  error
	who  string // in the metadata
	none error  // of reading the metadata
}

// Object returns the object, whatever its key and version.
func (o object) Object(context.Context, string, string) ([]byte, error) { return []byte(o.text), o.err }

// Who returns who put the object, whatever its key and version.
func (o object) Who(context.Context, string, string) (string, error) { return o.who, o.none }

// put is the event of an object that was put.
func put(t testing.TB, key string) events.EventBridgeEvent {
	t.Helper()
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	var e events.EventBridgeEvent
	err = json.Unmarshal(fmt.Appendf(nil, `{"version":"0","id":"e1","detail-type":"Object Created","source":"aws.s3","account":"111122223333","time":"2026-03-01T12:00:00Z",
		"region":"us-east-1","resources":["arn:aws:s3:::stackwright"],"detail":{"version":"0","bucket":{"name":"stackwright"},
		"object":{"key":%s,"size":5,"etag":"e","version-id":"v1","sequencer":"0A"},"request-id":"r","requester":"111122223333","reason":"PutObject"}}`, quoted), &e)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// An upload is a deploy of the project and the environment that its key names.
func TestUpload(t *testing.T) {
	for _, ending := range []string{".zip", ".tar.gz", ".yaml", ".yml"} {
		key := "projects/shop/prod" + ending
		got, err := trigger.Request(t.Context(), put(t, key), object{who: "ann@laptop"})
		if err != nil {
			t.Fatal(err)
		}
		want := run.Request{
			ID: engine.RunID("stackwright", key, "v1"), Project: "shop@prod", Operation: "deploy", Source: run.Source{Key: key, Version: "v1"},
			Who: "unknown principal of account 111122223333", Claim: "ann@laptop", Requester: "111122223333", Upload: true, Sequencer: "0A",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// An object whose key does not name a project and an environment makes a run that
// is refused and says which keys do. The run is listed under the project that the key
// was probably meant for.
func TestWrongKeyMakesARefusedRun(t *testing.T) {
	for key, want := range map[string]string{
		"projects/shop/prod.txt": "shop@prod", "projects/shop/prod": "shop@prod", "projects/shop/prod.ZIP": "shop@prod", "projects/shop/prod/x.zip": "shop@prod",
		"projects/shop/prod.zip/": "shop@prod", "requests/shop/prod.json": "shop@prod", "requests/shop/prod/.json": "shop@prod", "requests/shop/prod/x.yaml": "shop@prod",
		"projects/shop.zip": "shop@default", "projects/shop/.zip": "shop@default", "projects/shop/..zip": "shop@default", "projects/shop/pr od.zip": "shop@default",
		"projects/shop/pr%6Fd.zip": "shop@default", "projects/shop/../prod.zip": "shop@default", "requests/shop/../x.json": "shop@default",
		"projects/shop/" + strings.Repeat("x", 65) + ".zip": "shop@default",
		"projects//prod.zip": trigger.Unnamed, "projects/../prod.zip": trigger.Unnamed, "projects/1shop/prod.zip": trigger.Unnamed, "projects/shop@x/prod.zip": trigger.Unnamed, "projects/": trigger.Unnamed,
	} {
		q, err := trigger.Request(t.Context(), put(t, key), object{text: "{}"})
		if err != nil || q.Project != want || q.ID != engine.RunID("stackwright", key, "v1") || q.Upload || len(q.Problems) != 1 || !strings.Contains(q.Problems[0], "upload a project to projects/") {
			t.Errorf("%s: %+v, %v", key, q, err)
		}
	}
}

// An object elsewhere starts nothing.
func TestOtherKeys(t *testing.T) {
	for _, key := range []string{"/projects/shop/prod.zip", "Projects/shop/prod.zip", "templates/abc", "revisions/shop/prod/abc.zip", "x"} {
		_, err := trigger.Request(t.Context(), put(t, key), object{text: "{}"})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "upload a project to projects/") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// An event that is not what it should be is refused.
func TestOtherEvents(t *testing.T) {
	for want, change := range map[string]func(*events.EventBridgeEvent){
		"only":                    func(e *events.EventBridgeEvent) { e.DetailType = "Object Deleted" },
		`of "somebody"`:           func(e *events.EventBridgeEvent) { e.Source = "somebody" },
		"detail of this S3 event": func(e *events.EventBridgeEvent) { e.Detail = json.RawMessage(`[]`) },
		"no bucket.name": func(e *events.EventBridgeEvent) {
			e.Detail = json.RawMessage(`{"object":{"key":"k","version-id":"v"}}`)
		},
		"no object.key": func(e *events.EventBridgeEvent) { e.Detail = json.RawMessage(`{"bucket":{"name":"b"}}`) },
		"turn on versioning": func(e *events.EventBridgeEvent) {
			e.Detail = json.RawMessage(`{"bucket":{"name":"b"},"object":{"key":"k"}}`)
		},
	} {
		e := put(t, "projects/shop/prod.zip")
		change(&e)
		if _, err := trigger.Request(t.Context(), e, nil); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

const (
	zip  = `"key":"revisions/shop/prod/0a.zip","version":"v7"`
	that = `"run":"abcdefghijklmnopqrs2"`
)

// A request is what its object says.
func TestRequests(t *testing.T) {
	source := run.Source{Key: "revisions/shop/prod/0a.zip", Version: "v7"}
	for text, want := range map[string]run.Request{
		`{"operation":"plan",` + zip + `}`:                                        {Operation: "plan", Source: source},
		`{"operation":"deploy","key":"projects/shop/prod.tar.gz","version":"v7"}`: {Operation: "deploy", Source: run.Source{Key: "projects/shop/prod.tar.gz", Version: "v7"}},
		`{"operation":"destroy"}`:                                                 {Operation: "destroy"},
		`{"operation":"destroy",` + zip + `,"options":{}}`:                        {Operation: "destroy", Source: source},
		` {"operation":"refresh","options":{"who":"ann"}} ` + "\n":                {Operation: "refresh", Claim: "ann"},
		`{"operation":"forget","options":{"only":["db"],"reason":"it moves"}}`:    {Operation: "forget", Options: run.Options{Selection: plan.Selection{Only: []string{"db"}}, Reason: "it moves"}},
		`{"operation":"deploy",` + zip + `,"options":{"only":["a*"],"exclude":["tag:team=shop"],"with_dependencies":false,"with_dependents":true,"changed_since":"abcdefghijklmnopqrs2"}}`: {
			Operation: "deploy", Source: source, Options: run.Options{Selection: plan.Selection{Only: []string{"a*"}, Exclude: []string{"tag:team=shop"}, WithDependencies: new(false), WithDependents: true, ChangedSince: "abcdefghijklmnopqrs2"}},
		},
		`{"operation":"extend","options":{"for":"1d12h","reason":"the demo"}}`:           {Operation: "extend", Options: run.Options{For: project.TTL(36 * time.Hour), Reason: "the demo"}},
		`{"operation":"extend","options":{"until":"2026-03-01T12:00:00Z"}}`:              {Operation: "extend", Options: run.Options{Until: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}},
		`{"operation":"destroy","options":{"exclude":["a"]}}`:                            {Operation: "destroy", Options: run.Options{Selection: plan.Selection{Exclude: []string{"a"}}}},
		`{"operation":"retry","options":{` + that + `,"force":true}}`:                    {Operation: "retry", Of: "abcdefghijklmnopqrs2", Options: run.Options{Force: true}},
		`{"operation":"cancel","options":{` + that + `,"force":true}}`:                   {Operation: "cancel", Of: "abcdefghijklmnopqrs2", Options: run.Options{Force: true}},
		`{"operation":"deploy",` + zip + `,"options":{"max_deletions":0}}`:               {Operation: "deploy", Source: source, Options: run.Options{MaxDeletions: new(0)}},
		`{"operation":"retry","options":{` + that + `,"max_deletions":7}}`:               {Operation: "retry", Of: "abcdefghijklmnopqrs2", Options: run.Options{MaxDeletions: new(7)}},
		`{"operation":"pause","key":"","version":"","options":{` + that + `,"who":"b"}}`: {Operation: "pause", Of: "abcdefghijklmnopqrs2", Claim: "b"},
		`{"operation":"continue","options":{` + that + `}}`:                              {Operation: "continue", Of: "abcdefghijklmnopqrs2"},
		`{"operation":"cancel","options":{` + that + `}}`:                                {Operation: "cancel", Of: "abcdefghijklmnopqrs2"},
	} {
		key := "requests/shop/prod/20260301T120000Z-abc.json"
		want.ID, want.Project = engine.RunID("stackwright", key, "v1"), "shop@prod"
		if want.Requester = "111122223333"; want.Who == "" {
			want.Who = "unknown principal of account 111122223333"
		}
		got, err := trigger.Request(t.Context(), put(t, key), object{text: text})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// A request that makes no sense becomes a run that is refused, and says all
// that is wrong.
func TestProblems(t *testing.T) {
	all := strings.Join(append(plan.AllOperations().Requestable(), "pause", "continue", "cancel", "approve", "reject", "unlock"), ", ")
	for text, want := range map[string][]string{
		``:                                     {"the request is empty: send a JSON object"},
		`{`:                                    {"the request is not valid JSON: unexpected EOF"},
		`[]`:                                   {"the request: a list found, an object expected"},
		`{"operation":"deploy",` + zip + `}{}`: {"the request is not valid JSON: there is more text behind the first value"},
		`{"opreation":"deploy"}`:               {`"opreation" is not a key of a request: did you mean operation?`, "operation: missing: write one of " + all},
		`{"operation":"deploy","wait":1}`:      {`"wait" is not a key of a request: available: key, operation, options, version`, "key: missing: a deploy needs the key of the configuration's object"},
		`{"operation":"refresh","options":{"max_deletion":1,"forced":true}}`: {
			`"options.max_deletion" is not a key of a request: did you mean max_deletions?`, `"options.forced" is not a key of a request: did you mean force?`,
		},
		`{"operation":"plan","operation":"destroy"}`:              {"operation: this key occurs twice: keep one of them", "key: missing: a plan needs the key of the configuration's object"},
		`{"operation":"destroy","options":{"who":"a","WHO":"b"}}`: {`"options.WHO" is not a key of a request: did you mean who?`},
		`{"operation":7,"options":[]}`:                            {"operation: the number 7 found, a string expected", "options: a list found, an object expected"},
		`{"operation":"destroy","options":{"only":"vpc","refuse":"yes","run":1,"who":{}}}`: {
			"options.only: a string found, a list of strings expected", "options.refuse: a string found, true or false expected",
			"options.run: the number 1 found, a string expected", "options.who: an object found, a string expected",
		},
		`{"operation":"deploy",` + zip + `,"options":{"max_deletions":1.5}}`: {"options.max_deletions: the number 1.5 found, a whole number expected"},
		`{}`:                                  {"operation: missing: write one of " + all},
		`{"operation":"weekly"}`:              {`operation: there is no operation "weekly": available: ` + all},
		`{"operation":"destory"}`:             {`operation: there is no operation "destory": did you mean destroy?`},
		`{"operation":"rollback"}`:            {`operation: there is no operation "rollback": available: ` + all},
		`{"operation":"deploy"}`:              {"key: missing: a deploy needs the key of the configuration's object"},
		`{"operation":"plan","version":"v1"}`: {"key: missing: a plan needs the key of the configuration's object", "version: a version without a key: give the key too"},
		`{"operation":"plan","key":"projects/shop/prod.zip"}`:                                    {"version: missing: give the version of projects/shop/prod.zip"},
		`{"operation":"plan","key":"projects/shop/test.zip","version":"1"}`:                      {`key: "projects/shop/test.zip" belongs to shop@test, and this request is for shop@prod: send it to shop@test`},
		`{"operation":"destroy","key":"revisions/other/prod/x.zip","version":"1"}`:               {`key: "revisions/other/prod/x.zip" belongs to other@prod, and this request is for shop@prod: send it to other@prod`},
		`{"operation":"plan","key":"revisions/shop/prod/../x.zip","version":"1"}`:                {`key: "revisions/shop/prod/../x.zip" is not a configuration: the key is projects/<project>/<environment>.zip or revisions/<project>/<environment>/<name>.zip (or .tar.gz, .yaml, .yml)`},
		`{"operation":"rollback-to",` + zip + `}`:                                                {"key: a rollback-to deploys the files of a revision: remove it, and name the revision in options.to"},
		`{"operation":"replace",` + zip + `,"options":{"retain":["Table",":Table","data/db:"]}}`: {"options.only: missing: name the stacks to replace", `options.retain: ":Table", "data/db:": write RESOURCE or STACK:RESOURCE, with the logical ID of the resource, such as data/db:Table`},
		`{"operation":"deploy",` + zip + `,"options":{"retain":["Table"]}}`:                      {"options.retain: a deploy does not have this option (only replace, plan-replace): remove it"},
		`{"operation":"deploy",` + zip + `,"options":{"to":"previous"}}`:                         {"options.to: a deploy does not have this option (only rollback-to, plan-rollback-to): remove it"},
		`{"operation":"snapshot","options":{"snapshot":"a b"}}`:                                  {`options.snapshot: "a b" is no name of a snapshot: write letters, digits, - and _, at most 64, the first a letter or a digit`},
		`{"operation":"delete-snapshot","options":{"to":"previous"}}`:                            {"options.to: a delete-snapshot does not have this option (only rollback-to, plan-rollback-to): remove it", "options.snapshot: missing: give the name of the snapshot"},
		`{"operation":"restore",` + zip + `,"options":{"snapshot":"a"}}`:                         {"key: a restore deploys the files of a snapshot: remove it, and name the snapshot in options.snapshot"},
		`{"operation":"deploy",` + zip + `,"options":{"snapshot":"a"}}`:                          {"options.snapshot: a deploy does not have this option (only snapshot, delete-snapshot, plan-delete-snapshot, restore, plan-restore): remove it"},
		`{"operation":"plan-rollback-to","options":{"to":"previous","refuse":true}}`:             {"options.refuse: a plan-rollback-to does not have this option (only deploy, destroy, refresh, check, drift, revert-drift, suspend, resume, adopt, prune, forget, replace, rollback-to, promote, snapshot, delete-snapshot, prune-snapshots, restore, retry): remove it"},
		`{"operation":"promote"}`: {"options.from_environment: missing: name the environment whose revision is promoted"},
		`{"operation":"promote","options":{"from_environment":"prod"}}`:                               {"options.from_environment: prod is the environment to which the request is sent: name another one, whose revision is promoted to it"},
		`{"operation":"plan-promote","options":{"from_environment":"a/b","only":["x"]}}`:              {"options.only: a plan-promote does not have this option (only deploy, plan, destroy, plan-destroy, refresh, check, drift, revert-drift, plan-revert-drift, suspend, plan-suspend, resume, plan-resume, adopt, plan-adopt, prune, plan-prune, forget, plan-forget, replace, plan-replace, rollback-to, plan-rollback-to, restore, plan-restore): remove it", "options.from_environment: \"a/b\" is not the name of an environment: use letters, digits and hyphens, at most 64"},
		`{"operation":"promote",` + zip + `,"options":{"from_environment":"dev"}}`:                    {"key: a promote deploys the files of a revision: remove it, and name the environment in options.from_environment"},
		`{"operation":"deploy",` + zip + `,"options":{"from_environment":"dev","from_revision":"a"}}`: {"options.from_environment: a deploy does not have this option (only promote, plan-promote): remove it", "options.from_revision: a deploy does not have this option (only promote, plan-promote): remove it"},
		`{"operation":"retry"}`:                                         {"options.run: missing: give the run to retry"},
		`{"operation":"unlock"}`:                                        {"options.run: missing: give the run to unlock", "options.reason: missing: say why, for the record"},
		`{"operation":"pause","options":{"run":"1"}}`:                   {`options.run: "1" is not a run: its ID has 20 lower-case letters and digits`},
		`{"operation":"destroy","options":{` + that + `,"force":true}}`: {"options.run: a destroy is not about a run: remove this option", "options.force: a destroy does not have this option (only retry, cancel): remove it"},
		`{"operation":"forget","options":{"max_deletions":1}}`: {
			"options.max_deletions: a forget does not have this option (only deploy, plan, replace, plan-replace, rollback-to, plan-rollback-to, promote, plan-promote, restore, plan-restore, retry): remove it", "options.only: missing: name the stacks to forget",
		},
		`{"operation":"extend"}`: {"options.until: give either for, such as 2d, or until, such as 2026-03-01T12:00:00Z, and not both"},
		`{"operation":"extend","options":{"for":"2d","until":"2026-03-01T12:00:00Z","force":true}}`: {
			"options.force: a extend does not have this option (only retry, cancel): remove it", "options.until: give either for, such as 2d, or until, such as 2026-03-01T12:00:00Z, and not both",
		},
		`{"operation":"extend","options":{"for":"2 days","until":"tomorrow"}}`: {
			`options.for: "2 days" is not a duration: write days, hours and minutes, such as 3d, 12h or 1d12h`, "options.until: a string found, a time such as 2026-03-01T12:00:00Z expected",
		},
		`{"operation":"extend","options":{"for":2,"until":7}}`: {"options.for: the number 2 found, a string expected", "options.until: the number 7 found, a time such as 2026-03-01T12:00:00Z expected"},
		`{"operation":"destroy","options":{"for":"2d"}}`:       {"options.for: a destroy does not have this option (only extend): remove it"},
		`{"operation":"warn-expiry"}`:                          {"operation: there is no operation \"warn-expiry\": available: deploy, plan, destroy, plan-destroy, refresh, check, drift, revert-drift, plan-revert-drift, suspend, plan-suspend, resume, plan-resume, adopt, plan-adopt, prune, plan-prune, forget, plan-forget, replace, plan-replace, rollback-to, plan-rollback-to, promote, plan-promote, extend, snapshot, delete-snapshot, plan-delete-snapshot, prune-snapshots, plan-prune-snapshots, restore, plan-restore, retry, pause, continue, cancel, approve, reject, unlock"},
		`{"operation":"refresh","options":{"only":["a",""]}}`:  {"options.only: it contains an empty name: remove it"},
		`{"operation":"plan",` + zip + `,"options":{"exclude":["","tag:=a"],"with_dependencies":true,"with_dependents":true}}`: {
			"options.exclude: it contains an empty name: remove it", "options.with_dependencies: it is about the dependencies of the stacks that only or changed_since selects: give one of these too, or leave it out",
			"options.with_dependents: it adds to the stacks that only or changed_since selects: give one of these too, or leave it out",
		},
		`{"operation":"deploy",` + zip + `,"options":{"with_dependencies":"no","changed_since":"yesterday"}}`: {
			"options.with_dependencies: a string found, true or false expected", `options.changed_since: "yesterday" is not a run: its ID has 20 lower-case letters and digits`,
		},
		`{"operation":"destroy","options":{"changed_since":"abcdefghijklmnopqrs2"}}`: {"options.changed_since: a destroy does not have this option (only deploy, plan): remove it"},
		`{"operation":"deploy",` + zip + `,"options":{"max_deletions":-1}}`:          {"options.max_deletions: -1: give a number of stacks, 0 or more"},
		`{"operation":"destroy","options":{"max_deletions":5}}`:                      {"options.max_deletions: a destroy does not have this option (only deploy, plan, replace, plan-replace, rollback-to, plan-rollback-to, promote, plan-promote, restore, plan-restore, retry): remove it"},
	} {
		got, err := trigger.Request(t.Context(), put(t, "requests/shop/prod/1.json"), object{text: text})
		if err != nil || got.Project != "shop@prod" || got.ID == "" || got.Operation == "" {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if diff := cmp.Diff(want, got.Problems); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
	long := strings.Repeat("\x7f", 10_000)
	for text, want := range map[string]string{
		`{"operation":"` + long + `"}`:                                                 "operation: it has 10000 bytes, at most 1024 are allowed",
		`{"operation":"destroy","options":{"who":"` + long + `"}}`:                     "options.who: it has 10000 bytes, at most 1024 are allowed",
		`{"operation":"pause","options":{` + that + `,"reason":"` + long + `"}}`:       "options.reason: it has 10000 bytes, at most 1024 are allowed",
		`{"operation":"plan","key":"revisions/` + long + `.zip","version":"1"}`:        "key: it has 10014 bytes, at most 1024 are allowed",
		`{"operation":"plan","key":"projects/shop/prod.zip","version":"` + long + `"}`: "version: it has 10000 bytes, at most 1024 are allowed",
		`{"operation":"refresh","` + long + `":1}`:                                     `"\x7f`,
	} {
		got, err := trigger.Request(t.Context(), put(t, "requests/shop/prod/1.json"), object{text: text})
		if err != nil || len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0], want) || len(got.Problems[0]) > 1000 || len(got.Operation) > 1000 {
			t.Errorf("%.40s: %.300q, %v, want %s", text, got.Problems, err, want)
		}
	}
	huge, err := trigger.Request(t.Context(), put(t, "requests/shop/prod/1.json"), object{text: strings.Repeat(" ", 1<<17)})
	if err != nil || len(huge.Problems) != 1 {
		t.Errorf("of 128 KB: %v, %v", huge.Problems, err)
	}
}

// A request that cannot be read now is read later; one that never can be is
// refused.
func TestUnreadable(t *testing.T) {
	for kind, later := range map[fault.Kind]bool{fault.Throttled: true, fault.Unavailable: true, fault.Missing: false, fault.Denied: false, fault.Invalid: false} {
		got, err := trigger.Request(t.Context(), put(t, "requests/shop/prod/1.json"), object{err: fault.New(kind, "so it is")})
		if later != fault.Is(err, kind) || later == (len(got.Problems) == 1) {
			t.Errorf("%s: %v, %v", kind, got.Problems, err)
		}
	}
}

// A change of a stack's status is found with its token, if it has one.
func TestStackEvent(t *testing.T) {
	event := func(detail string) events.EventBridgeEvent {
		return events.EventBridgeEvent{Source: "aws.cloudformation", DetailType: "CloudFormation Stack Status Change", Detail: json.RawMessage(detail)}
	}
	for detail, want := range map[string]engine.StackEvent{
		`{"stack-id":"arn","status-details":{"status":"UPDATE_COMPLETE","status-reason":""},"client-request-token":"sw-one-0-1"}`: {Token: "sw-one-0-1", Status: "UPDATE_COMPLETE"},
		`{"stack-id":"arn","status-details":{"status":"CREATE_FAILED"}}`:                                                          {Status: "CREATE_FAILED"},
	} {
		if got, err := trigger.StackEvent(event(detail)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", detail, got, err)
		}
	}
	for _, e := range []events.EventBridgeEvent{event(`{}`), event(`7`), {Source: "aws.cloudformation"}, put(t, "projects/shop/prod.zip")} {
		if _, err := trigger.StackEvent(e); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", e.Detail, err)
		}
	}
}
