package stepfn_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A kind is a kind of argument.
type kind struct {
	noun  string
	names func(*reader) []string                      // the names to suggest from; nil if they cannot be listed
	takes func(*reader, *statement, []string) (n int) // how many of the words are one argument of this kind; 0 if the first is not
}

// one returns a kind whose arguments are the given names.
func one(noun string, names ...string) *kind {
	return oneOf(noun, func(*reader) []string { return names })
}

// oneOf returns a kind whose arguments are names that the reader knows.
func oneOf(noun string, names func(*reader) []string) *kind {
	return &kind{noun, names, single(func(r *reader, arg string) bool { return slices.Contains(names(r), arg) })}
}

// single takes one word if it fits.
func single(fits func(*reader, string) bool) func(*reader, *statement, []string) int {
	return func(r *reader, _ *statement, args []string) int {
		if len(args) == 0 || !fits(r, args[0]) {
			return 0
		}
		return 1
	}
}

var (
	operations   = []string{"deploy", "destroy", "refresh", "check", "drift", "suspend", "resume", "plan"}
	requestVerbs = []string{"create", "update", "delete", "continue", "propose", "propose-revert", "revert", "detect", "withdraw", "import", "create-empty", "execute", "move-in", "execute-move", "refuse"}
	stepVerbs    = []string{
		string(plan.Create),
		string(plan.Update),
		string(plan.Delete),
		string(plan.Continue),
		string(plan.Wait),
		string(plan.Read),
		string(plan.Compare),
		string(plan.Detect),
		string(plan.ProposeRevert),
		string(plan.Revert),
		string(plan.Suspend),
		string(plan.Resume),
		string(plan.ProposeSuspend),
		string(plan.ProposeResume),
		string(plan.BackUp),
		string(plan.DeleteBackup),
		string(plan.DropSnapshot),
		string(plan.Adopt),
		string(plan.Forget),
		string(plan.Propose),
		string(plan.Import),
		string(plan.CreateEmpty),
		string(plan.MoveOut),
		string(plan.MoveIn),
		string(plan.Approve),
		string(plan.SetLevel),
		string(plan.SetHooks),
		string(plan.SetRetain),
		string(plan.Execute),
		string(plan.Publish),
		"approve:change-set",
		"approve:change-set2",
	}
	stepStatuses  = []string{string(run.Pending), string(run.Running), string(run.Done), string(run.Failed), string(run.Skipped), string(run.Waiting)}
	runStates     = states(run.StatePending, run.StateQueued, run.StateRunning, run.StateWaiting, run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateSuperseded, run.StateRefused)
	waitedFor     = states(run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateSuperseded, run.StateRefused, run.StateWaiting, run.StateQueued)
	ends          = set(waitedFor)
	stackStatuses = statuses()
)

