package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// MostBackups is how many backups the snapshots of a project may have: they are part of one item.
const MostBackups = 400

// mostEncoded is how many bytes all backups of a project may have in that item, which may have 400 KB. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const mostEncoded = 200_000

// longestARN is as long as the ARN of a backup becomes: its name has at most 63 letters, and beside it is at most the name of a cluster.
var longestARN = strings.Repeat("-", 190)

// The versions of the arguments of BackUp, a Backing, and of DeleteBackup and DropSnapshot, a BackupDeletion.
const (
	BackingVersion        = 1
	BackupDeletionVersion = 1
)

// How long a backup and its deletion may take. The first backup of a large database takes hours.
const (
	backupTimeout   = project.Timeout(12 * time.Hour)
	deletionTimeout = project.Timeout(time.Hour)
)

// atOnceDeleted is how many backups a step deletes if the snapshot fails.
const atOnceDeleted = 6

// A Naming is how the property of a resource names a backup.
type Naming string

// The namings.
const (
	ByARN  Naming = ""     // by its ARN, or by its name
	ByName Naming = "name" // by its name, in letters of any case

	AtFirst Naming = "at first" // by its name, and only when it creates the resource: CloudFormation refuses to change the property of one that is there
)

// Data is a resource of a stack that holds data.
type Data struct {
	Node     string         `json:"node"`               // of its stack
	Resource string         `json:"resource"`           // the logical ID
	Type     string         `json:"type"`               // as AWS::RDS::DBInstance
	Kind     string         `json:"kind"`               // for people, as "DB instance"
	Property string         `json:"property,omitempty"` // of the resource: it names the backup from which CloudFormation creates it; empty if CloudFormation creates none from a backup
	Restore  string         `json:"restore,omitempty"`  // if there is no property: the command with which a person restores it, before the ARN of the backup
	Naming   Naming         `json:"naming,omitempty"`   // how the property names it
	ID       string         `json:"id"`                 // the physical ID
	Stack    string         `json:"stack,omitempty"`    // the physical name of its stack
	Target   project.Target `json:"target"`
}

// String names the resource as references do.
func (d Data) String() string { return d.Node + "." + d.Resource }

// A Backup is a native backup of a resource.
type Backup struct {
	Data
	ARN     string `json:"arn,omitempty"`
	Deleted bool   `json:"deleted,omitempty"` // by a run that has not deleted the whole snapshot
}

// Name is the name of the backup in its service: the last part of its ARN.
func (b Backup) Name() string {
	return b.ARN[strings.LastIndexAny(b.ARN, ":/")+1:]
}

// is reports whether a value names the backup. No service tells the cases of the letters of a name apart.
func (b Backup) is(value string) bool {
	return value != "" && (value == b.ARN || strings.EqualFold(value, b.Name()))
}

// Identifier is how a parameter names the backup when the resource is restored from it, and has the given value now: as its property takes it, or in another way
// if the value is that already. CloudFormation replaces the resource only if the value is another one, and both mean the same backup.
func (b Backup) Identifier(now string) string {
	switch {
	case b.Naming == ByARN && now != b.ARN:
		return b.ARN
	case b.Naming == ByName && now == b.Name():
		return strings.ToUpper(b.Name())
	}
	return b.Name()
}

// fixed reports whether CloudFormation refuses to change what names the backup of a resource of a stack, in a parameter of one of the names. If the stack has no such
// parameter, it may not have the resource either.
func (b Backup) fixed(live Live, parameters ...string) bool {
	has := slices.ContainsFunc(parameters, func(name string) bool { _, is := live.Parameters[name]; return is })
	return b.Naming == AtFirst && has && live.StackID != "" && !live.Status.NeverCreated()
}

// Holdings are what a stack has that can be backed up.
type Holdings struct {
	Data    []Data   // without their nodes, sorted by their logical IDs
	Nested  []string // the logical IDs of nested stacks, sorted: their resources are not backed up
	Unready []string // what cannot be backed up now, and why
	Skipped []string // what is not backed up, and why
}

