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
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// register registers targets, as an operator of the installation does.
func (r *emulators) register(names ...string) {
	for _, name := range names {
		if of, _, member := project.UnitOf(name); member && of == unitAccess.Name {
			name = of
		}
		if r.registered[name] || name == "default" {
			continue
		}
		r.registered[name] = true
		access := accesses[name]
		if name == unitAccess.Name {
			access = unitAccess
			delete(r.registered, name) // it is no place; its accounts are
		}
		if err := r.store.AddTarget(r.Context(), access, run.AuditEntry{}); err != nil {
			r.Fatal(err)
		}
	}
}

// trust returns the external ID that the role of a target requires: the one that the
// target is registered with.
func (r *emulators) trust(role string) (externalID string, ok bool) {
	for name, a := range accesses {
		if a.Role == role && !r.denied[name] {
			return a.ExternalID, true
		}
	}
	for id, closed := range r.closed { // AWS denies all requests of a closed account
		if !closed && unitAccess.Member(id).Role == role {
			return unitAccess.ExternalID, true
		}
	}
	return "", false
}

func (r *emulators) Deny(target string, denied bool) { r.denied[target] = denied }

func (r *emulators) Withhold(target string, withheld bool) {
	a := accesses[target]
	if withheld {
		a.Projects = nil
	}
	r.registered[target] = true
	if err := r.store.AddTarget(r.Context(), a, run.AuditEntry{}); err != nil {
		r.Fatal(err)
	}
}

// stacksIn returns the emulator of CloudFormation in a target.
func (r *emulators) stacksIn(target string) *local.Service {
	t := targetOf(target)
	s, err := r.cloud.StacksIn(t.Account, t.Region)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// outsideIn returns a client in a target for changes outside Stackwright.
func (r *emulators) outsideIn(target string) *cloudformation.Client {
	if target == "" || target == "default" {
		return r.outside
	}
	return cloudformation.NewFromConfig(r.direct(r.stacksIn(target)))
}

// at returns the client of outsideIn for the target of a stack, and the physical name
// of the stack.
func (r *emulators) at(name string) (outside *cloudformation.Client, physical string) {
	name, target, _ := strings.Cut(name, "@")
	return r.outsideIn(target), physicalName(name)
}

// Credentials that expire during a run are renewed. The session name contains the run,
// so that CloudTrail of the account shows it. CloudFormation uses the execution role of
// the target.
func TestExpiredCredentialsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := &sessionLog{until: make(map[string]map[time.Time]bool), names: make(map[string]bool)}
		r := newEmulators(t, func(o *cloud.Options) { o.Fail = sessions.record })
		r.Slow("vpc@eu", 40*time.Minute)
		id := r.Submit("deploy", parseStacks(strings.Fields("vpc@eu,us app@eu<vpc@us db@us<vpc@eu")), "")
		if !r.WaitIdle() || r.ExecutionStatus(id).State != run.StateSucceeded {
			t.Fatalf("the run is %s: %v", r.ExecutionStatus(id).State, r.ExecutionStatus(id).Messages)
		}
		if eu, us := len(sessions.until["111111111111"]), len(sessions.until["222222222222"]); eu < 3 || us < 2 {
			t.Errorf("there were %d sessions in the account of eu and %d in that of us, want at least 3 and 2", eu, us)
		}
		if len(sessions.names) != 1 || !sessions.names["sw-"+id] || sessions.expired > 0 {
			t.Errorf("the sessions are named %v, and %d requests had expired credentials; want only sw-%s, and none", sessions.names, sessions.expired, id)
		}
		for node, target := range map[string]string{"vpc@eu": "eu", "app@eu": "eu", "vpc@us": "us", "db@us": "us"} {
			a, s := accesses[target], r.found(node)
			if s == nil || aws.ToString(s.RoleARN) != a.Execution || !strings.HasPrefix(aws.ToString(s.StackId), "arn:aws:cloudformation:"+a.Region+":"+a.Account+":") {
				t.Errorf("%s is %+v, want it in %s with the role %s", node, s, target, a.Execution)
			}
		}
		if s := r.found("vpc"); s != nil {
			t.Errorf("the home account has the stack %s", aws.ToString(s.StackId))
		}
	})
}

// A sessionLog records the sessions of the requests to CloudFormation that use an assumed
// role.
type sessionLog struct {
	mu      sync.Mutex
	until   map[string]map[time.Time]bool // when credentials expire, by account
	names   map[string]bool
	expired int // requests whose credentials had expired
}

func (l *sessionLog) record(q gateway.Request) *gateway.Failure {
	h, ok := sts.ParseAccessKey(q.AccessKey)
	if !ok || q.Service != "cloudformation" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until[h.Account] == nil {
		l.until[h.Account] = make(map[time.Time]bool)
	}
	l.until[h.Account][h.Expires], l.names[h.Session] = true, true
	if !q.Time.Before(h.Expires) {
		l.expired++
	}
	return nil
}

// A role cannot be assumed without the external ID that it requires.
func TestExternalIDIsRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t, func(o *cloud.Options) {
			o.Trust = func(string) (string, bool) { return "sw-another", true }
		})
		id := r.Submit("deploy", parseStacks(strings.Fields("vpc@eu")), "")
		r.WaitIdle()
		got := r.ExecutionStatus(id)
		if got.State != run.StateRefused || len(got.Messages) != 1 || !strings.Contains(got.Messages[0], "role "+accesses["eu"].Role+" of account 111111111111 cannot be assumed (AccessDenied: ") {
			t.Errorf("the run is %s: %q", got.State, got.Messages)
		}
	})
}

// If a role can no longer be assumed during a run, the steps in its target fail, and no
// others. The next run finds what CloudFormation did meanwhile.
func TestRoleIsRevoked(t *testing.T) {
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
			t.Errorf("vpc@us/create failed because %q", why)
		}
		r.Deny("us", false)
		r.Pass(20 * time.Minute)
		again := r.Submit("retry", nil, id)
		if r.WaitIdle(); r.ExecutionStatus(again).State != run.StateSucceeded || r.Status("app@us") != plan.Status("CREATE_COMPLETE") {
			t.Errorf("the retry is %s: %v", r.ExecutionStatus(again).State, r.ExecutionStatus(again).Messages)
		}
	})
}
