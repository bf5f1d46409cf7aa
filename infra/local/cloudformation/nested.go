package cloudformation

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const (
	nestedType = "AWS::CloudFormation::Stack"
	maxDepth   = 5 // of nested stacks, so that a template which contains itself ends
)

// nestedStack is the content of a resource that is a stack. It changes with its resource, at once, and has the status of that. It has no
// events of its own.
type nestedStack struct {
	Now        version
	Resources  map[string]*resource
	Detections []detection // of drift, the oldest first
	Failures   []nestedEvent
}

// A nestedEvent is an event of a nested stack: that of a resource which fails. The stack that it is nested in keeps it
// when the nested stack fails, also if that is deleted.
type nestedEvent struct {
	Stack string // the ID of the nested stack
	event
}

// fails adds the event of a resource of a nested stack that fails.
func (n *nestedStack) fails(id string, one step) {
	status := map[action]types.ResourceStatus{update: types.ResourceStatusUpdateFailed}[one.Action]
	if status == "" {
		status = types.ResourceStatusCreateFailed
	}
	r := one.Resource
	n.Failures = append(n.Failures, nestedEvent{id, event{
		ID: r.Logical + "-" + string(status) + "-" + guid(hash(id, r.Logical, one.Failure)), Logical: r.Logical,
		Physical: r.Physical,
		Type:     r.Type, Status: string(status), Reason: one.Failure, At: time.Now(),
	}})
	if r.Nested != nil {
		n.Failures = append(n.Failures, r.Nested.Failures...)
	}
}

// eventsInside are the events of a nested stack, oldest first.
func (s *Service) eventsInside(id string) (*stack, []event) {
	var all []event
	for _, st := range s.stacks {
		for _, e := range st.Inside {
			if e.Stack == id {
				all = append(all, e.event)
			}
		}
	}
	if all == nil {
		return nil, nil
	}
	return &stack{ID: id, Name: plainName(id)}, all
}

// same reports whether a nested stack needs no update. A nil one is not known.
func (n *nestedStack) same(other *nestedStack) bool {
	if n == nil || other == nil || len(n.Resources) != len(other.Resources) {
		return n == nil && other == nil
	}
	for name, r := range n.Resources {
		if is := other.Resources[name]; is == nil || !is.same(r) {
			return false
		}
	}
	return slices.Equal(sortedOutputs(n.Now.Outputs), sortedOutputs(other.Now.Outputs))
}

// output is an output of a nested stack.
func (n *nestedStack) output(attribute string) (string, bool) {
	name, ok := strings.CutPrefix(attribute, "Outputs.")
	if n == nil || !ok {
		return "", false
	}
	i := slices.IndexFunc(n.Now.Outputs, func(o output) bool { return o.Key == name })
	if i < 0 {
		return "", false
	}
	return n.Now.Outputs[i].Value, true
}

// asStack is a nested stack as it was before, for an evaluation; is is nil if it is new.
func (r *resource) asStack(parent *stack, is *resource) *stack {
	st := &stack{ID: r.Physical, Name: plainName(r.Physical), Operations: parent.Operations, Deployment: parent.Deployment, depth: parent.depth + 1, Root: parent.root()}
	if is != nil && is.Nested != nil && is.Physical == r.Physical {
		st.Now, st.Resources = is.Nested.Now, is.Nested.Resources
	}
	return st
}

// nest evaluates the template of a nested stack. What is wrong with it makes the resource fail.
func (d *evaluation) nest(r, is *resource) {
	if r.Type != nestedType || d.service.options.Fetch == nil {
		return
	}
	var properties struct {
		TemplateURL string
		Parameters  map[string]any
	}
	fail := func(err error) { r.Faults = map[string]string{"create": err.Error(), "update": err.Error()} }
	if err := json.Unmarshal([]byte(r.properties()), &properties); err != nil || d.stack.depth == maxDepth {
		fail(invalid("Template format error: the nested stack %s has wrong properties, or is nested too deep", r.Logical))
		return
	}
	body, err := d.service.fetch(context.Background(), properties.TemplateURL) // the S3 of this machine answers at once
	if err != nil {
		fail(err)
		return
	}
	w := desired{body: body, tags: tags(d.version.Tags), capabilities: d.version.Capabilities, macros: true, unchecked: d.version.Unchecked}
	for _, name := range sorted(properties.Parameters) {
		switch properties.Parameters[name].(type) {
		case []any, map[string]any:
			fail(invalid("Value of property Parameters must be an object with String (or simple type) properties"))
			return
		}
		w.parameters = append(w.parameters, types.Parameter{ParameterKey: aws.String(name), ParameterValue: aws.String(shownText(nil, properties.Parameters[name]))})
	}
	st := r.asStack(d.stack, is)
	v, t, err := d.service.version(w, &st.Now)
	if err != nil {
		fail(err)
		return
	}
	b, err := d.service.evaluate(st, v, t)
	if err != nil {
		fail(err)
		return
	}
	v.Outputs, v.Imports = b.outputs, b.imports
	root := cmp.Or(d.service.byID[d.stack.root()], d.stack) // a stack that is new has no ID yet
	if why := cmp.Or(b.failure, d.service.nestedExports(root, st.Now, b.outputs)); why != "" {
		r.Faults = map[string]string{"create": why, "update": why}
	}
	r.Nested = &nestedStack{Now: *v, Resources: b.resources}
	if is != nil && is.Nested != nil && is.Physical == r.Physical {
		r.Nested.Detections = is.Nested.Detections
	}
	for name, one := range b.resources {
		one.Status, one.At = types.ResourceStatusCreateComplete, time.Now()
		if was := st.existing()[name]; was != nil && was.same(one) {
			one.Status, one.At = was.Status, was.At
		} else if was != nil && was.Physical == one.Physical {
			one.Status = types.ResourceStatusUpdateComplete
		}
	}
	for _, one := range b.steps {
		if one.Failure != "" {
			r.Nested.fails(r.Physical, one)
			why := "Embedded stack " + r.Physical + " was not successfully %sd: The following resource(s) failed to %s: [" + one.Resource.Logical + "]."
			r.Faults = map[string]string{"create": strings.ReplaceAll(why, "%s", "create"), "update": strings.ReplaceAll(why, "%s", "update")}
		}
	}
}

