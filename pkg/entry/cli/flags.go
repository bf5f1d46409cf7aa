package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// flags are those of all commands; each command has some of them.
type flags struct {
	env, project, data, endpoint, output, functions, listen, console, reason, step        string
	account, region, role, execution, projects, out, saved, live, folder, detected        string
	to, before, revision                                                                  string          // revisions
	from, into                                                                            string          // environments, of a promotion
	lives                                                                                 string          // how long an environment does
	installation, api                                                                     string          // on AWS: the stack, or the URL of the API; "" is a laptop
	given                                                                                 map[string]bool // by name: those on the command line
	located                                                                               bool            // something says which installation it is
	named                                                                                 bool            // the project file says it
	empty                                                                                 []string        // those of them that have no value, sorted
	seconds                                                                               float64
	fetch, yes, plan, exact, exitCode, revert, force, follow, untilIdle, rollback, refuse bool
	accept                                                                                bool
	exposed                                                                               bool // other machines may reach the address of serve
	link                                                                                  bool // to CloudFormation's estimate of what a stack costs
	targets                                                                               bool // many targets of a stack are shown each by itself
	noBackups, keepBackups                                                                bool // of snapshots
	whileSuspended                                                                        bool // also for suspended stacks
	quiet, noColor, raw, verbose, direct, open, noBrowser                                 bool
	deletions, limit, keep                                                                count
	age                                                                                   string // of what purge deletes
	only, exclude, adopt, retain, skip                                                    []string
	since, files                                                                          string
	dependencies                                                                          truth
	dependents                                                                            bool
	unit                                                                                  string   // the ID of an organizational unit
	except                                                                                []string // its accounts that are left out
	variables, variableFiles, mapped                                                      texts    // of a project of Sceptre
	filters                                                                               filters  // of a list
}

const (
	envPrefix  = "STACKWRIGHT_" // of the variables that set flags
	inProcess  = "inprocess"
	asBinaries = "binaries"
)

// The flags that several commands have, by their words in definitions.
const (
	where    = "installation api direct endpoint data "     // which installation a command is about
	hosted   = "seconds functions console open "            // how a laptop's installation is hosted
	watching = "output quiet targets "                      // how a followed run is shown
	recorded = "project env "                               // which records are meant
	listed   = "sort limit "                                // how a list is shown
	sceptred = "var var-file map "                          // what a project of Sceptre gets beside its files
	selected = "exclude with-dependencies with-dependents " // which stacks a deploy is about, beside those that it names
)

// defaults are the flags of a command that has none of them.
func defaults() flags {
	return flags{data: ".stackwright", output: "text", seconds: 1.5, functions: inProcess, listen: "127.0.0.1:4566"}
}

// A definition says what a flag sets, a short form and the usage. The default is the
// value that the flag sets.
type definition struct {
	to           any
	short, usage string
}

