package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/strict"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// start starts a run. It reports all errors of an invalid request at once, and then
// starts no run.
func (a API) start(ctx context.Context, q question) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	return a.begin(ctx, q, text)
}

// repeating is the operation that repeats a run.
func repeating() plan.Operation {
	all := plan.AllOperations()
	return all[slices.IndexFunc(all, func(o plan.Operation) bool { return o.Repeats })]
}

// retry starts a run that repeats another one.
func (a API) retry(ctx context.Context, q question) (answer, error) {
	of, err := a.find(ctx, q.project, q.PathParameters["run"])
	if err != nil {
		return answer{}, err
	}
	options := report.RunOptions{}
	text, err := q.body()
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		err = q.read(strict.Fields{
			string(plan.OptionForce): &options.Force, string(plan.OptionRollback): &options.Rollback,
			string(plan.OptionRefuse): &options.Refuse, string(plan.OptionMaxDeletions): &options.MaxDeletions, string(plan.OptionWhileSuspended): &options.WhileSuspended,
			string(plan.OptionSkip):      &options.Skip,
			string(plan.OptionNoBackups): &options.NoBackups, string(plan.OptionKeepBackups): &options.KeepBackups,
		})
	}
	if err != nil {
		return answer{}, err
	}
	options.Run = of.ID
	request, err := written(report.RunRequest{Operation: repeating().Name, Options: options})
	if err != nil {
		return answer{}, err
	}
	return a.begin(ctx, q, []byte(request))
}

// begin starts the run that a text requests.
func (a API) begin(ctx context.Context, q question, text []byte) (answer, error) {
	var err error
	r := a.ParseRequest(q.project, text)
	if _, command := run.ControlNamed(r.Operation); command {
		return answer{}, fault.New(fault.Invalid, "operation: %s is a command to a run, and starts none: use POST /projects/{project}/{environment}/runs/{run}/%s", r.Operation, r.Operation)
	}
	if r.Claim != "" {
		r.Problems = append(r.Problems, "options.who: the API knows the caller: remove this option")
	}
	if r.ID, err = q.id(q.project); err != nil {
		r.Problems = append(r.Problems, fault.Messages(err)...)
	}
	if len(r.Problems) > 0 {
		return answer{}, wrong(r.Problems)
	}
	if err := a.may(ctx, q, r.Role(), r.Project); err != nil {
		return answer{}, err
	}
	if from := r.PromotedFrom(); from != "" {
		if err := a.may(ctx, q, access.Reader, from); err != nil {
			return answer{}, err
		}
	}
	if !plan.AllOperations().Of(r.Operation).NeedsSource() {
		if err := a.exists(ctx, cmp.Or(r.PromotedFrom(), r.Project)); err != nil {
			return answer{}, err
		}
	}
	r.Who, r.Subject, r.From = q.who, q.subject(), q.from()
	if err := a.Engine.Start(ctx, r); err != nil {
		return answer{}, uncertain(err, fmt.Sprintf("run %s may have been started: read it, or send the request again with the same Idempotency-Key", r.ID))
	}
	return a.accepted(ctx, r.Project, r.ID, func(kept run.Run) error { return another(kept, r) })
}

// may checks that the caller has a role for a project.
func (a API) may(ctx context.Context, q question, needed access.Role, project string) error {
	allowed, err := a.Allows(ctx, q.by, needed, project)
	if err == nil && !allowed {
		err = refusal{status: http.StatusForbidden, error: fault.New(fault.Denied, "not allowed")}
	}
	return err
}

// exists checks that a project has had a run: with an operation that reads no files, a typo in the name would otherwise create a project.
func (a API) exists(ctx context.Context, project string) error {
	known, err := a.Records.Exists(ctx, project)
	if err == nil && !known {
		err = fault.New(fault.Missing, "there is no %s: it has had no run", project)
	}
	return err
}

// known checks that the project exists that a request wants to see. About a run, the run decides.
func (a API) known(ctx context.Context, q question) error {
	if q.route.first || !strings.HasPrefix(q.RouteKey, http.MethodGet+" ") || !isOfProject(q.RouteKey) || strings.Contains(q.RouteKey, "{run}") {
		return nil
	}
	return a.exists(ctx, q.project)
}