// nestedChangeSets makes the change sets of the nested stacks of a change set, and of those nested in them, and gives
// each resource the ID of its change set. A nested stack that is new is in REVIEW_IN_PROGRESS until the root change set
// is deleted or executed.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/change-sets-for-nested-stacks.html
func (s *Service) nestedChangeSets(root, parent *changeSet, st *stack, resources map[string]*resource) ([]*changeSet, error) {
	var all []*changeSet
	for _, name := range sorted(resources) {
		r, is := resources[name], st.existing()[name]
		if r.Type != nestedType {
			continue
		}
		c := &changeSet{Name: root.Name, Kind: types.ChangeSetTypeUpdate, Created: root.Created, Ready: root.Ready, Execution: types.ExecutionStatusAvailable,
			Parent: parent.ID, Root: root.ID, StackID: r.Physical, Nested: true,
			ID: root.ID[:strings.LastIndexByte(root.ID, '/')+1] + guid(hash(parent.ID, name))}
		child := r.asStack(st, is)
		if child.Now.Template == "" {
			c.Kind = types.ChangeSetTypeCreate
			s.review(child, parent.StackID, root.StackID)
		}
		below, err := s.nestedChanges(root, c, child, r)
		if err != nil {
			return nil, err
		}
		all = append(append(all, c), below...)
		if c.Reason != "" && c.Reason != noChanges {
			parent.Reason = "Nested change set " + c.ID + " was not successfully created: Currently in FAILED."
		}
		if i := slices.IndexFunc(parent.Changes, func(one resourceChange) bool { return one.Logical == name }); i >= 0 {
			parent.Changes[i].Nested = c.ID
		}
	}
	return all, nil
}

// nestedChanges finds the changes of one nested stack, and makes the change sets of those nested in it.
func (s *Service) nestedChanges(root, c *changeSet, child *stack, r *resource) ([]*changeSet, error) {
	if r.Nested == nil {
		c.Reason = r.Faults["create"]
		if c.Reason == "" {
			c.Reason = "S3 error: the local emulator has no S3 to read the template from"
		}
		return nil, nil
	}
	v := r.Nested.Now
	t, err := parseTemplate(v.Template)
	if err != nil {
		return nil, err
	}
	b := &plan{resources: r.Nested.Resources, outputs: v.Outputs}
	b.removeOthers(child.existing())
	c.Version = v
	if c.Changes, err = s.changes(child, &v, t, b, true); err != nil {
		return nil, err
	}
	if len(c.Changes) == 0 && c.Kind == types.ChangeSetTypeUpdate && !b.differs(&child.Now, &v) {
		c.Reason = noChanges
	}
	return s.nestedChangeSets(root, c, child, b.resources)
}

// review adds a new nested stack in REVIEW_IN_PROGRESS, unless it is there.
func (s *Service) review(child *stack, parent, root string) {
	if s.byID[child.ID] != nil {
		return
	}
	st := &stack{ID: child.ID, Name: child.Name, Created: time.Now(), Resources: map[string]*resource{}, Parent: parent, Root: root}
	s.add(st)
	s.setStatus(st, types.StackStatusReviewInProgress, "User Initiated")
}

// endReview deletes the nested stacks that exist only for a root change set.
func (s *Service) endReview(st *stack, root string) {
	for _, c := range st.ChangeSets {
		if nested := s.byID[c.StackID]; c.Root == root && nested != nil && nested.Status == types.StackStatusReviewInProgress {
			nested.Deleted = time.Now()
			s.setStatus(nested, types.StackStatusDeleteComplete, "")
		}
	}
}