// definitions are those of all flags, by name. If a flag means something else to
// some commands, the word for them has a dot and more behind the name.
func (f *flags) definitions() map[string]definition {
	return map[string]definition{
		"installation":        {to: &f.installation, usage: "use the installation on AWS with this CloudFormation `stack` name"},
		"api":                 {to: &f.api, usage: "use the installation on AWS whose HTTP API has this `URL`"},
		"direct":              {to: &f.direct, usage: "use its table and bucket instead of its API; for its owner"},
		"endpoint":            {to: &f.endpoint, usage: "use the installation of the serve command at this `URL`"},
		"data":                {to: &f.data, usage: "`folder` with the state of a laptop's installation"},
		"seconds":             {to: &f.seconds, usage: "on a laptop: simulated `seconds` that an operation on a stack takes"},
		"functions":           {to: &f.functions, usage: "on a laptop: `how` functions run, inprocess or binaries (make build builds them)"},
		"output":              {to: &f.output, short: "o"}, // its usage names the formats of the command
		"quiet":               {to: &f.quiet, short: "q", usage: "print only results and errors"},
		"no-color":            {to: &f.noColor, usage: "print without colour (as the variable NO_COLOR does)"},
		"env.files":           {to: &f.env, usage: "`environment` of the project (default: default, unless the files list only others)"},
		"var":                 {to: &f.variables, usage: "for a project of Sceptre: a variable, as `NAME=VALUE` or NAME.KEY=VALUE; may be repeated"},
		"var-file":            {to: &f.variableFiles, usage: "for a project of Sceptre: a YAML `file` of variables; may be repeated"},
		"map":                 {to: &f.mapped, usage: "the registered target for a profile of Sceptre or an environment of the CDK, as `PROFILE=TARGET`; may be repeated"},
		"fetch":               {to: &f.fetch, usage: "fetch the files that the project names by https URLs"},
		"env.all":             {to: &f.env, usage: "only this `environment` of the project"},
		"project.new":         {to: &f.project, usage: "the `name` of the project"},
		"project.folder":      {to: &f.folder, usage: "write a project into this `folder`, from the live stacks, in place of the document"},
		"from-live":           {to: &f.live, usage: "write the project of the existing stacks whose names begin with this `prefix`"},
		"out":                 {to: &f.out, usage: "write templates and requests into this `folder`"},
		"out.convert":         {to: &f.out, usage: "write the project into this `folder`; required"},
		"out.accept":          {to: &f.out, usage: "with --accept: write the copies into this `folder`; required"},
		"out.plan":            {to: &f.out, usage: "write the plan into this `file`, for deploy --plan"},
		"plan.saved":          {to: &f.saved, usage: "carry out the plan in this `file`, which plan --out has written, and nothing else"},
		"env":                 {to: &f.env, usage: "only this `environment`"},
		"project":             {to: &f.project, usage: "only this `project`"},
		"only":                {to: &f.only, usage: "only these `stacks`, separated by commas, and their dependencies: network/vpc, network/ for all below it, '*-db', or tag:team=shop"},
		"exclude":             {to: &f.exclude, usage: "leave out these `stacks`, written as for --only"},
		"changed-since.files": {to: &f.since, usage: "only stacks whose files differ from those of this `revision` or run: mfrg, current or previous"},

		"retain":                    {to: &f.retain, usage: "keep these `resources` of the stacks, and import them into the new stacks: Table, data/db:Table or 'data/*:*'; they need DeletionPolicy: Retain"},
		"skip":                      {to: &f.skip, usage: "when a failed rollback is continued, skip these `resources`, such as data/db.Table: CloudFormation takes them for restored"},
		"files":                     {to: &f.files, usage: "`folder`, project file or archive of the project (default: as for deploy without DIR)"},
		"plan.replace":              {to: &f.plan, usage: "show what would be deleted, created again, updated and lost, and change nothing"},
		"with-dependencies":         {to: &f.dependencies, usage: "add what the selected stacks depend on, as deploys do by default; =false does not, and needs them deployed"},
		"with-dependencies.records": {to: &f.dependencies, usage: "add what the selected stacks depend on"},
		"with-dependents":           {to: &f.dependents, usage: "add what depends on the selected stacks"},

		"only.records":    {to: &f.only, usage: "only these `stacks`, separated by commas: network/vpc, network/ for all below it, '*-db', or tag:team=shop"},
		"adopt.deploy":    {to: &f.adopt, usage: "also take over these existing `stacks`, separated by commas, as adopt: true in the project file does"},
		"only.adopt":      {to: &f.only, usage: "only these `stacks`, separated by commas: network/vpc, network/ for all below it, '*-db', or tag:team=shop"},
		"refuse":          {to: &f.refuse, usage: "if another run holds the lock, refuse this run instead of queueing it"},
		"rollback.failed": {to: &f.rollback, usage: "if it fails, roll back to the last successful deploy"},
		"rollback.cancel": {to: &f.rollback, usage: "then roll back to the last successful deploy"},
		"force.retry":     {to: &f.force, usage: "retry although something newer was deployed since"},
		"force.cancel":    {to: &f.force, usage: "have CloudFormation cancel the updates in progress, too"},
		"max-deletions":   {to: &f.deletions, usage: "the `number` of stacks that may be deleted permanently (default: max_deletions of the project; without it, ten or half of the stacks, whichever is less)"},
		"no-backups":      {to: &f.noBackups, usage: "back up no data: the snapshot has only the files"},
		"keep-backups":    {to: &f.keepBackups, usage: "keep the backups of the snapshot: Stackwright does not know them any more"},
		"while-suspended": {to: &f.whileSuspended, usage: "also for stacks that are suspended: what CloudFormation starts there runs, and the stacks stay suspended"},
		"yes":             {to: &f.yes, usage: "do not ask"},
		"yes.none":        {to: &f.yes, usage: "has no effect here: the command does not ask; a script can give it to all commands"},
		"plan.destroy":    {to: &f.plan, usage: "show what would be deleted and lost, and delete nothing"},
		"link":            {to: &f.link, usage: "also show CloudFormation's own link for each stack, to AWS's calculator; it needs cloudformation:EstimateTemplateCost"},
		"exact":           {to: &f.exact, usage: "ask CloudFormation with change sets, which are deleted afterwards, what the updates would change"},
		"plan.adopt":      {to: &f.plan, usage: "show what differs between the stacks and the project, and adopt none"},
		"only.prune":      {to: &f.only, usage: "only these obsolete `stacks`, separated by commas: network/vpc, network/ for all below it, or '*-db'"},
		"plan.revert":     {to: &f.plan, usage: "with --revert: show what would be changed, by change sets, and change nothing"},
		"revert":          {to: &f.revert, usage: "bring back what the last drift detection has found"},
		"plan.prune":      {to: &f.plan, usage: "show what would be deleted and lost, and delete nothing"},
		"plan.suspend":    {to: &f.plan, usage: "show what would be stopped, and what keeps running, and stop nothing"},
		"plan.resume":     {to: &f.plan, usage: "show what would be started, and start nothing"},
		"plan.forget":     {to: &f.plan, usage: "show which records would be deleted, and delete none"},
		"operation":       {to: &f.filters.operation, usage: "only runs of this `operation`"},
		"state":           {to: &f.filters.state, usage: "only runs in this `state`, such as failed"},
		"who":             {to: &f.filters.who, usage: "only runs whose requester contains this `text`"},
		"since":           {to: &f.filters.since, usage: "only since this `time`: 2026-03-01T12:00:00Z, 2026-03-01, or how long ago, such as 12h or 7d"},
		"until":           {to: &f.filters.until, usage: "only before this `time`, written as for --since"},
		"until.extend":    {to: &f.filters.until, usage: "until this `time`: 2026-03-01T12:00:00Z, or 2026-03-01"},
		"for":             {to: &f.lives, usage: "so `long` from now on: 2d, or 12h"},
		"changed-since":   {to: &f.filters.changed, usage: "only stacks that CloudFormation changed since this `time`: 2026-03-01T12:00:00Z, 2026-03-01, or how long ago, such as 12h or 7d"},
		"target":          {to: &f.filters.target, usage: "only stacks in this `target`"},
		"tag":             {to: &f.filters.tags, usage: "only stacks with these `tags`: team, or team=web"},
		"status":          {to: &f.filters.status, usage: "only stacks with this `status` in CloudFormation; 'UPDATE_*' is all that begin so"},
		"stack":           {to: &f.filters.stack, usage: "only the `stack` with this name in the project; 'data/*' is all whose names begin so"},
		"stack.events":    {to: &f.filters.stack, usage: "only events of steps of this `stack`"},
		"event":           {to: &f.filters.event, usage: "only events of this `kind`, such as step_ended"},
		"type":            {to: &f.filters.kind, usage: "only resources of this `type`; 'AWS::RDS::*' is all types that begin so"},
		"physical-id":     {to: &f.filters.physical, usage: "only resources with this physical `ID`; with a star at its end, those whose IDs begin so"},
		"older-than":      {to: &f.age, usage: "what ended or was put so `long` ago: 90d, or 48h"},
		"keep":            {to: &f.keep, usage: "keep this `number` of the newest runs of each project and environment (default 50)"},
		"plan.purge":      {to: &f.plan, usage: "show what would be deleted, and delete nothing"},
		"sort":            {to: &f.filters.sort, usage: "sort by this `column`, such as project; -project is the other direction"},
		"limit":           {to: &f.filters.most, usage: "list at most this `number`"},
		"step":            {to: &f.step, usage: "answer only this `step` of the run, such as db/approve; without it, all that wait"},
		"reason":          {to: &f.reason, usage: "the `reason`: it is recorded with the run"},
		"exit-code":       {to: &f.exitCode, usage: "end with 5 if there are changes"},
		"exit-code.drift": {to: &f.exitCode, usage: "end with 5 if a stack has drifted"},
		"accept":          {to: &f.accept, usage: "write the live values into copies of the templates, for you to commit"},
		"run.accept":      {to: &f.detected, usage: "with --accept: use what this `run` of drift has found, and detect nothing"},
		"exit-code.plan":  {to: &f.exitCode, usage: "with --plan: end with 5 if there are stacks to delete"},
		"exit-code.back":  {to: &f.exitCode, usage: "with --plan: end with 5 if there are changes"},
		"plan.kept":       {to: &f.plan, usage: "show which snapshots and backups would be deleted, and which stay, and delete nothing"},
		"exit-code.kept":  {to: &f.exitCode, usage: "with --plan: end with 5 if there are snapshots to delete"},
		"plan.back":       {to: &f.plan, usage: "show what would be changed, deleted and lost, and change nothing"},
		"to":              {to: &f.to, usage: "the `revision` to roll back to (default: previous, the last one that was deployed successfully before the current one, or before what has failed since)"},
		"from":            {to: &f.from, usage: "the `environment` whose revision is deployed; required"},
		"to.promote":      {to: &f.into, usage: "the `environment` to which it is deployed; required"},
		"revision":        {to: &f.revision, usage: "the `revision` of the environment (default: the one that was deployed there last, if nothing newer has failed or is not over)"},
		"before":          {to: &f.before, usage: "only revisions that are older than this `revision`"},
		"limit.revisions": {to: &f.limit, usage: fmt.Sprintf("at most this `number` of revisions (default %d)", usualRevisions)},
		"follow":          {to: &f.follow, short: "f", usage: "follow the run to its end"},
		"targets":         {to: &f.targets, usage: "show each target of a stack that has many, instead of one line"},
		"raw":             {to: &f.raw, usage: "print the value of one output, and nothing else"},
		"account":         {to: &f.account, usage: "`ID` of the account (default the installation's own)"},
		"ou":              {to: &f.unit, usage: "`ID` of an organizational unit of AWS Organizations, for all of whose accounts the target stands"},
		"except":          {to: &f.except, usage: "an `account` of the unit that is left out; may be repeated"},
		"region":          {to: &f.region, usage: "`region` of the target"},
		"role":            {to: &f.role, usage: "`ARN` of the role that Stackwright assumes there; required for another account"},
		"execution-role":  {to: &f.execution, usage: "`ARN` of the role that CloudFormation uses there (default, in the installation's own account: the installation's role)"},
		"projects":        {to: &f.projects, usage: "the projects that may use it, as `patterns` with commas: 'shop@prod,team-*@*', or '*@*' for all; required"},
		"listen":          {to: &f.listen, usage: "`address` to listen at"},
		"exposed":         {to: &f.exposed, usage: "let other machines reach --listen; all of their users may then deploy, destroy and read every file, without a signature"},
		"console":         {to: &f.console, usage: "`address` of this machine to serve the page at, for a browser; off for none (default, for serve and on a terminal: 127.0.0.1:4567, or a free port)"},
		"console.page":    {to: &f.console, usage: "`address` of this machine to serve the page at (default 127.0.0.1:4567, or a free port)"},
		"no-browser":      {to: &f.noBrowser, usage: "print the address of the page, and open no browser"},
		"open":            {to: &f.open, usage: "open the page in the browser, if this command serves it"},
		"until-idle":      {to: &f.untilIdle, usage: "end when no run is in progress"},
		"verbose":         {to: &f.verbose, usage: "print metrics and the logs of the functions, too"},
	}
}