// kinds are the kinds that forms name.
var kinds = map[string]*kind{
	"NUMBER":      {"a number", nil, single(func(_ *reader, arg string) bool { _, err := strconv.Atoi(arg); return err == nil })},
	"SECONDS":     {"a number of seconds", nil, single(func(_ *reader, arg string) bool { _, err := strconv.ParseFloat(arg, 64); return err == nil })},
	"TEXT":        {"a text", nil, single(func(*reader, string) bool { return true })},
	"VERSION":     {"a version", nil, single(func(_ *reader, arg string) bool { return isVersion(arg) })},
	"ANSWER":      one("an answer", "yes", "no"),
	"POLICY":      one("a policy", "rollback", "keep"),
	"LEVEL":       one("a level", "deny", "warn"),
	"STATE":       one("a state of runs", runStates...),
	"END":         {"an outcome", func(*reader) []string { return waitedFor }, takeOutcome(waitedFor)},
	"OUTCOME":     {"an outcome", func(*reader) []string { return append(waitedFor, "begins") }, takeOutcome(append(waitedFor, "begins"))},
	"TARGET":      one("a target", "eu", "us", "ap"),
	"PROJECT":     one("a project", "shop", "lab"),
	"ENVIRONMENT": one("an environment", environments...),
	"SCHEDULE":    oneOf("a schedule of this scenario", func(r *reader) []string { return keys(r.schedules) }),

	"PROJECT-STACK":      {"a stack with needs and targets that exist", nil, single((*reader).isProjectStack)},
	"SCHEDULE=OPERATION": {"a schedule and its operation", nil, single(isSchedule)},

	"STACK":           {"a stack of this scenario", func(r *reader) []string { return keys(r.stacks) }, single((*reader).isStack)},
	"STACK-STATUS":    one("a stack status", stackStatuses...),
	"TABLE":           {"the name of a table", nil, single(func(*reader, string) bool { return true })},
	"STACK/OPERATION": pair("an operation on a stack of this scenario", append([]string{"rollback"}, requestVerbs...)),
	"STACK/REQUEST":   pair("a request for a stack of this scenario", requestVerbs),

	"STEP":         step(),
	"STEP-STATUS":  one("a status of steps", stepStatuses...),
	"STEP-REQUEST": pair("a request for a stack of this scenario", append([]string{"cancel"}, requestVerbs...)),

	"RUN":        {"a run that has a name", func(r *reader) []string { return keys(r.runs) }, takeRun},
	"NEW-RUN":    {"a new name for a run", nil, takeNewRun},
	"LOCK-OWNER": {"a run that has a name, or free", func(r *reader) []string { return append(keys(r.runs), "free") }, single(func(r *reader, arg string) bool { return arg == "free" || r.runs[arg] })},

	"MOMENT":   one("a moment", hookMoments()...),
	"HOOK":     oneOf("a hook of this scenario", func(r *reader) []string { return keys(r.hooks) }),
	"NEW-HOOK": {"a name", nil, takeNewHook},
	"HOOK-OPTION": {"an option of a hook", func(*reader) []string {
		return []string{"starting", "putting", "posting", "ignored", "open", "opening", "closed", "watching", "emptying", "suspending", "resuming", "uploading", "mirroring", "keyed", "within"}
	}, takeHookOption},
	"DRIFT":           one("a drift", "deleted"),
	"ALARM-STATE":     one("a state of alarms", "OK", "ALARM", "INSUFFICIENT_DATA"),
	"ACCOUNT":         {"an account of twelve digits", nil, single(func(_ *reader, arg string) bool { return placeable(unitAccess.Name + "-" + arg) })},
	"CHANGE":          one("a change of an account", keysOf(accountChanges)...),
	"DOES":            one("what Organizations does", keysOf(organizationDoes)...),
	"SETTING":         one("a setting", "protection", "policy"),
	"HOOK-FAULT":      one("a fault", "crash-before", "crash-after", "answer-lost"),
	"DATABASE-STATUS": one("a status of databases", "available", "stopping", "stopped", "starting"),

	"PLAN-OPTION":     optionsOf("exactly", "skipping", "only", "excluding", "without-dependencies", "with-dependents", "changed-since"),
	"DEPLOY-OPTION":   optionsOf("max-deletions", "skipping", "rolling-back", "refusing", "only", "excluding", "without-dependencies", "with-dependents", "changed-since", "adopting", "as-planned", "by-the-plan", "while-suspended"),
	"DESTROY-OPTION":  optionsOf("refusing", "only", "excluding", "with-dependencies", "with-dependents"),
	"FORGET-OPTION":   optionsOf("refusing", "only", "excluding", "with-dependencies", "with-dependents"),
	"REPLACE-OPTION":  optionsOf("refusing", "only", "retaining", "excluding", "with-dependencies", "with-dependents", "max-deletions", "while-suspended"),
	"TO-OPTION":       optionsOf("to", "max-deletions", "rolling-back", "refusing", "only", "excluding", "without-dependencies", "with-dependents"),
	"FROM-OPTION":     optionsOf("from", "revision", "max-deletions", "rolling-back", "refusing", "while-suspended"),
	"SNAPSHOT-OPTION": optionsOf("called", "refusing", "without-backups", "keeping-backups"),
	"RESTORE-OPTION":  optionsOf("called", "max-deletions", "rolling-back", "refusing", "only", "excluding", "while-suspended"),
	"CANCEL-OPTION":   optionsOf("rolling-back", "forcing"),

	"PATH": {"a state of the machine", func(*reader) []string { return pathNames() }, single(func(_ *reader, arg string) bool { return isPathElement(arg) })},
}

// environments are those that scenarios may have.
var environments = []string{"default", "staging", "prod"}

func states(all ...run.State) []string {
	var names []string
	for _, s := range all {
		names = append(names, string(s))
	}
	return names
}

// statuses returns the statuses of CloudFormation, and "gone" for a stack that does not
// exist.
func statuses() []string {
	all := []string{plan.Status("").String()}
	for _, s := range types.StackStatus("").Values() {
		all = append(all, string(s))
	}
	return all
}

func set(names []string) map[string]bool {
	all := make(map[string]bool)
	for _, name := range names {
		all[name] = true
	}
	return all
}

// isStack reports whether the scenario has a stack of that name, which may be
// followed by a target.
func (r *reader) isStack(arg string) bool {
	name, target, placed := strings.Cut(arg, "@")
	known := placeable(target)
	if environment, rest, of := strings.Cut(name, "-"); of && slices.Contains(environments, environment) {
		name = rest
	}
	return r.stacks[name] && (known || !placed)
}

// isProjectStack reports whether a word is a valid stack of a project line, with
// dependencies and targets that exist.
func (r *reader) isProjectStack(arg string) bool {
	for _, s := range parseStacks([]string{arg}) {
		for _, name := range s.options {
			if _, known := stackOptions[name]; !known {
				return false
			}
		}
		for _, n := range s.needs {
			if !r.isStack(n.name) {
				return false
			}
		}
		for _, target := range s.targets {
			if target != unitAccess.Name && !placeable(target) {
				return false
			}
		}
		if !isVersion(s.version) || !strings.HasPrefix(s.physical, physicalName("")) {
			return false
		}
	}
	return true
}

