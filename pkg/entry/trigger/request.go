package trigger

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/lib/strict"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// unknown is the operation of a request that does not name one.
const unknown = "unknown"

// The sizes of a request object and of one text in it, in bytes. S3's keys have at
// most that length, and a run is stored in one item of the table.
const (
	maxBody = 64 << 10
	maxText = 1 << 10
)

// readRequestObject completes a request with the content of its object.
func readRequestObject(ctx context.Context, q run.Request, c objectEvent, objects Objects) (run.Request, error) {
	q.Operation = unknown
	text, err := objects.Object(ctx, c.Object.Key, c.Object.Version)
	switch {
	case fault.Is(err, fault.Missing, fault.Invalid, fault.Denied): // a second attempt would not help
		q.Problems = []string{fmt.Sprintf("the request cannot be read: %v", err)}
		return q, nil
	case err != nil:
		return q, fmt.Errorf("read request %s: %w", c.Object.Key, err)
	}
	said := ParseRequest(plan.AllOperations(), q.Project, text)
	claim := said.Claim
	said.ID, said.Who, said.Requester, said.From = q.ID, q.Who, q.Requester, q.From
	return addClaim(ctx, said, claim, c, objects)
}

// ParseRequest reads the text of a request object, or the body of an HTTP request,
// for a project. The request has no ID and no Who yet, and a Claim if the text says
// who. All its errors are in its Problems.
func ParseRequest(all plan.Operations, project string, text []byte) run.Request {
	q := run.Request{Project: project}
	options := optionFields(&q)
	options["run"], options["who"] = &q.Of, &q.Claim
	var ok bool
	if q.Problems, ok = decode(text, strict.Fields{
		"operation": &q.Operation, "key": &q.Source.Key, "version": &q.Source.Version, "options": options,
	}); !ok {
		q.Operation = unknown
		return q
	}
	if long := tooLong(q); len(long) > 0 {
		return run.Request{Project: project, Operation: cmp.Or(short(q.Operation), unknown), Problems: append(q.Problems, long...)}
	}
	r, known := rowOf(all, q.Operation)
	var wrong []string
	if !known {
		wrong = append(wrong, unknownOperation(all, q.Operation))
	}
	wrong = append(wrong, checkSource(r, q)...)
	if known {
		wrong = append(wrong, checkRun(r, q)...)
		wrong = append(wrong, checkOptions(all, r, q)...)
	}
	for _, problem := range wrong {
		if subject, _, _ := strings.Cut(problem, ":"); !slices.ContainsFunc(q.Problems, func(said string) bool { return strings.HasPrefix(said, subject+":") }) {
			q.Problems = append(q.Problems, problem)
		}
	}
	q.Operation = cmp.Or(short(q.Operation), unknown)
	q.Upload = q.Upload && len(q.Problems) == 0 // a request that is refused replaces nothing
	return q
}

// ParseCommand reads the body of an HTTP request that gives a command to a run of a
// project: its options, or nothing. The request has no ID and no Who yet.
// All its errors are in its Problems.
func ParseCommand(c run.Control, project, id string, text []byte) run.Request {
	q := run.Request{Project: project, Operation: c.Name, Of: id}
	into := optionFields(&q)
	for key := range into {
		if !slices.Contains(c.Options, plan.Option(key)) {
			delete(into, key)
		}
	}
	if len(strings.TrimSpace(string(text))) > 0 {
		q.Problems, _ = decode(text, into)
	}
	if len(q.Reason) > maxText {
		q.Problems, q.Reason = append(q.Problems, longText("reason", q.Reason)), ""
	}
	if c.NeedsReason && q.Reason == "" {
		q.Problems = append(q.Problems, "reason: missing: say why, for the record")
	}
	if c.Answers && q.PlanDigest == "" {
		q.Problems = append(q.Problems, "plan_digest: "+noDigest)
	}
	return q
}

// decode reads one JSON object, unless it is too long.
func decode(text []byte, into strict.Fields) (wrong []string, ok bool) {
	if len(text) > maxBody {
		return []string{fmt.Sprintf("the request has %d bytes, at most %d are allowed", len(text), maxBody)}, false
	}
	return strict.Read(text, into)
}