// another refuses an idempotency key that was used before for another request. The
// stored run may differ from its request: a retry stores the operation that it
// repeats, and a project may have turned on rollbacks.
func another(stored run.Run, r run.Request) error {
	repeats := plan.AllOperations().Of(r.Operation).Repeats
	files := stored.To == r.To && stored.Snapshot == r.Snapshot && (stored.Source == r.Source || plan.AllOperations().Of(r.Operation).FromRevision) // the plan finds the files of a revision
	same := repeats || stored.Operation == r.Operation && files && stored.Selection.Equal(r.Selection) && slices.Equal(stored.Adopt, r.Adopt) && slices.Equal(stored.Retain, r.Retain) && slices.Equal(stored.Skip, r.Skip) &&
		stored.For == r.For && stored.Until.Equal(r.Until) && stored.Exact == r.Exact && stored.WhileSuspended == r.WhileSuspended && stored.NoBackups == r.NoBackups && stored.KeepBackups == r.KeepBackups && stored.Plan == r.Plan
	same = same && (repeats || stored.FromEnvironment == r.FromEnvironment && stored.FromRevision == r.FromRevision)
	rollback := stored.Rollback || !r.Rollback
	if same && rollback && stored.Of == r.Of && stored.Force == r.Force && stored.Refuse == r.Refuse && stored.Upload == r.Upload && limited(stored, r, repeats) {
		return nil
	}
	return fault.New(fault.Refused, "idempotency-key: run %s was started with this key by another request (%s): use another key", stored.ID, stored.Operation)
}

// limited reports whether a run has the limit of deletions that a request sets. A
// retry that sets none has the limit of the run that it repeats.
func limited(stored run.Run, r run.Request, repeats bool) bool {
	if stored.MaxDeletions == nil || r.MaxDeletions == nil {
		return r.MaxDeletions == nil && (stored.MaxDeletions == nil || repeats)
	}
	return *stored.MaxDeletions == *r.MaxDeletions
}

// command gives a command to a run. Another command with the same idempotency key
// is another request, so that none is lost.
func (a API) command(ctx context.Context, q question, c run.Control) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	id := q.PathParameters["run"]
	if _, err := a.find(ctx, q.project, id); err != nil && !(c.EndsRun && a.holdsLock(ctx, q.project, id)) {
		return answer{}, err
	}
	w := a.ParseCommand(c, q.project, id, text)
	if w.ID, err = q.id(fmt.Sprintln(id, w.Operation, w.Rollback, w.Force, w.PlanDigest, w.Step)); err != nil {
		w.Problems = append(w.Problems, fault.Messages(err)...)
	}
	if len(w.Problems) > 0 {
		return answer{}, wrong(w.Problems)
	}
	w.Who, w.Subject, w.From = q.who, q.subject(), q.from()
	if err := a.Engine.Command(ctx, w); err != nil {
		return answer{}, uncertain(err, "the run may have received the command: read the run, or send the request again with the same Idempotency-Key")
	}
	return a.accepted(ctx, q.project, id, func(run.Run) error { return nil })
}

// holdsLock reports whether a run holds the lock of a project: one that cannot be read may do so.
func (a API) holdsLock(ctx context.Context, project, id string) bool {
	l, err := a.Reader.Lock(ctx, project)
	return err == nil && id != "" && l.Owner.Run == id
}

// accepted is the answer to a request about a run that was accepted, with the run as
// it is if it can be read now and passes check.
func (a API) accepted(ctx context.Context, project, id string, check func(run.Run) error) (answer, error) {
	said := answer{location: pathOf(project) + "/runs/" + id, body: report.Accepted{Run: id}}
	r, err := a.Reader.Follow(ctx, id)
	if err == nil {
		err = check(r)
	}
	if fault.Is(err, fault.Refused) {
		return answer{}, err
	}
	if err == nil {
		if shown, err := a.shown(ctx, r); err == nil {
			if page, err := pageOf(shown, 0); err == nil {
				said.body = page.body
			}
		}
	}
	return said, nil
}

// pathOf returns the path of a project: /projects/shop/prod for "shop@prod".
func pathOf(project string) string {
	return "/projects/" + strings.Replace(project, "@", "/", 1)
}

// mostProblems is how many problems an answer lists.
const mostProblems = 100

// wrong is the error of an invalid request.
func wrong(problems []string) error {
	var all []error
	if more := len(problems) - mostProblems; more > 0 {
		problems = append(slices.Clone(problems[:mostProblems]), fmt.Sprintf("there are %d more", more))
	}
	for _, p := range problems {
		all = append(all, fault.New(fault.Invalid, "%s", p))
	}
	return errors.Join(all...)
}

// uncertain adds advice to an error after which the request may have been carried
// out.
func uncertain(err error, then string) error {
	if k := fault.KindOf(err); k != fault.Refused && k != fault.Missing && k != fault.Invalid {
		return fault.New(k, "%w: %s", err, then)
	}
	return err
}
