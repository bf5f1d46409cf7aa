package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// An Operation is what a run does with a project: a row of AllOperations, in a file of
// its own. All other code reads the columns of the row and never its name.
type Operation struct {
	Name string

	// Plan makes the plan of a run. It joins everything that it refuses, each as a
	// Fault. It is nil for an operation that repeats another.
	Plan func(View) (Plan, error)

	// Lifetime makes the lifetime of the environment another one, and says so. It is nil for an operation about stacks. An operation
	// that has it takes no lock, has no steps, and no Plan.
	Lifetime func(Extension) (project.Lifetime, string, error)

	Requestable     bool     // users may request it; others are requested by Stackwright itself
	Repeats         bool     // it repeats the operation of another run
	NeedsFiles      bool     // it reads the project's files; other operations read only the records
	FromRevision    bool     // its files are those of a revision, which a request names, and no files. Unless it promotes, so are the values from outside the project
	Promotes        bool     // with FromRevision: the revision is that of another environment of the project, which a request names
	Adopts          bool     // it adopts the stacks of all nodes that it is about
	Recreates       bool     // it deletes stacks that are as desired, and creates them again
	Prunes          bool     // it deletes the obsolete stacks of the project's files, and is about no others
	OfUnreachable   bool     // it is also about stacks in accounts that nobody can use at present
	NeedsOnly       bool     // it is about the stacks that the request names, and never about all
	Compares        bool     // it finds out how stacks differ from what is known of them, and changes none
	Preview         bool     // its plan is shown and never executed: it takes no lock and changes no stack
	Proposes        bool     // with Preview: its steps are executed, and read what it would change
	Approvable      bool     // it changes, destroys, stops or unmanages something, so its plan has to be approved where the project demands it
	Writes          bool     // it brings the stacks to a state that the history of deployments records
	DeletesAll      bool     // it leaves no stack behind
	Restores        bool     // it restores an earlier deployment, so the history does not count it as an attempt
	Reversible      bool     // a rollback can follow a run that failed or was cancelled
	Retryable       bool     // a retry can repeat its runs
	Schedulable     bool     // schedules may request it
	PrunesSnapshots bool     // its steps delete the snapshots that the policy of the project does not keep
	TakesSnapshot   bool     // once it has succeeded, the history has the snapshot that its request names
	DeletesSnapshot bool     // it deletes the snapshot that its request names: once it has succeeded, the history does not have it
	NeedsRunning    bool     // it is refused for suspended stacks, unless the request has OptionWhileSuspended
	Options         []Option // that a request for it may have

	ShownBy string // the operation that shows its plan, if that is not PlanPrefix and its name
	Command string // how the command line requests it, if that is neither its name nor, of a preview, the command of what is previewed with --plan
	Effect  string // what a run of it does, for people; {run} stands for the run that it repeats or rolls back
}

// Deploys reports whether the operation plans to bring the stacks to what the project's files say.
func (o Operation) Deploys() bool { return o.NeedsFiles && !o.Adopts && !o.Prunes }

// NeedsConsent reports whether it deletes stacks whatever the files are, so a user has to confirm it.
func (o Operation) NeedsConsent() bool {
	return !o.Preview && (o.DeletesAll || o.Prunes || o.Recreates)
}

// OnlyDeletes reports whether all that it does to stacks or snapshots is to delete them, to create them again perhaps.
func (o Operation) OnlyDeletes() bool {
	return o.NeedsConsent() || !o.Preview && (o.DeletesSnapshot || o.PrunesSnapshots)
}

// DeploysAgain reports whether it deploys what the project was deployed with before: its files, and its values from outside the project.
func (o Operation) DeploysAgain() bool { return o.FromRevision && !o.Promotes }

// WithoutSteps reports whether its runs may have no steps, because they change no stack.
func (o Operation) WithoutSteps() bool {
	return o.Lifetime != nil || o.TakesSnapshot || o.DeletesSnapshot || o.PrunesSnapshots
}

// NeedsSource reports whether a request for it names the project's files.
func (o Operation) NeedsSource() bool { return o.NeedsFiles && !o.FromRevision }

// EffectFor returns the effect of a run that repeats or rolls back the run with ID of.
func (o Operation) EffectFor(of string) string { return strings.ReplaceAll(o.Effect, "{run}", of) }

// An Option is a key of a request's options. The rows of operations and commands
// say which options each of them has.
type Option string