// noDigest says that an answer does not say to which plan it is.
const noDigest = "missing: give the digest of the plan that you have seen, so that no other plan is approved"

// reference is the form of the reference of a saved plan.
var reference = regexp.MustCompile(`^[0-9a-f]{64}$`)

// optionFields maps the options of a request to the fields of run.Request.
func optionFields(q *run.Request) strict.Fields {
	return strict.Fields{
		string(plan.OptionForce): &q.Force, string(plan.OptionReason): &q.Reason, string(plan.OptionRollback): &q.Rollback,
		string(plan.OptionRefuse): &q.Refuse, string(plan.OptionOnly): &q.Only, string(plan.OptionAdopt): &q.Adopt, string(plan.OptionMaxDeletions): &q.MaxDeletions,
		string(plan.OptionExact):          &q.Exact,
		string(plan.OptionWhileSuspended): &q.WhileSuspended,
		string(plan.OptionNoBackups):      &q.NoBackups,
		string(plan.OptionKeepBackups):    &q.KeepBackups,
		string(plan.OptionUpload):         &q.Upload,
		string(plan.OptionDigest):         &q.PlanDigest,
		string(plan.OptionStep):           &q.Step,
		string(plan.OptionPlan):           &q.Plan,

		string(plan.OptionRetain):           &q.Retain,
		string(plan.OptionSkip):             &q.Skip,
		string(plan.OptionExclude):          &q.Exclude,
		string(plan.OptionWithDependencies): &q.WithDependencies,
		string(plan.OptionWithDependents):   &q.WithDependents,
		string(plan.OptionChangedSince):     &q.ChangedSince,
		string(plan.OptionTo):               &q.To,
		string(plan.OptionFromEnvironment):  &q.FromEnvironment,
		string(plan.OptionFromRevision):     &q.FromRevision,
		string(plan.OptionFor):              &q.For,
		string(plan.OptionUntil):            &q.Until,
		string(plan.OptionSnapshot):         &q.Snapshot,
	}
}

// setOptions reports which options are set in a request.
func setOptions(q run.Request) map[plan.Option]bool {
	o := q.Options
	return map[plan.Option]bool{
		plan.OptionUpload: q.Upload,
		plan.OptionForce:  o.Force, plan.OptionReason: o.Reason != "", plan.OptionRollback: o.Rollback,
		plan.OptionRefuse: o.Refuse, plan.OptionOnly: len(o.Only) > 0, plan.OptionAdopt: len(o.Adopt) > 0, plan.OptionMaxDeletions: o.MaxDeletions != nil, plan.OptionExact: o.Exact, plan.OptionPlan: o.Plan != "",
		plan.OptionDigest: o.PlanDigest != "", plan.OptionStep: o.Step != "", plan.OptionTo: o.To != "", plan.OptionSnapshot: o.Snapshot != "", plan.OptionWhileSuspended: o.WhileSuspended,
		plan.OptionNoBackups: o.NoBackups, plan.OptionKeepBackups: o.KeepBackups,
		plan.OptionRetain:  len(o.Retain) > 0,
		plan.OptionSkip:    len(o.Skip) > 0,
		plan.OptionExclude: len(o.Exclude) > 0, plan.OptionWithDependencies: o.WithDependencies != nil, plan.OptionWithDependents: o.WithDependents, plan.OptionChangedSince: o.ChangedSince != "",
		plan.OptionFromEnvironment: o.FromEnvironment != "", plan.OptionFromRevision: o.FromRevision != "",
		plan.OptionFor: o.For != 0, plan.OptionUntil: !o.Until.IsZero(),
	}
}

// A row says which fields a request needs, by the row of its operation or command.
type row struct {
	name                                          string
	needsSource, needsRun, needsReason, needsOnly bool // the version of a configuration; the run that it is about; a reason; the names of stacks
	needsDigest                                   bool // that of the plan that the person has seen
	fromRevision                                  bool // it deploys the files of a revision, so it names no configuration
	promotes                                      bool // that revision is one of another environment
	needsSnapshot                                 bool // the name of a snapshot
	options                                       []plan.Option
}