// A Backing is a backup that a step makes.
type Backing struct {
	Snapshot string `json:"snapshot"`
	Data
}

// A BackupDeletion is what a step deletes: backups of a snapshot. Those without an ARN were to be made by the same run.
type BackupDeletion struct {
	Snapshot string   `json:"snapshot"`
	Backups  []Backup `json:"backups,omitempty"`
}

// Backing returns what a step backs up. It reports false if the step makes no backup.
func (s Step) Backing() (b Backing, backs bool) {
	if !s.does(BackUp) {
		return b, false
	}
	return b, s.Arguments.Read(BackingVersion, &b) == nil
}

// BackupDeletion returns what a step deletes. It reports false if the step deletes no backup, and no snapshot.
func (s Step) BackupDeletion() (d BackupDeletion, deletes bool) {
	if !s.does(DeleteBackup, DropSnapshot) {
		return d, false
	}
	return d, s.Arguments.Read(BackupDeletionVersion, &d) == nil
}

// Drops reports whether the history does not have the snapshot of the step any more once the step is done.
func (s Step) Drops() bool { return s.does(DropSnapshot) }

// backedUp adds to the plan of a snapshot the steps that back up what the stacks hold. If one of them fails, others delete what the run has made.
func (v View) backedUp(p Plan) (Plan, error) {
	s := v.Snapshots
	switch {
	case s.Without:
		p.Messages = append(p.Messages, "no data is backed up, as requested: the snapshot has only the files")
		return p, nil
	case !v.Backable && len(s.Holding) == 0:
		return p, nil
	case !v.Backable:
		p.Messages = append(p.Messages, fmt.Sprintf("no data is backed up, and these stacks may hold some: %s: the snapshot has only the files: for backups, ask the owner of the installation to add %s to the setting backups", listed(s.Holding), v.Desired.ID()))
		return p, nil
	}
	var all []Data
	var nested, skipped []string
	for _, node := range slices.Sorted(maps.Keys(s.Holdings)) {
		h := s.Holdings[node]
		for _, d := range h.Data {
			d.Node, d.Stack = node, v.Recorded[node].Stack
			all = append(all, d)
		}
		if len(h.Nested) > 0 {
			nested = append(nested, node+" ("+strings.Join(h.Nested, ", ")+")")
		}
		for _, what := range h.Skipped {
			skipped = append(skipped, "stack "+node+": "+what)
		}
	}
	if len(skipped) > 0 {
		p.Messages = append(p.Messages, "the snapshot is not whole: it has no backup of "+strings.Join(skipped, "; ")+": ask the owner of the installation for the setting")
	}
	if len(nested) > 0 {
		p.Messages = append(p.Messages, "nested stacks are not backed up: "+strings.Join(nested, ", ")+": a restore could not pass a backup on to what is in them: if they hold data, let them be stacks of the project, or back them up with AWS Backup")
	}
	var undo []Backup
	for _, d := range all {
		arguments, err := NewArguments(BackingVersion, Backing{s.Name, d})
		if err != nil {
			return p, err
		}
		p.Steps = append(p.Steps, Step{
			ID: StepID(d.Node, BackUp, d.Resource), Node: d.Node, Where: d.Target.Where(), Verb: BackUp, Qualifier: d.Resource, Arguments: arguments, Timeout: backupTimeout,
		})
		undo = append(undo, Backup{Data: d})
	}
	made := len(p.Steps)
	for some := range slices.Chunk(undo, atOnceDeleted) {
		arguments, err := NewArguments(BackupDeletionVersion, BackupDeletion{s.Name, some})
		if err != nil {
			return p, err
		}
		qualifier := fmt.Sprintf("%s-%d", s.Name, len(p.Steps)-made+1)
		step := Step{ID: StepID("", DeleteBackup, qualifier), Where: some[0].Target.Where(), Verb: DeleteBackup, Qualifier: qualifier, Arguments: arguments, Timeout: deletionTimeout, OnFailure: true}
		for i := range made {
			step.After = append(step.After, i)
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// refuseHoldings says why the stacks cannot be backed up now.
func (v View) refuseHoldings() []error {
	s := v.Snapshots
	if s.Without || !v.Backable {
		return nil
	}
	var refusals []error
	n := 0
	for _, node := range slices.Sorted(maps.Keys(s.Holdings)) {
		n += len(s.Holdings[node].Data)
		for _, why := range s.Holdings[node].Unready {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s; or repeat the request with no_backups (--no-backups)", node, why))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if why := v.Live[name].AccessError; why != "" {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s cannot be read, so nobody knows whether it holds data: %s; or repeat the request with no_backups (--no-backups)", name, why))
		}
	}
	kept := 0
	for _, one := range s.Kept {
		kept += len(one.Backups)
	}
	if n+kept > MostBackups {
		refusals = append(refusals, fault.New(fault.Refused, "%s: the stacks hold %d resources with data, and the snapshots have %d backups; at most %d may be: delete a snapshot first: stackwright snapshots delete NAME", v.Desired.ID(), n, kept, MostBackups))
	}
	if size := v.sizeOfBackups(); size > mostEncoded {
		refusals = append(refusals, fault.New(fault.Refused, "%s: the backups of all its snapshots, with their names, would have %d bytes of the item that has the lock, and at most %d may be: delete a snapshot first: stackwright snapshots delete NAME", v.Desired.ID(), size, mostEncoded))
	}
	return refusals
}

// sizeOfBackups is how many bytes the backups of the snapshots have, encoded, with those that are to be made.
func (v View) sizeOfBackups() int {
	var all []Backup
	for _, one := range v.Snapshots.Kept {
		all = append(all, one.Backups...)
	}
	for node, h := range v.Snapshots.Holdings {
		for _, d := range h.Data {
			d.Node, d.Stack = node, v.Recorded[node].Stack
			all = append(all, Backup{Data: d, ARN: longestARN})
		}
	}
	encoded, _ := json.Marshal(all) // of texts: cannot fail
	return len(encoded)
}

// A KeptSnapshot is a snapshot that there is.
type KeptSnapshot struct {
	Name    string
	Made    time.Time
	Backups []Backup
	Caveats []string // why it may not be whole
}

// Unrecorded lists the places of the stacks whose data the backups are of, of the named snapshot or of all, if no stack is recorded there: somebody may have
// forgotten a stack that was restored from one of them.
func (s Snapshots) Unrecorded(recorded map[string]Record) []Location {
	known := make(map[string]bool) // by place
	place := func(stack string, t project.Target) string { return t.Where() + "/" + stack }
	for _, r := range recorded {
		known[place(r.Stack, r.Target)] = true
	}
	var all []Location
	for _, one := range s.Kept {
		if s.Name != "" && one.Name != s.Name {
			continue
		}
		for _, b := range Left(one.Backups) {
			if at := place(b.Stack, b.Target); b.Stack != "" && !known[at] {
				known[at] = true
				all = append(all, Location{Node: fmt.Sprintf("%s (%s, not recorded)", b.Node, b.Stack), Stack: b.Stack, Target: b.Target})
			}
		}
	}
	return all
}

// in reports whether a value names the backup, also beside others: as in a list. The name of a backup is unique.
func (b Backup) in(value string) bool {
	return b.ARN != "" && strings.Contains(strings.ToLower(value), strings.ToLower(b.Name()))
}

// usedBy says for people what of a stack names the backup: a parameter or a tag. A value with NoEcho is not seen.
func (b Backup) usedBy(live Live) []string {
	var all []string
	for what, values := range map[string]map[string]string{"parameter": live.Parameters, "tag": live.Tags} {
		for key, value := range values {
			if b.in(value) {
				all = append(all, what+" "+key)
			}
		}
	}
	slices.Sort(all)
	return all
}

// uses says for people why a backup is needed, and how it is needed no longer.
func (v View) uses(b Backup) (reasons, remedies []string) {
	add := func(remedy, format string, args ...any) {
		reasons = append(reasons, fmt.Sprintf(format, args...))
		if !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	other := "deploy another value first"
	if b.Naming == AtFirst {
		other += fmt.Sprintf(" (CloudFormation does not change it for a %[1]s that exists: write a %[1]s with another logical ID instead)", b.Kind)
	}
	for _, node := range slices.Sorted(maps.Keys(v.Live)) {
		for _, what := range b.usedBy(v.Live[node]) {
			add(other, "%s of stack %s names it", what, node)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(v.Recorded)) {
		for _, resource := range slices.Sorted(maps.Keys(v.Recorded[node].Restored)) {
			if b.is(v.Recorded[node].Restored[resource].Value) && v.Live[node].Status.Gone() {
				add("forget the stack first, to create it without that data", "stack %s does not exist, and its record says that the next deploy restores %s from the backup", node, resource)
			}
		}
	}
	if b.is(v.Snapshots.Unrestored[b.Data.String()]) && v.Live[b.Node].Status.Gone() {
		add("if you do not want that data, write an empty text as the value of the parameter that names the backup, or remove the stack from the files, and deploy all stacks first", "stack %s does not exist, and a restore was to create it from the backup", b.Node)
	}
	return reasons, remedies
}

// Left returns the backups of all that are not deleted.
func Left(all []Backup) []Backup {
	return slices.DeleteFunc(slices.Clone(all), func(b Backup) bool { return b.Deleted })
}

// inUse says why the backups of a snapshot may not be deleted.
func (v View) inUse(s KeptSnapshot) []error {
	var refusals []error
	left := Left(s.Backups)
	for _, b := range left {
		if reasons, remedies := v.uses(b); len(reasons) > 0 {
			refusals = append(refusals, fault.New(fault.Refused, "snapshot %s is in use: the backup %s of %s is needed: %s: %s; or delete the snapshot and keep its backups (keep_backups, --keep-backups)", s.Name, b.ARN, b.Data, listed(reasons), strings.Join(remedies, "; ")))
		}
	}
	if len(left) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(v.Live)) {
		if why := v.Live[name].AccessError; why != "" {
			refusals = append(refusals, fault.New(fault.Refused, "snapshot %s: stack %s cannot be read, so nobody knows whether it uses a backup: %s; or delete the snapshot and keep its backups (keep_backups, --keep-backups)", s.Name, name, why))
		}
	}
	return refusals
}

// dropping adds to a plan the steps that delete a snapshot with its backups.
func (p *Plan) dropping(s KeptSnapshot) error {
	first := len(p.Steps)
	for _, b := range Left(s.Backups) {
		arguments, err := NewArguments(BackupDeletionVersion, BackupDeletion{s.Name, []Backup{b}})
		if err != nil {
			return err
		}
		qualifier := s.Name + "." + b.Resource
		p.Steps = append(p.Steps, Step{ID: StepID(b.Node, DeleteBackup, qualifier), Node: b.Node, Where: b.Target.Where(), Verb: DeleteBackup, Qualifier: qualifier, Arguments: arguments, Timeout: deletionTimeout})
	}
	arguments, err := NewArguments(BackupDeletionVersion, BackupDeletion{Snapshot: s.Name})
	if err != nil {
		return err
	}
	last := Step{ID: StepID("", DropSnapshot, s.Name), Verb: DropSnapshot, Qualifier: s.Name, Arguments: arguments}
	for i := first; i < len(p.Steps); i++ {
		last.After = append(last.After, i)
	}
	p.Steps = append(p.Steps, last)
	return nil
}

// arns lists the ARNs of backups.
func arns(all []Backup) []string {
	var texts []string
	for _, b := range all {
		texts = append(texts, b.ARN)
	}
	return texts
}
