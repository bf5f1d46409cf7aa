package run

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Request asks for a run of an operation, or gives a command to a run. Uploads, request
// objects, HTTP requests, schedules and the command line all make one. The run stores it
// unchanged.
type Request struct {
	ID        string    `json:"run"`     // of the run that it makes; a request with an ID that is stored already does nothing
	Project   string    `json:"project"` // "shop@prod"
	Operation string    `json:"operation"`
	Source    Source    `json:"source"`
	Of        string    `json:"of,omitempty"`        // the run that a retry, a rollback or a command is about
	Who       string    `json:"who,omitempty"`       // who made the request, as AWS or the schedule says; no sender can choose it
	Subject   string    `json:"subject,omitempty"`   // the same person or role in a form that does not change; "" if AWS does not say more than an account
	Authors   []string  `json:"authors,omitempty"`   // besides, the subjects of those because of whom it is made: who has deployed the schedule, or requested what is repeated. "" is one that AWS does not say
	Claim     string    `json:"claim,omitempty"`     // who its sender says that he is; nobody checks it
	Requester string    `json:"requester,omitempty"` // the account, or the service of AWS, that S3 names as the sender of the object
	Upload    bool      `json:"upload,omitempty"`    // made by an upload: the newest upload wins
	Sequencer string    `json:"sequencer,omitempty"` // of the upload: which of two uploads of one key is newer
	Schedule  string    `json:"schedule,omitempty"`  // the name of the schedule that made it, if one did
	Follows   string    `json:"follows,omitempty"`   // the run after which the files of the project promote by themselves; "" for what somebody or a schedule requests
	From      string    `json:"from,omitempty"`      // the IP address that it came from, as AWS says; "" if AWS does not say
	Expiry    time.Time `json:"expiry,omitzero"`     // the end of the lifetime of the environment, if that made it
	Options

	Problems []string `json:"-"` // what is wrong with the request; its run stores them as messages and is refused
}

// A Source is the configuration that a run deploys: a version of an object in the
// bucket.
type Source struct {
	Key     string `json:"key,omitempty"`
	Version string `json:"version,omitempty"`
}

// Digest is a name of the source in the keys of objects that belong to it: a SHA-256, in hex.
func (s Source) Digest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(s.Key+"\n"+s.Version)))
}

// Options are the options of a request.
type Options struct {
	plan.Selection
	Adopt        []string `json:"adopt,omitempty"`         // names of the stacks that it also adopts, as adopt: true of their files does
	Skip         []string `json:"skip,omitempty"`          // the resources that continued rollbacks skip, as STACK.RESOURCE
	Retain       []string `json:"retain,omitempty"`        // of a replace: patterns of the resources that stay in AWS, and that the new stacks import
	MaxDeletions *int     `json:"max_deletions,omitempty"` // how many stacks it may delete permanently; nil is the limit of the project
	Rollback     bool     `json:"rollback,omitempty"`      // roll back if the deploy fails, or once it is cancelled
	Exact        bool     `json:"exact,omitempty"`         // plan with change sets
	Plan         string   `json:"plan,omitempty"`          // the reference of a saved plan: the run carries out that plan, or is refused
	Refuse       bool     `json:"refuse,omitempty"`        // refuse the run instead of queueing it
	Force        bool     `json:"force,omitempty"`         // retry though a newer revision was deployed since; cancel the updates in progress too
	PlanDigest   string   `json:"plan_digest,omitempty"`   // of an answer: the plan that the person was shown
	Step         string   `json:"step,omitempty"`          // of an answer: the step that waits for it; "" if only one does
	To           string   `json:"to,omitempty"`            // the revision whose files are deployed again, as History.Revision finds it
	Snapshot     string   `json:"snapshot,omitempty"`      // the name of the snapshot that it makes, deletes or restores
	Reason       string   `json:"reason,omitempty"`        // why, for the record

	FromEnvironment string `json:"from_environment,omitempty"` // of a promotion: the environment whose revision is deployed
	FromRevision    string `json:"from_revision,omitempty"`    // of a promotion: that revision, as History.Revision finds it; "" is the one that was deployed last

	NoBackups   bool `json:"no_backups,omitempty"`   // of a snapshot: no data is backed up
	KeepBackups bool `json:"keep_backups,omitempty"` // of the deletion of a snapshot: its backups stay

	WhileSuspended bool `json:"while_suspended,omitempty"` // also for stacks that are suspended

	For   project.TTL `json:"for,omitzero"`   // how long the environment lives from the request on
	Until time.Time   `json:"until,omitzero"` // until when the environment lives
}

// A Body is a request as it is written in JSON: in a request object in the bucket,
// and in the body of an HTTP request.
type Body struct {
	Operation string `json:"operation"`
	Source
	Options struct {
		Run    string `json:"run,omitempty"`
		Who    string `json:"who,omitempty"`
		Upload bool   `json:"upload,omitempty"` // deploy as an upload does: the newest upload wins
		Options
	} `json:"options"`
}

// emulated is the account of the local emulators. No account of AWS has this ID.
const emulated = "000000000000"

// By says for people who made the request. A claim stands beside what is known, marked as one;
// on a laptop, where AWS knows nothing, the claim stands alone.
func (q Request) By() string {
	if known := q.Known(); q.Claim == "" || known == q.Claim {
		return known
	}
	return fmt.Sprintf("%s, says it is %q", cmp.Or(q.Who, "unknown principal"), q.Claim)
}

// AllAuthors are the subjects of all who have caused the request: none of them approves it where not_by_author says so.
func (q Request) AllAuthors() []string {
	all := append([]string{q.Subject}, q.Authors...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Known is who made the request, without what nobody has checked. On a laptop, where AWS knows nothing, it is the claim.
func (q Request) Known() string {
	if q.Requester == emulated {
		return cmp.Or(q.Claim, q.Who)
	}
	return q.Who
}

// PromotedFrom is the project and environment whose revision q promotes, such as "shop@staging"; "" if it promotes none. Who requests
// the promotion has to be allowed to read it.
func (q Request) PromotedFrom() string {
	if q.FromEnvironment == "" {
		return ""
	}
	name, _, _ := strings.Cut(q.Project, "@")
	return project.ID(name, q.FromEnvironment)
}

// Body returns q as it is written in JSON, without its ID and project: the key of the
// object, or the path of the HTTP request, has those.
func (q Request) Body() Body {
	b := Body{Operation: q.Operation, Source: q.Source}
	b.Options.Run, b.Options.Who, b.Options.Upload, b.Options.Options = q.Of, q.Claim, q.Upload, q.Options
	return b
}

// Proposes reports whether the steps of a preview are executed: they read what would change, as CloudFormation says it in change sets, or
// as what runs is now.
func (r Request) Proposes() bool { return r.Exact || plan.AllOperations().Of(r.Operation).Proposes }