// rows are those of all requests that users may make.
func rows(all plan.Operations) []row {
	var rows []row
	for _, o := range all {
		if o.Requestable {
			rows = append(rows, row{name: o.Name, needsSource: o.NeedsSource(), fromRevision: o.FromRevision, promotes: o.Promotes, needsRun: o.Repeats, needsOnly: o.NeedsOnly, needsSnapshot: o.NamesSnapshot(), options: o.Options})
		}
	}
	for _, c := range run.Controls() {
		rows = append(rows, row{name: c.Name, needsRun: true, needsReason: c.NeedsReason, needsDigest: c.Answers, options: c.Options})
	}
	return rows
}

// rowOf returns the row of the given name. It reports false if there is none.
func rowOf(all plan.Operations, name string) (row, bool) {
	for _, r := range rows(all) {
		if r.name == name {
			return r, true
		}
	}
	return row{}, false
}

// unknownOperation says that there is no operation of the given name.
func unknownOperation(all plan.Operations, name string) string {
	var known []string
	for _, r := range rows(all) {
		known = append(known, r.name)
	}
	if name == "" {
		return "operation: missing: write one of " + strings.Join(known, ", ")
	}
	hint := ": available: " + strings.Join(known, ", ")
	if closest := suggest.Closest(name, known); closest != "" {
		hint = ": did you mean " + closest + "?"
	}
	return fmt.Sprintf("operation: there is no operation %q%s", short(name), hint)
}

// checkSource lists the errors of the configuration.
func checkSource(r row, q run.Request) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	key, version := q.Source.Key, q.Source.Version
	if r.needsSource && key == "" {
		add("key: missing: a %s needs the key of the configuration's object", q.Operation)
	}
	switch of, ok := projectOfKey(key, uploadKey, revisionKey); {
	case key == "":
	case r.promotes:
		add("key: a %s deploys the files of a revision: remove it, and name the environment in options.from_environment", q.Operation)
	case r.fromRevision && r.needsSnapshot:
		add("key: a %s deploys the files of a snapshot: remove it, and name the snapshot in options.snapshot", q.Operation)
	case r.fromRevision:
		add("key: a %s deploys the files of a revision: remove it, and name the revision in options.to", q.Operation)
	case !ok:
		add("key: %q is not a configuration: the key is projects/<project>/<environment>.zip or revisions/<project>/<environment>/<name>.zip (or .tar.gz, .yaml, .yml)", key)
	case of != q.Project && !r.needsRun: // a run may have the files of another environment
		add("key: %q belongs to %s, and this request is for %s: send it to %s", key, of, q.Project, of)
	}
	switch {
	case key != "" && version == "":
		add("version: missing: give the version of %s", key)
	case key == "" && version != "":
		add("version: a version without a key: give the key too")
	}
	return wrong
}

// runID is the form of the IDs that engine.RunID makes.
var runID = pattern.New(`^[a-z2-7]{20}$`)

// checkRun lists the errors of the run that the request is about.
func checkRun(r row, q run.Request) []string {
	switch {
	case r.needsRun && q.Of == "":
		return []string{"options.run: missing: give the run to " + q.Operation}
	case r.needsRun && !runID.MatchString(q.Of):
		return []string{fmt.Sprintf("options.run: %q is not a run: its ID has 20 lower-case letters and digits", q.Of)}
	case !r.needsRun && q.Of != "":
		return []string{fmt.Sprintf("options.run: a %s is not about a run: remove this option", q.Operation)}
	}
	return nil
}

