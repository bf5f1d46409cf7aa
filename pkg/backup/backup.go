// Package backup has the kinds of resources that a snapshot backs up: how each is found, backed up, followed and deleted.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// CallTime is the longest time that one call of BackUp or Delete may take: a function of Stackwright must end before its step can be
// started again.
const CallTime = 25 * time.Second

// NameTag is the tag that has the name of a backup to which its service gives an ID. The names of those that Stackwright makes begin with OwnName: a resource, and with it what
// other programs make of it, may have the other tags.
const (
	NameTag = "stackwright:backup"
	OwnName = "sw-"
)

// NestedStack is the type of nested stacks, whose resources no snapshot backs up.
const NestedStack = "AWS::CloudFormation::Stack"

// A Kind is a kind of resources that hold data and have native backups: a row of All, in a file of its own. All other code reads the columns
// of the row and never its type.
type Kind struct {
	Type     string                // in templates
	Name     string                // for people, as "DB instance"
	Property string                // of the resource: it names the backup from which CloudFormation creates the resource; "" if there is none
	Naming   plan.Naming           // how the property names it
	Restore  Restore               // if there is no property: the command with which a person restores it; nil if there is a property
	Setting  string                // of the installation, without which nothing backs it up; "" if there always is something
	Of       func(Services) Backer // backs it up; nil without the setting
}

// A Restore returns the command with which a person restores a backup of a resource of a target, before the ARN of the backup.
type Restore func(s Services, in project.Target, id string) string

// of is the command, and "" if there is none.
func (r Restore) of(s Services, in project.Target, id string) string {
	if r == nil {
		return ""
	}
	return r(s, in, id)
}

// A Backer backs up resources of one kind, in the account and region of a target and with its role. Its errors are of kind Busy if the
// resource or the backup does not allow it now, Throttled if the request had certainly no effect, Unavailable if nobody knows, Missing if
// there is no such resource or backup, and of another kind if AWS refuses the request.
type Backer interface {
	// See reads resources by their physical IDs. It leaves out those that do not exist, and those whose data another resource has.
	See(ctx context.Context, in project.Target, ids []string) (map[string]Seen, error)

	// BackUp starts a backup of a resource, and returns its ARN. A repeated call with the same name is the same backup.
	BackUp(ctx context.Context, in project.Target, id, name string, tags map[string]string) (arn string, err error)

	// Find returns the ARN of the backup of a resource with a name.
	Find(ctx context.Context, in project.Target, id, name string) (arn string, err error)

	// Backup reads a backup by its ARN.
	Backup(ctx context.Context, in project.Target, arn string) (Made, error)

	// Delete deletes a backup.
	Delete(ctx context.Context, in project.Target, arn string) error
}

// Seen is a resource as it is now.
type Seen struct {
	Unready string // why it cannot be backed up until a person does something about it; "" if it can
}

// A State is how far a backup is.
type State string

// The states.
const (
	Making    State = "making"
	Available State = "available"
	Failed    State = "failed"
	Deleting  State = "deleting"
)

// Made is a backup as it is now.
type Made struct {
	State State
	Says  string // the same for people, as AWS calls it
	Gone  bool   // it has failed, and left nothing that could be deleted
}

// All lists the kinds of this version.
func All() []Kind {
	return []Kind{databaseKind(), clusterKind(), neptuneKind(), documentKind(), warehouseKind(), volumeKind(), fileKind(), tableKind(), globalTableKind()}
}

// Types lists the types of the resources that hold data, and that of nested stacks.
func (Services) Types() []string {
	types := []string{NestedStack}
	for _, k := range All() {
		types = append(types, k.Type)
	}
	return types
}

// kindOf returns the kind of a resource type. The error is of kind Broken if this version has none, and Refused if nothing backs it up without a setting.
func (s Services) kindOf(resourceType string) (Kind, error) {
	for _, k := range All() {
		switch {
		case k.Type == resourceType && k.Of(s) == nil:
			return k, fault.New(fault.Refused, "a backup of a %s needs the setting %s of the installation, which is empty: ask the owner of the installation to set it again", k.Name, k.Setting)
		case k.Type == resourceType:
			return k, nil
		}
	}
	return Kind{}, fault.New(fault.Broken, "this version makes no backups of %s: deploy the newer functions", resourceType)
}

// Stacks are stacks of CloudFormation.
type Stacks interface {
	// ResourcesInStack returns the resources that a stack of the target has now; none if the stack does not exist. Resources of nested stacks are
	// not among them.
	ResourcesInStack(ctx context.Context, in project.Target, stack string) ([]plan.StackResource, error)
}

// Services are what backs up resources.
type Services struct {
	Stacks     Stacks
	Instances  Backer // DB instances of RDS
	Clusters   Backer // DB clusters of RDS, Neptune and DocumentDB
	Warehouses Backer // clusters of Redshift
	Volumes    Backer // EBS volumes
	Files      Backer // file systems of EFS; nil if the installation has no vault
	Vault      Vault  // where Files are backed up
	Tables     Backer // tables of DynamoDB
}