// isVersion reports whether a word is a version: the letter v, r if the topic of the stack has a name, g if the stack has Auto Scaling groups, d if it has databases, b if one of them can be restored, t if it has tables with data, s if it has an ECS service, c if it has that and others that are stopped as a whole, n if it has a nested stack with an ECS service, or o if hooks may not reach all groups, and a number.
func isVersion(arg string) bool {
	kind, number := arg[:min(1, len(arg))], arg[min(1, len(arg)):]
	_, err := strconv.Atoi(number)
	return strings.Contains("vrgodcsbtnw", kind) && err == nil
}

// isPair reports whether arg is STACK/VERB.
func (r *reader) isPair(arg string, verbs []string) bool {
	name, verb, _ := strings.Cut(arg, "/")
	verb, _, _ = strings.Cut(verb, ":")
	return r.isStack(name) && slices.Contains(verbs, verb)
}

// pair returns the kind STACK/VERB.
func pair(noun string, verbs []string) *kind {
	names := func(r *reader) []string {
		var all []string
		for _, stack := range keys(r.stacks) {
			for _, verb := range verbs {
				all = append(all, stack+"/"+verb)
			}
		}
		return all
	}
	return &kind{noun, names, single(func(r *reader, arg string) bool { return r.isPair(arg, verbs) })}
}

// step returns the kind of steps: STACK/VERB, or the barrier.
func step() *kind {
	k := pair("a step of a stack of this scenario", stepVerbs)
	ofStack := k.takes
	k.takes = func(r *reader, st *statement, args []string) int {
		if len(args) > 0 && (strings.HasPrefix(args[0], string(plan.Verify)+":") || strings.HasPrefix(args[0], string(plan.Bake)+":") || strings.HasPrefix(args[0], string(plan.DeleteBackup)+":") || strings.HasPrefix(args[0], string(plan.DropSnapshot)+":") || args[0] == string(plan.Barrier) || args[0] == string(plan.Approve)) {
			return 1
		}
		if len(args) > 0 && r.isHookStep(args[0]) {
			return 1
		}
		return ofStack(r, st, args)
	}
	return k
}

func isSchedule(_ *reader, arg string) bool {
	name, operation, _ := strings.Cut(arg, "=")
	return name != "" && slices.Contains(operations, operation)
}

func takeOutcome(outcomes []string) func(*reader, *statement, []string) int {
	return func(_ *reader, st *statement, args []string) int {
		if len(args) == 0 || !slices.Contains(outcomes, args[0]) {
			return 0
		}
		st.outcome = args[0]
		return 1
	}
}

func takeRun(r *reader, st *statement, args []string) int {
	if len(args) == 0 || !r.runs[args[0]] {
		return 0
	}
	st.run = args[0]
	return 1
}

// takeNewRun takes a name that no run has and that has no other meaning.
func takeNewRun(r *reader, _ *statement, args []string) int {
	if len(args) == 0 || r.runs[args[0]] || ends[args[0]] || args[0] == "begins" || args[0] == "free" {
		return 0
	}
	r.runs[args[0]] = true
	return 1
}

// optionsOf returns a kind of options of requests, such as "max-deletions 3" or "only
// db,web". Stackwright itself refuses unknown names after "only" and "excluding".
func optionsOf(names ...string) *kind {
	return &kind{"an option with its value", func(*reader) []string { return names }, func(r *reader, st *statement, args []string) int {
		if len(args) == 0 || !slices.Contains(names, args[0]) {
			return 0
		}
		st.with.given = true
		switch args[0] {
		case "rolling-back":
			st.with.rollback = true
		case "refusing":
			st.with.refuse = true
		case "as-planned":
			st.with.saved = true
		case "by-the-plan":
			st.with.savedFor = true
		case "while-suspended":
			st.with.whileSuspended = true
		case "without-backups":
			st.with.noBackups = true
		case "keeping-backups":
			st.with.keepBackups = true
		case "exactly":
			st.with.exact = true
		case "forcing":
			st.with.force = true
		case "without-dependencies":
			st.with.apart = true
		case "with-dependencies":
			st.with.together = true
		case "with-dependents":
			st.with.dependents = true
		case "only", "adopting", "excluding", "retaining", "skipping":
			if len(args) < 2 {
				return 0
			}
			*map[string]*[]string{"only": &st.with.only, "adopting": &st.with.adopt, "excluding": &st.with.exclude, "retaining": &st.with.retain, "skipping": &st.with.skip}[args[0]] = strings.Split(args[1], ",")
			return 2
		case "to", "from", "revision", "called":
			if len(args) < 2 {
				return 0
			}
			*map[string]*string{"to": &st.with.to, "from": &st.with.from, "revision": &st.with.revision, "called": &st.with.called}[args[0]] = args[1]
			return 2
		case "changed-since": // a run that has a name
			if len(args) < 2 || !r.runs[args[1]] {
				return 0
			}
			st.with.since = args[1]
			return 2
		case "max-deletions":
			if len(args) < 2 {
				return 0
			}
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return 0
			}
			st.with.deletions = &n
			return 2
		}
		return 1
	}}
}
