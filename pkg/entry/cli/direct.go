package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkorganizations "github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/organizations"
	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/aws/stepfunctions"
	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/unit"
)

// A direct is an installation that is reached by its table and its bucket: on a laptop, and on AWS by the owner.
// It starts runs with uploads and request objects.
type direct struct {
	*table.Table
	at      site
	objects *bucket.Bucket
	purges  purge.Purge
	flows   executions
	caller  func(context.Context) string
}

// executions reads the status of an execution of the state machine.
type executions interface {
	ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error)
}

// directly reaches the installation of a site. It sends no request.
func directly(at site, caller func(context.Context) string) direct {
	objects := s3.NewFromConfig(at.config, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	all, in := table.New(dynamodb.NewFromConfig(at.config), at.table), bucket.New(objects, at.bucket, at.home.Region)
	return direct{
		Table: all, at: at, caller: caller, objects: in,
		purges: purge.Purge{Table: all, Bucket: bucket.PurgedBucket{Bucket: in, Client: objects}, Now: time.Now},
		flows:  stepfunctions.New(sfn.NewFromConfig(at.config), at.machine),
	}
}

// Caller implements installation.
func (d direct) Caller(ctx context.Context) string { return d.caller(ctx) }

// Changes implements installation.
func (d direct) Changes(ctx context.Context, r run.Run) ([]byte, error) {
	text, err := report.Changes(ctx, d.objects, r)
	if err != nil {
		return nil, fmt.Errorf("read what the plan changes: %w", err)
	}
	return text, nil
}

// Execution implements installation.
func (d direct) Execution(ctx context.Context, r run.Run) (engine.ExecutionStatus, error) {
	return d.flows.ExecutionStatus(ctx, engine.ExecutionName(r.ID, r.Epoch))
}

// Audited implements installation.
func (d direct) Audited(ctx context.Context, project string) ([]report.AuditEntry, error) {
	runs, err := d.List(ctx, project, 0)
	if err != nil {
		return nil, err
	}
	return report.AuditOf(ctx, runs, d.Audit)
}

// AuditedAll implements installation.
func (d direct) AuditedAll(ctx context.Context) ([]report.AuditEntry, error) {
	projects, err := d.Projects(ctx)
	if err != nil {
		return nil, err
	}
	var runs []run.Run
	for _, p := range projects {
		some, err := d.List(ctx, p, 0)
		if err != nil {
			return nil, err
		}
		runs = append(runs, some...)
	}
	changes, err := d.AuditOfInstallation(ctx, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	return report.AuditOf(ctx, runs, d.Audit, changes...)
}

// someRuns is how many runs of a project a list reads at once.
const someRuns = 100

// each calls a function with the runs of the projects of a scope, newest first, until it returns false.
func (d direct) each(ctx context.Context, s report.Scope, f func(run.Run) (bool, error)) error {
	projects, err := d.Projects(ctx)
	if err != nil {
		return err
	}
	projects = slices.DeleteFunc(projects, func(id string) bool { return !s.Has(id) })
	for r, err := range report.NewestRuns(ctx, d.Table, projects, run.Run{}, someRuns) {
		if err != nil {
			return err
		}
		if more, err := f(r); err != nil || !more {
			return err
		}
	}
	return nil
}

// ListRuns implements installation.
func (d direct) ListRuns(ctx context.Context, f report.RunFilter, most int) ([]run.Run, error) {
	var all []run.Run
	err := d.each(ctx, f.Scope, func(r run.Run) (bool, error) {
		if f.Wants(r) {
			all = append(all, r)
		}
		return (most == 0 || len(all) < most) && !r.Requested.Before(f.Since), nil
	})
	return all, err
}

// ListEnvironments implements installation.
func (d direct) ListEnvironments(ctx context.Context, s report.Scope) (all []report.LivingEnvironment, err error) {
	projects, err := d.Projects(ctx)
	for _, id := range projects {
		if !s.Has(id) {
			continue
		}
		e, lives, err := report.Living(ctx, d.Table, id)
		if err != nil {
			return nil, err
		}
		if lives {
			all = append(all, e)
		}
	}
	return all, err
}

// ListEvents implements installation.
func (d direct) ListEvents(ctx context.Context, f report.EventFilter, most int) (all []report.EventOfRun, cut []string, err error) {
	err = d.each(ctx, f.Scope, func(r run.Run) (bool, error) {
		if !f.MayHave(r) {
			return true, nil
		}
		whole, err := d.Follow(ctx, r.ID)
		if err != nil {
			if fault.Is(err, fault.Missing) { // it has expired since
				err = nil
			}
			return true, err
		}
		events, more := report.EventsIn(whole, f, report.MostOfRun)
		if all = append(all, events...); more {
			cut = append(cut, r.ID)
		}
		return most == 0 || len(all) < most, nil
	})
	return all, cut, err
}

// mostPast is how many steps of a history are read at once.
const mostPast = 100

// History implements installation.
func (d direct) History(ctx context.Context, project, stack string) ([]report.PastStep, error) {
	var all []report.PastStep
	for before := ""; ; {
		page, next, err := d.Table.History(ctx, project, stack, before, mostPast)
		if all = append(all, report.HistoryOf(page)...); err != nil || next == "" {
			return all, err
		}
		before = next
	}
}

// Schedules implements installation.
func (d direct) Schedules(ctx context.Context, project string) ([]project.Scheduled, error) {
	if d.at.group == "" {
		return nil, fault.New(fault.Missing, "%s does not say in which schedule group its schedules are: deploy Stackwright again", d.at.label)
	}
	return schedules.New(scheduler.NewFromConfig(d.at.config), schedules.Group{Name: d.at.group}).List(ctx, project)
}

// Deploy implements installation.
func (d direct) Deploy(ctx context.Context, project string, archive []byte) (string, error) {
	return d.upload(ctx, fmt.Sprintf("projects/%s.zip", pathOf(project)), archive)
}

// Store implements installation.
func (d direct) Store(ctx context.Context, project string, archive []byte) (run.Source, error) {
	key := fmt.Sprintf("revisions/%s/%x.zip", pathOf(project), sha256.Sum256(archive))
	version, err := d.put(ctx, key, archive)
	return run.Source{Key: key, Version: version}, err
}

// Request implements installation. The names of the objects sort by time, and each is new.
func (d direct) Request(ctx context.Context, q run.Request) (string, error) {
	q.Claim = d.caller(ctx)
	body, err := json.Marshal(q.Body())
	if err != nil {
		return "", fault.New(fault.Broken, "request %s: %w", q.Operation, err)
	}
	at, unique := time.Now().UTC().Format("20060102T150405Z"), strings.ToLower(rand.Text()[:10])
	return d.upload(ctx, fmt.Sprintf("requests/%s/%s-%s.json", pathOf(q.Project), at, unique), body)
}

// Command implements installation. A command that is refused becomes a run in state refused.
func (d direct) Command(ctx context.Context, q run.Request) (string, error) { return d.Request(ctx, q) }

// AddTarget implements installation.
func (d direct) AddTarget(ctx context.Context, a project.Access) (project.Access, error) {
	return d.targets().Add(ctx, a, target.Requester{Who: d.caller(ctx)})
}

// UnitAccounts implements installation.
func (d direct) UnitAccounts(ctx context.Context, name string) (report.UnitAccountPage, error) {
	of, all, err := d.targets().Accounts(ctx, name)
	return report.UnitAccountsOf(of, all), err
}

// RemoveTarget implements installation.
func (d direct) RemoveTarget(ctx context.Context, name string) error {
	return d.targets().Remove(ctx, name, target.Requester{Who: d.caller(ctx)})
}

// Purge implements installation. A place is a cursor as it is.
func (d direct) Purge(ctx context.Context, q report.PurgeRequest) (report.Purged, error) {
	k, err := q.Retention()
	if err == nil && q.After == "" && !q.Plan {
		err = d.purges.Begin(ctx, k, d.caller(ctx), "")
	}
	if err != nil {
		return report.Purged{}, err
	}
	freed, next, err := d.purges.Some(ctx, k, q.Plan, q.After, time.Minute)
	return report.Purged{Plan: q.Plan, Freed: freed, After: next}, err
}

// targets registers targets. Requests to Organizations have the permissions of the user.
func (d direct) targets() target.Registry {
	return target.Registry{
		Store: d.Table, Organization: d.organization(), Shown: d.organization(), Home: d.at.home, NewExternalID: accounts.NewExternalID,
		Reach: project.Reach{Home: d.at.home.Target, Stack: d.at.stack, Accounts: d.at.accounts, Units: d.at.organization != ""},
	}
}

// organization returns the organization that the installation asks, with the same role.
func (d direct) organization() unit.Organization {
	cfg, role := d.at.config.Copy(), d.at.organization
	if !strings.HasPrefix(role, "arn:") {
		return organizations.New(sdkorganizations.NewFromConfig(cfg, organizations.Adaptive))
	}
	cfg.Credentials = accounts.Assuming(d.at.config, role)
	return organizations.Assuming(sdkorganizations.NewFromConfig(cfg, organizations.Adaptive), role)
}

// upload uploads an object that starts a run, and returns the run's ID.
func (d direct) upload(ctx context.Context, key string, body []byte) (string, error) {
	version, err := d.put(ctx, key, body)
	return engine.RunID(d.at.bucket, key, version), err
}

// put puts an object into the bucket, and returns its version.
func (d direct) put(ctx context.Context, key string, body []byte) (string, error) {
	version, err := d.objects.By(d.caller(ctx)).Put(ctx, key, body)
	if err != nil {
		return "", fmt.Errorf("upload to %s: %w", d.at.label, err)
	}
	return version, nil
}

// pathOf is a project in a key: shop/prod for "shop@prod".
func pathOf(project string) string { return strings.Replace(project, "@", "/", 1) }