// Holdings finds what a stack has that can be backed up.
func (s Services) Holdings(ctx context.Context, in project.Target, stack string) (plan.Holdings, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	var h plan.Holdings
	found, err := s.Stacks.ResourcesInStack(ctx, in, stack)
	if err != nil {
		return h, err
	}
	for _, one := range found {
		if one.Type == NestedStack {
			h.Nested = append(h.Nested, one.ID)
		}
	}
	slices.Sort(h.Nested)
	for _, k := range All() {
		if err := s.hold(ctx, in, k, found, &h); err != nil {
			return h, err
		}
	}
	slices.SortFunc(h.Data, func(a, b plan.Data) int { return cmp.Compare(a.Resource, b.Resource) })
	return h, nil
}

// hold adds the resources of a kind.
func (s Services) hold(ctx context.Context, in project.Target, k Kind, found []plan.StackResource, h *plan.Holdings) error {
	var ids []string
	for _, one := range found {
		if one.Type == k.Type {
			ids = append(ids, one.PhysicalID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if k.Of(s) == nil {
		for _, one := range found {
			if one.Type == k.Type {
				h.Skipped = append(h.Skipped, fmt.Sprintf("%s %s (%s), which needs the setting %s", k.Name, one.ID, one.PhysicalID, k.Setting))
			}
		}
		return nil
	}
	seen, err := k.Of(s).See(ctx, in, ids)
	if err != nil {
		return err
	}
	for _, one := range found {
		now, exists := seen[one.PhysicalID]
		if one.Type != k.Type || !exists {
			continue
		}
		h.Data = append(h.Data, plan.Data{Resource: one.ID, Type: k.Type, Kind: k.Name, Property: k.Property, Naming: k.Naming, Restore: k.Restore.of(s, in, one.PhysicalID), ID: one.PhysicalID, Target: in})
		if now.Unready != "" {
			h.Unready = append(h.Unready, fmt.Sprintf("%s %s (%s): %s", k.Name, one.ID, one.PhysicalID, now.Unready))
		}
	}
	return nil
}

// BackUp starts a backup, and returns it. A repeated call with the same name is the same backup.
func (s Services) BackUp(ctx context.Context, d plan.Data, name string, tags map[string]string) (plan.Backup, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	k, err := s.kindOf(d.Type)
	if err != nil {
		return plan.Backup{}, err
	}
	arn, err := k.Of(s).BackUp(ctx, d.Target, d.ID, name, tags)
	if fault.Is(err, fault.Missing) {
		err = fault.New(fault.Refused, "%w: it was deleted since the plan was made: retry the run", err)
	}
	return plan.Backup{Data: d, ARN: arn}, err
}

// Ready reports whether a backup is available, and says how far it is. The error is of kind Refused if it never will be, and Missing if there is none.
func (s Services) Ready(ctx context.Context, b plan.Backup) (ready bool, says string, err error) {
	made, err := s.made(ctx, b)
	switch {
	case err != nil:
		return false, "", err
	case made.State == Failed, made.State == Deleting:
		return false, "", fault.New(fault.Refused, "the backup %s of %s is %s: see the events of the %s, then request the snapshot again", b.ARN, b.Data, made.Says, b.Kind)
	}
	return made.State == Available, made.Says, nil
}

func (s Services) made(ctx context.Context, b plan.Backup) (Made, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	k, err := s.kindOf(b.Type)
	if err != nil {
		return Made{}, err
	}
	return k.Of(s).Backup(ctx, b.Target, b.ARN)
}

// Delete deletes backups. One that has no ARN is found by its name, which name returns. One that does not exist is no error. The others are deleted although
// one is refused.
func (s Services) Delete(ctx context.Context, all []plan.Backup, name func(plan.Data) string) error {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	var refused []error
	for _, b := range all {
		err := s.delete(ctx, b, name)
		switch {
		case err == nil, fault.Is(err, fault.Missing):
		case fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable):
			return err
		default:
			refused = append(refused, err)
		}
	}
	return errors.Join(refused...)
}

func (s Services) delete(ctx context.Context, b plan.Backup, name func(plan.Data) string) error {
	b, err := s.found(ctx, b, name)
	if err != nil {
		return err
	}
	k, err := s.kindOf(b.Type)
	if err != nil {
		return err
	}
	made, err := k.Of(s).Backup(ctx, b.Target, b.ARN)
	switch {
	case err != nil, made.State == Deleting, made.Gone:
		return err
	case made.State == Making:
		return fault.New(fault.Busy, "the backup %s is %s: it can be deleted when it is available", b.ARN, made.Says)
	}
	return k.Of(s).Delete(ctx, b.Target, b.ARN)
}

// found returns the backup with its ARN.
func (s Services) found(ctx context.Context, b plan.Backup, name func(plan.Data) string) (plan.Backup, error) {
	if b.ARN != "" {
		return b, nil
	}
	k, err := s.kindOf(b.Type)
	if err == nil {
		b.ARN, err = k.Of(s).Find(ctx, b.Target, b.ID, name(b.Data))
	}
	return b, err
}

// Left lists which of some backups exist. Those without an ARN are found as Delete finds them.
func (s Services) Left(ctx context.Context, all []plan.Backup, name func(plan.Data) string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	var left []string
	for _, b := range all {
		b, err := s.found(ctx, b, name)
		var made Made
		if err == nil {
			made, err = s.made(ctx, b)
		}
		switch {
		case fault.Is(err, fault.Missing), made.Gone:
		case err != nil:
			return nil, err
		default:
			left = append(left, fmt.Sprintf("%s is %s", b.ARN, made.Says))
		}
	}
	return left, nil
}