// The options.
const (
	OptionForce          Option = "force"
	OptionReason         Option = "reason"
	OptionRollback       Option = "rollback"
	OptionRefuse         Option = "refuse"
	OptionOnly           Option = "only"
	OptionExclude        Option = "exclude"
	OptionAdopt          Option = "adopt"
	OptionRetain         Option = "retain"
	OptionSkip           Option = "skip"
	OptionMaxDeletions   Option = "max_deletions"
	OptionExact          Option = "exact"
	OptionPlan           Option = "plan"
	OptionUpload         Option = "upload"
	OptionDigest         Option = "plan_digest"
	OptionStep           Option = "step"
	OptionTo             Option = "to"
	OptionSnapshot       Option = "snapshot"
	OptionWhileSuspended Option = "while_suspended"
	OptionNoBackups      Option = "no_backups"
	OptionKeepBackups    Option = "keep_backups"
	OptionFor            Option = "for"
	OptionUntil          Option = "until"

	OptionWithDependencies Option = "with_dependencies"
	OptionWithDependents   Option = "with_dependents"
	OptionChangedSince     Option = "changed_since"

	OptionFromEnvironment Option = "from_environment"
	OptionFromRevision    Option = "from_revision"
)

// Options lists the options.
func Options() []Option {
	return []Option{
		OptionForce,
		OptionReason,
		OptionRollback,
		OptionRefuse,
		OptionOnly,
		OptionExclude,
		OptionWithDependencies,
		OptionWithDependents,
		OptionChangedSince,
		OptionAdopt,
		OptionRetain,
		OptionSkip,
		OptionMaxDeletions,
		OptionExact,
		OptionPlan,
		OptionUpload,
		OptionDigest,
		OptionStep,
		OptionTo,
		OptionFromEnvironment,
		OptionFromRevision,
		OptionSnapshot,
		OptionNoBackups,
		OptionKeepBackups,
		OptionWhileSuspended,
		OptionFor,
		OptionUntil,
	}
}

// Operations is a table of operations.
type Operations []Operation

// AllOperations is the table of the operations of this version.
func AllOperations() Operations {
	return Operations{
		deploy(),
		preview(),
		destroy(),
		previewDestroy(),
		refresh(),
		check(),
		drift(),
		revertDrift(),
		previewRevertDrift(),
		suspend(),
		previewSuspend(),
		resume(),
		previewResume(),
		adopt(),
		previewAdopt(),
		prune(),
		previewPrune(),
		forget(),
		previewForget(),
		replace(),
		previewReplace(),
		rollbackTo(),
		previewRollbackTo(),
		promote(),
		previewPromote(),
		extend(),
		warn(),
		snapshot(),
		deleteSnapshot(),
		previewDeleteSnapshot(),
		pruneSnapshots(),
		previewPruneSnapshots(),
		restore(),
		previewRestore(),
		retry(),
		rollback(),
	}
}

// Named returns the operation of the given name. It reports false, with the zero
// Operation, if there is none.
func (all Operations) Named(name string) (Operation, bool) {
	if i := slices.IndexFunc(all, func(o Operation) bool { return o.Name == name }); i >= 0 {
		return all[i], true
	}
	return Operation{}, false
}

// Of returns the operation of the given name; the zero Operation, which has no
// properties, if there is none.
func (all Operations) Of(name string) Operation {
	o, _ := all.Named(name)
	return o
}

// CommandOf returns how the command line requests an operation.
func CommandOf(operation string) string {
	o := AllOperations().Of(operation)
	if of, previews := strings.CutPrefix(operation, PlanPrefix); previews && o.Command == "" {
		return CommandOf(of) + " --plan"
	}
	return cmp.Or(o.Command, operation)
}

// IsPreview reports whether the plan of an operation is shown and never executed.
func IsPreview(operation string) bool { return AllOperations().Of(operation).Preview }

// Names lists the names of the operations for which wanted is true, in their order.
func (all Operations) Names(wanted func(Operation) bool) []string {
	var names []string
	for _, o := range all {
		if wanted(o) {
			names = append(names, o.Name)
		}
	}
	return names
}

// Requestable lists the operations that users may request.
func (all Operations) Requestable() []string {
	return all.Names(func(o Operation) bool { return o.Requestable })
}

// Schedulable lists the operations that schedules may request.
func (all Operations) Schedulable() []string {
	return all.Names(func(o Operation) bool { return o.Schedulable })
}
