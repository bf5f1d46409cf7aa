package report

import "time"

// A RunRequest is a request for a run.
type RunRequest struct {
	Operation string     `json:"operation"`                                                 // what the run does
	Key       string     `json:"key,omitempty" jsonschema:"minLength=1,maxLength=1024"`     // of the configuration in the bucket
	Version   string     `json:"version,omitempty" jsonschema:"minLength=1,maxLength=1024"` // of the configuration
	Options   RunOptions `json:"options,omitzero"`
}

// RunOptions are the options of a run. Each operation takes some of them.
type RunOptions struct {
	Only    []string `json:"only,omitempty"`    // the stacks to work on: names, folders as network/, globs as *-db, and tags as tag:team=shop
	Exclude []string `json:"exclude,omitempty"` // the stacks to leave out, in the same way

	WithDependencies *bool  `json:"with_dependencies,omitempty"`                                 // whether to add what the selected stacks depend on; the default of deploys is true
	WithDependents   bool   `json:"with_dependents,omitempty"`                                   // add what depends on the selected stacks
	ChangedSince     string `json:"changed_since,omitempty" jsonschema:"pattern=^[a-z2-7]{20}$"` // a run: only the stacks whose files differ from those of that run

	Snapshot string `json:"snapshot,omitempty" jsonschema:"pattern=^[A-Za-z0-9][-_A-Za-z0-9]*$,maxLength=64"` // the name of the snapshot to make, to delete or to restore

	NoBackups   bool `json:"no_backups,omitempty"`   // of a snapshot: back up no data
	KeepBackups bool `json:"keep_backups,omitempty"` // of the deletion of a snapshot: keep its backups

	Adopt          []string `json:"adopt,omitempty"`                                    // names of the stacks to take over
	Retain         []string `json:"retain,omitempty"`                                   // of a replace: the resources that stay and that the new stacks import: Table, data/db:Table or data/*:*
	Skip           []string `json:"skip,omitempty"`                                     // the resources that continued rollbacks do not restore: data/db.Table
	MaxDeletions   *int     `json:"max_deletions,omitempty" jsonschema:"minimum=0"`     // how many stacks may be deleted permanently
	Exact          bool     `json:"exact,omitempty"`                                    // ask CloudFormation with change sets what the updates would change
	Plan           string   `json:"plan,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"` // the reference of a saved plan, which the run carries out
	Rollback       bool     `json:"rollback,omitempty"`                                 // if the run fails, roll back to the last successful deploy
	Refuse         bool     `json:"refuse,omitempty"`                                   // refuse the run instead of queueing it while another run holds the lock
	Reason         string   `json:"reason,omitempty" jsonschema:"maxLength=1024"`       // for the record
	Upload         bool     `json:"upload,omitempty"`                                   // deploy as an upload does: it replaces queued ones and supersedes one that is running
	Run            string   `json:"run,omitempty" jsonschema:"pattern=^[a-z2-7]{20}$"`  // the ID of the run to repeat
	Force          bool     `json:"force,omitempty"`                                    // repeat the run although something newer was deployed since
	To             string   `json:"to,omitempty" jsonschema:"maxLength=1024"`           // the revision to roll back to: a run, the beginning of its ID, current, previous (without this option) or current~2
	WhileSuspended bool     `json:"while_suspended,omitempty"`                          // work on suspended stacks too

	FromEnvironment string `json:"from_environment,omitempty" jsonschema:"maxLength=1024"` // the environment whose revision is promoted
	FromRevision    string `json:"from_revision,omitempty" jsonschema:"maxLength=1024"`    // that revision, as for to; without this option, the one that was deployed there last, if it may be promoted

	For   string    `json:"for,omitempty" jsonschema:"pattern=^([0-9]+d)?([0-9.]+[a-zµ]+)*$"` // how long the environment lives from now on, such as 2d or 12h
	Until time.Time `json:"until,omitzero"`                                                   // until when the environment lives
}

// A CommandRequest has the options of a command to a run. Each command takes some of them.
type CommandRequest struct {
	Reason   string `json:"reason,omitempty" jsonschema:"minLength=1,maxLength=1024"` // for the record
	Rollback bool   `json:"rollback,omitempty"`                                       // a rollback to the last successful deploy follows
	Force    bool   `json:"force,omitempty"`                                          // running updates are cancelled too
	Digest   string `json:"plan_digest,omitempty" jsonschema:"minLength=1"`           // of the plan, or of the change set, that the caller has seen
	Step     string `json:"step,omitempty"`                                           // the step that is answered, if several wait
}

// An UploadRequest describes a configuration that is to be uploaded.
type UploadRequest struct {
	Bytes  int64  `json:"bytes" jsonschema:"minimum=1,maximum=16777216"`      // its size
	SHA256 string `json:"sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`         // of its content, in lower-case hexadecimal digits
	Format string `json:"format" jsonschema:"enum=zip,enum=tar.gz,enum=yaml"` // how it is packed
}

// A TargetRequest describes a target that is to be registered: a report.Target, of which most may be left out.
type TargetRequest struct {
	Target     string   `json:"target,omitempty"`                                   // that of the path
	Account    string   `json:"account,omitempty" jsonschema:"pattern=^[0-9]{12}$"` // or a unit
	Region     string   `json:"region" jsonschema:"minLength=1"`
	Role       string   `json:"role,omitempty"`           // to assume there; empty for the installation's own
	Execution  string   `json:"execution_role,omitempty"` // that CloudFormation uses
	ExternalID string   `json:"external_id,omitempty"`
	Projects   []string `json:"projects,omitempty"` // that may use it
	Unit       string   `json:"unit,omitempty"`     // the ID of an organizational unit, for a target of all its accounts
	Except     []string `json:"except,omitempty"`   // its accounts that are left out
}