// add adds flags to a command's, by their words.
func (f *flags) add(set *pflag.FlagSet, words string) {
	all := f.definitions()
	for word := range strings.FieldsSeq(words) {
		name, _, _ := strings.Cut(word, ".")
		d := all[word]
		switch to := d.to.(type) {
		case *string:
			set.StringVarP(to, name, d.short, *to, d.usage)
		case *bool:
			set.BoolVarP(to, name, d.short, *to, d.usage)
		case *float64:
			set.Float64Var(to, name, *to, d.usage)
		case *[]string:
			set.StringSliceVar(to, name, *to, d.usage)
		case pflag.Value:
			set.Var(to, name, d.usage)
			if to.Type() == "bool" {
				set.Lookup(name).NoOptDefVal = "true"
			}
		default:
			panic(fmt.Sprintf("flag %q is not defined", word)) // a test builds every command
		}
	}
}

// A texts has the values of a flag that is repeated. A comma is part of a value.
type texts []string

// String is pflag.Value.
func (t *texts) String() string { return strings.Join(*t, " ") }

// Set is pflag.Value.
func (t *texts) Set(word string) error {
	*t = append(*t, word)
	return nil
}

// Type is pflag.Value. It names the value in the usage.
func (*texts) Type() string { return "text" }

// A count is a number that may be absent: absent is not the same as 0.
type count struct{ n *int }