// checkOptions lists the errors of the options: options that the operation does
// not have, and invalid values.
func checkOptions(all plan.Operations, r row, q run.Request) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, "options."+fmt.Sprintf(format, args...)) }
	for _, option := range plan.Options() {
		if setOptions(q)[option] && !slices.Contains(r.options, option) {
			add("%s: a %s does not have this option (only %s): remove it", option, q.Operation, strings.Join(namesWithOption(all, option), ", "))
		}
	}
	if r.needsOnly && len(q.Only) == 0 {
		add("only: missing: name the stacks to %s", q.Operation)
	}
	switch {
	case r.needsSnapshot && q.Snapshot == "":
		add("snapshot: missing: give the name of the snapshot")
	case r.needsSnapshot && !plan.SnapshotName.MatchString(q.Snapshot):
		add("snapshot: %q is no name of a snapshot: write letters, digits, - and _, at most 64, the first a letter or a digit", short(q.Snapshot))
	}
	if other := (run.Options{Reason: q.Reason}); q.Upload && !reflect.DeepEqual(q.Options, other) {
		add("upload: the newest upload replaces older ones, so it deploys all stacks, and has no other options: remove this option or the others")
	}
	problems := slices.Concat(q.Selection.Problems(), plan.RetainProblems(q.Retain), plan.SkipProblems(q.Skip))
	for _, p := range problems {
		add("%s: %s", p.Option, p.Text)
	}
	if r.promotes {
		wrong = append(wrong, checkPromotion(q)...)
	}
	if q.ChangedSince != "" && !runID.MatchString(q.ChangedSince) {
		add("changed_since: %q is not a run: its ID has 20 lower-case letters and digits", short(q.ChangedSince))
	}
	if slices.Contains(q.Adopt, "") {
		add("adopt: it contains an empty name: remove it")
	}
	if n := q.MaxDeletions; n != nil && *n < 0 && slices.Contains(r.options, plan.OptionMaxDeletions) {
		add("max_deletions: %d: give a number of stacks, 0 or more", *n)
	}
	if q.Plan != "" && slices.Contains(r.options, plan.OptionPlan) && !reference.MatchString(q.Plan) {
		add("plan: it is no reference of a saved plan, which has 64 hexadecimal digits: take that of the file that plan --out has written")
	}
	if slices.Contains(r.options, plan.OptionUntil) && (q.For == 0) == q.Until.IsZero() {
		add("until: give either for, such as 2d, or until, such as 2026-03-01T12:00:00Z, and not both")
	}
	if r.needsReason && q.Reason == "" {
		add("reason: missing: say why, for the record")
	}
	if r.needsDigest && q.PlanDigest == "" {
		add("plan_digest: %s", noDigest)
	}
	return wrong
}

// checkPromotion lists the errors of the environment whose revision a request promotes.
func checkPromotion(q run.Request) []string {
	switch from := q.FromEnvironment; {
	case from == "":
		return []string{"options.from_environment: missing: name the environment whose revision is promoted"}
	case !project.EnvironmentName.MatchString(from):
		return []string{fmt.Sprintf("options.from_environment: %q is not the name of an environment: use letters, digits and hyphens, at most 64", short(from))}
	case q.PromotedFrom() == q.Project:
		return []string{"options.from_environment: " + from + " is the environment to which the request is sent: name another one, whose revision is promoted to it"}
	}
	return nil
}

// namesWithOption lists the operations and commands that have an option.
func namesWithOption(all plan.Operations, option plan.Option) []string {
	var names []string
	for _, r := range rows(all) {
		if slices.Contains(r.options, option) {
			names = append(names, r.name)
		}
	}
	return names
}

// tooLong lists which texts of a request are longer than allowed.
func tooLong(q run.Request) []string {
	var all []string
	for _, x := range []struct{ name, text string }{
		{"operation", q.Operation}, {"key", q.Source.Key}, {"version", q.Source.Version},
		{"options.run", q.Of}, {"options.changed_since", q.ChangedSince}, {"options.plan_digest", q.PlanDigest}, {"options.step", q.Step}, {"options.to", q.To}, {"options.from_environment", q.FromEnvironment}, {"options.from_revision", q.FromRevision}, {"options.snapshot", q.Snapshot}, {"options.who", q.Claim}, {"options.reason", q.Reason},
	} {
		if len(x.text) > maxText {
			all = append(all, longText(x.name, x.text))
		}
	}
	return all
}

// longText says that a text is too long.
func longText(name, text string) string {
	return fmt.Sprintf("%s: it has %d bytes, at most %d are allowed", name, len(text), maxText)
}

// short cuts a text that is too long for a message.
func short(text string) string { return shorten.To(200, text) }
