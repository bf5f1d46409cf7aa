package stepfn_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/infra/local/cloud"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/sts"
	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// register registers targets, as anyone who keeps the installation does.
func (r *emulators) register(names ...string) {
	for _, name := range names {
		if r.registered[name] || name == "default" {
			continue
		}
		r.registered[name] = true
		if err := r.store.AddTarget(r.Context(), accesses[name]); err != nil {
			r.Fatal(err)
		}
	}
}

// trust is that of the targets' roles: each lets the installation in that knows
// the external ID of its account.
func (r *emulators) trust(role string) (externalID string, ok bool) {
	for name, a := range accesses {
		if a.Role == role && !r.denied[name] {
			return accounts.ExternalID(r.cloud.Machine, a.Account), true
		}
	}
	return "", false
}

func (r *emulators) Deny(target string, denied bool) { r.denied[target] = denied }

// stacksIn is the CloudFormation of a target.
func (r *emulators) stacksIn(target string) *local.Service {
	t := targetOf(target)
	s, err := r.cloud.StacksIn(t.Account, t.Region)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// peopleIn is the client of people in a target.
func (r *emulators) outsideIn(target string) *cloudformation.Client {
	if target == "" || target == "default" {
		return r.outside
	}
	return cloudformation.NewFromConfig(r.direct(r.stacksIn(target)))
}

// at is the client of people where a stack is, and its physical name there.
func (r *emulators) at(name string) (people *cloudformation.Client, physical string) {
	name, target, _ := strings.Cut(name, "@")
	return r.outsideIn(target), physicalName(name)
}

// Credentials that expire in the middle of a run are got anew; anyone who polls
// into the trail of an account finds the run by the name of the session; and
// CloudFormation works with the role of the target.
func TestExpiredCredentialsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail := &sessionLog{until: make(map[string]map[time.Time]bool), sessions: make(map[string]bool)}
		r := newEmulators(t, func(o *cloud.Options) { o.Fail = trail.note })
		r.Slow("vpc@eu", 40*time.Minute)
		id := r.Submit("deploy", parseStacks(strings.Fields("vpc@eu,us app@eu<vpc@us db@us<vpc@eu")), "")
		if !r.WaitIdle() || r.ExecutionStatus(id).State != run.StateSucceeded {
			t.Fatalf("the run has %s: %v", r.ExecutionStatus(id).State, r.ExecutionStatus(id).Messages)
		}
		if eu, us := len(trail.until["111111111111"]), len(trail.until["222222222222"]); eu < 3 || us < 2 {
			t.Errorf("there were %d sessions in one account and %d in the other", eu, us)
		}
		if len(trail.sessions) != 1 || !trail.sessions["sw-"+id] || trail.late > 0 {
			t.Errorf("the sessions are called %v; %d requests came with credentials that had expired", trail.sessions, trail.late)
		}
		for node, target := range map[string]string{"vpc@eu": "eu", "app@eu": "eu", "vpc@us": "us", "db@us": "us"} {
			a, s := accesses[target], r.found(node)
			if s == nil || aws.ToString(s.RoleARN) != a.Execution || !strings.HasPrefix(aws.ToString(s.StackId), "arn:aws:cloudformation:"+a.Region+":"+a.Account+":") {
				t.Errorf("%s is %+v", node, s)
			}
		}
		if s := r.found("vpc"); s != nil {
			t.Errorf("at home there is %s", aws.ToString(s.StackId))
		}
	})
}

// A trail is what is requested of CloudFormation by those who have assumed a role.
type sessionLog struct {
	mu       sync.Mutex
	until    map[string]map[time.Time]bool // when credentials expire, by account
	sessions map[string]bool               // by name
	late     int
}

func (l *sessionLog) note(q gateway.Request) *gateway.Failure {
	h, ok := sts.ParseAccessKey(q.AccessKey)
	if !ok || q.Service != "cloudformation" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until[h.Account] == nil {
		l.until[h.Account] = make(map[time.Time]bool)
	}
	l.until[h.Account][h.Expires], l.sessions[h.Session] = true, true
	if !q.Time.Before(h.Expires) {
		l.late++
	}
	return nil
}

// Nobody gets in without the external ID that a role asks for.
func TestExternalIDIsRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t, func(o *cloud.Options) {
			o.Trust = func(string) (string, bool) { return accounts.ExternalID(installation+"2", "111111111111"), true }
		})
		id := r.Submit("deploy", parseStacks(strings.Fields("vpc@eu")), "")
		r.WaitIdle()
		got := r.ExecutionStatus(id)
		if got.State != run.StateRefused || len(got.Messages) != 1 || !strings.Contains(got.Messages[0], "role "+accesses["eu"].Role+" of account 111111111111 cannot be assumed (AccessDenied: ") {
			t.Errorf("the run is %s: %q", got.State, got.Messages)
		}
	})
}

// A role that is taken away in the middle of a run fails what goes on there, and
// nothing else. What CloudFormation went on with is found by the next run.
func TestRoleIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		r.Slow("vpc@us", 20*time.Minute)
		w := parseStacks(strings.Fields("vpc@eu,us app@eu,us<vpc"))
		id := r.Submit("deploy", w, "")
		r.Pass(time.Minute)
		r.Deny("us", true)
		r.WaitIdle()
		got := r.ExecutionStatus(id)
		for step, want := range map[string]run.Status{"vpc@eu/create": run.Done, "app@eu/create": run.Done, "vpc@us/create": run.Failed, "app@us/create": run.Skipped} {
			if s := got.Step(step); s.Status != want {
				t.Errorf("%s is %s (%s), want %s", step, s.Status, s.Why, want)
			}
		}
		if why := got.Step("vpc@us/create").Why; !strings.HasPrefix(why, "it cannot be followed: target us: role ") {
			t.Errorf("it failed for %q", why)
		}
		r.Deny("us", false)
		r.Pass(20 * time.Minute)
		again := r.Submit("retry", nil, id)
		if r.WaitIdle(); r.ExecutionStatus(again).State != run.StateSucceeded || r.Status("app@us") != plan.Status("CREATE_COMPLETE") {
			t.Errorf("the retry has %s: %v", r.ExecutionStatus(again).State, r.ExecutionStatus(again).Messages)
		}
	})
}