// String is pflag.Value.
func (c *count) String() string {
	if c.n == nil {
		return ""
	}
	return strconv.Itoa(*c.n)
}

// Set is pflag.Value.
func (c *count) Set(word string) error {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return fault.New(fault.Invalid, "give a whole number, 0 or more")
	}
	c.n = &n
	return nil
}

// Type is pflag.Value.
func (*count) Type() string { return "int" }

// A truth is true or false, or absent.
type truth struct{ is *bool }

// String is pflag.Value.
func (t *truth) String() string {
	if t.is == nil {
		return ""
	}
	return strconv.FormatBool(*t.is)
}

// Set is pflag.Value.
func (t *truth) Set(word string) error {
	is, err := strconv.ParseBool(word)
	if err != nil {
		return fault.New(fault.Invalid, "give true or false")
	}
	t.is = &is
	return nil
}

// Type is pflag.Value.
func (*truth) Type() string { return "bool" }

// variable is the environment variable that sets a flag.
func variable(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// noValue is how a flag without a value is written, by the type of the flag.
var noValue = map[string]string{"string": "", "text": "", "stringSlice": "[]"}

// complete takes from the environment what the command line leaves out. If the
// command line names an installation, the environment does not name another.
func (f *flags) complete(set *pflag.FlagSet, getenv func(string) string) error {
	f.given = make(map[string]bool)
	set.Visit(func(one *pflag.Flag) {
		f.given[one.Name] = true
		if empty, text := noValue[one.Value.Type()]; text && one.Value.String() == empty && one.Name != "reason" {
			f.empty = append(f.empty, one.Name)
		}
	})
	place := []string{"installation", "api", "endpoint", "data"}
	placed := slices.ContainsFunc(place, func(name string) bool { return f.given[name] })
	f.located = placed || slices.ContainsFunc(place, func(name string) bool { return getenv(variable(name)) != "" })
	var err error
	set.VisitAll(func(one *pflag.Flag) {
		value := getenv(variable(one.Name))
		if value == "" || err != nil || f.given[one.Name] || one.Name == "help" || placed && slices.Contains(place, one.Name) {
			return
		}
		if wrong := one.Value.Set(value); wrong != nil {
			err = fault.New(fault.Invalid, "%s=%s: %s", variable(one.Name), quoted(value), wanted(one))
		}
	})
	if f.endpoint != "" && !strings.Contains(f.endpoint, "://") {
		f.endpoint = "http://" + f.endpoint
	}
	return err
}

// wanted says what a flag takes.
func wanted(one *pflag.Flag) string {
	switch one.Value.Type() {
	case "bool":
		return "give true or false"
	case "float64":
		return "give a number"
	case "int":
		return "give a whole number, 0 or more"
	}
	return "this value cannot be used"
}

// check refuses values that no command takes.
func (f flags) check(outputs []string) error {
	switch {
	case !slices.Contains(outputs, f.output):
		return fault.New(fault.Invalid, "-o %s: use one of %s", quoted(f.output), strings.Join(outputs, ", "))
	case !slices.Contains([]string{inProcess, asBinaries}, f.functions):
		return fault.New(fault.Invalid, "--functions %s: use inprocess or binaries", quoted(f.functions))
	case f.seconds < 0:
		return fault.New(fault.Invalid, "--seconds %v: give 0 or more", f.seconds)
	case f.data == "":
		return fault.New(fault.Invalid, "--data: name a folder")
	case f.given["env"] && f.env == "":
		return fault.New(fault.Invalid, "--env: name an environment, or leave it out")
	case f.given["out"] && f.out == "":
		return fault.New(fault.Invalid, "--out: name where to write")
	case f.given["plan"] && !f.plan && f.saved == "":
		return fault.New(fault.Invalid, "--plan: name a file that plan --out has written")
	case f.limit.n != nil && *f.limit.n == 0:
		return fault.New(fault.Invalid, "--limit 0: give 1 or more")
	case f.given["revision"] && f.revision == "":
		return fault.New(fault.Invalid, "--revision: name a revision, or leave it out: without it, the command promotes the one that was deployed last")
	case f.given["to"] && f.to == "" && f.into == "" && !f.given["from"]:
		return fault.New(fault.Invalid, "--to: name a revision, or leave it out: without it, the command rolls back to the previous one")
	case f.given["only"] && len(f.only) == 0:
		return fault.New(fault.Invalid, "--only: name a stack, or leave it out: without it, the command is about all stacks")
	case f.given["changed-since"] && f.since == "" && f.filters.changed == "":
		return fault.New(fault.Invalid, "--changed-since: name a revision or a run, or leave it out")
	case f.plan && f.given["refuse"]:
		return fault.New(fault.Invalid, "--refuse has no effect with --plan, which takes no lock: leave it out")
	case f.given["installation"] && f.installation == "":
		return fault.New(fault.Invalid, "--installation: name its CloudFormation stack")
	case f.given["installation"] && (f.given["data"] || f.given["endpoint"]):
		return fault.New(fault.Invalid, "--installation is on AWS, --data and --endpoint are on a laptop: give one of them")
	case f.given["api"] && (f.given["installation"] || f.given["data"] || f.given["endpoint"]):
		return fault.New(fault.Invalid, "--api is the URL of an installation: give it without --installation, --data and --endpoint")
	case f.given["api"] && f.api == "":
		return fault.New(fault.Invalid, "--api: give the URL of the API, which is the output ApiUrl of the installation's stack")
	case f.given["direct"] && f.direct && (f.api != "" || f.installation == ""):
		return fault.New(fault.Invalid, "--direct finds table and bucket in the outputs of a stack: give it with --installation")
	}
	var wrong []error
	for _, name := range f.empty {
		wrong = append(wrong, fault.New(fault.Invalid, "--%s: it is empty: give it a value, or leave it out", name))
	}
	for _, p := range f.selection().Problems() {
		wrong = append(wrong, fault.New(fault.Invalid, "--%s: %s", strings.ReplaceAll(string(p.Option), "_", "-"), p.Text))
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	for _, only := range []string{"seconds", "functions"} {
		if f.given[only] && f.onAWS() {
			return fault.New(fault.Invalid, "--%s is for a laptop, and installation %s is on AWS: leave it out, or give --data or --endpoint", only, cmp.Or(f.api, f.installation))
		}
	}
	return nil
}

// selection is what the flags select.
func (f flags) selection() plan.Selection {
	return plan.Selection{Only: f.only, Exclude: f.exclude, WithDependencies: f.dependencies.is, WithDependents: f.dependents, ChangedSince: f.since}
}

// onAWS reports whether the command is about an installation on AWS.
func (f flags) onAWS() bool { return f.installation != "" || f.api != "" }

// where spells the flags by which another command finds the same installation.
func (f flags) where() []string {
	switch {
	case f.given["api"]:
		return []string{"--api", f.api}
	case (f.given["installation"] || f.named) && f.direct:
		return []string{"--installation", f.installation, "--direct"}
	case f.given["installation"], f.named:
		return []string{"--installation", f.installation}
	case f.given["endpoint"]:
		return []string{"--endpoint", f.endpoint}
	case f.given["data"]:
		return []string{"--data", f.data}
	}
	return nil // the environment says so, or it is the default
}

// commandLine writes a command as a person types it.
func (c *call) commandLine(words ...string) string {
	all := []string{c.Self}
	for _, w := range append(words, c.flags.where()...) {
		all = append(all, quoted(w))
	}
	return strings.Join(all, " ")
}

// next writes the command that does something about a run, as a person types it: a deploy with the files that the call was given.
func (c *call) next(words ...string) string {
	if words[0] != "deploy" {
		return c.commandLine(words...)
	}
	if strings.HasPrefix(c.command.args, "[DIR") && len(c.args) > 0 {
		words = slices.Insert(words, 1, c.args[0])
	} else if c.flags.files != "" {
		words = slices.Insert(words, 1, c.flags.files)
	}
	for _, given := range []struct {
		flag   string
		values texts
	}{{"--var", c.flags.variables}, {"--var-file", c.flags.variableFiles}, {"--map", c.flags.mapped}} {
		for _, value := range given.values {
			words = append(words, given.flag, value)
		}
	}
	return c.commandLine(words...)
}

// commandAbout writes a command about the folder, project and environment that the call was given, as a person types it.
func (c *call) commandAbout(words ...string) string {
	if !c.command.selects {
		words = append(words, c.args...)
	}
	for _, one := range []struct{ flag, value string }{{"project", c.flags.project}, {"env", c.flags.env}} {
		if c.flags.given[one.flag] {
			words = append(words, "--"+one.flag, one.value)
		}
	}
	return c.commandLine(words...)
}

// quoted puts a word in quotes if a shell would not take it as it is.
func quoted(word string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@=,%+~", r)
	}
	if word != "" && !strings.ContainsFunc(word, odd) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
