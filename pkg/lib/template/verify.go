package template

import (
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// snapshots are the types of which CloudFormation makes a snapshot before it deletes a resource.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
func snapshots(kind string) bool {
	switch kind {
	case "AWS::DocDB::DBCluster", "AWS::EC2::Volume", "AWS::ElastiCache::CacheCluster",
		"AWS::ElastiCache::ReplicationGroup", "AWS::Neptune::DBCluster", "AWS::RDS::DBCluster", "AWS::RDS::DBInstance",
		"AWS::Redshift::Cluster":
		return true
	}
	return false
}

// Verify evaluates everything that the stack certainly has, and says in CloudFormation's words what it would refuse
// (document.Errors), nil if it is not known to refuse anything: mappings without a key, selections of nothing,
// references to resources whose condition is false, policies that a type does not have, and rules that fail.
func (e *Evaluation) Verify() error {
	var errs document.Errors
	errs.Join(e.t.File, e.RulesErr())
	verify := func(x *Expr) any {
		r := e.begin()
		r.verifies = true
		v, err := r.eval(x)
		errs.Join(e.t.File, asError(err))
		return v
	}
	for _, name := range e.t.resources {
		r := e.t.Resources[name]
		if !e.certain(r.Condition) {
			continue
		}
		for _, x := range r.expressions() {
			if x == nil {
				continue
			}
			v := verify(x)
			if text, _ := Text(v); text == "Snapshot" && (x == r.DeletionPolicy || x == r.UpdateReplacePolicy) &&
				r.refusesSnapshot() {
				errs.Join(e.t.File, e.begin().fail(x, "%s", r.noSnapshot(x)))
			}
		}
		errs.Join(e.t.File, e.nestedParameters(r))
	}
	for _, name := range e.t.outputs {
		if o := e.t.Outputs[name]; e.certain(o.Condition) {
			verify(o.Value)
			if o.Export != nil {
				verify(o.Export)
			}
		}
	}
	return errs.Err()
}

// refusesSnapshot says whether CloudFormation refuses the policy Snapshot for the type.
func (r Resource) refusesSnapshot() bool { return !snapshots(r.Type) && !r.module() }

func (r Resource) noSnapshot(x *Expr) string {
	if x == r.UpdateReplacePolicy {
		return "Template error: resource type " + r.Type + " does not support update replace policy Snapshot"
	}
	return "Template error: resource type " + r.Type + " does not support deletion policy Snapshot"
}

// nestedParameters says which parameters of a nested stack are no text. "If you use the Ref function to pass a
// parameter value to a nested stack, comma-delimited list parameters must be of type String."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stack.html
func (e *Evaluation) nestedParameters(r Resource) error {
	parameters := r.Property("Parameters")
	if r.Type != "AWS::CloudFormation::Stack" || parameters == nil || parameters.form != mapping {
		return nil
	}
	var errs document.Errors
	for i, name := range parameters.keys {
		x := parameters.items[i]
		v, err := e.begin().eval(x)
		if err != nil {
			continue // Verify says it
		}
		switch v.(type) {
		case []any, map[string]any:
		default:
			if !e.t.listed(x) {
				continue
			}
		}
		errs.Join(e.t.File, e.begin().fail(x, "Value of property Parameters must be an object with String (or simple type) "+
			"properties: %s of %s is a list: write Fn::Join", name, r.Name))
	}
	return errs.Err()
}

// listed says whether an expression gives a list, whatever its values are.
func (t *Template) listed(x *Expr) bool {
	switch {
	case x.form != call:
		return x.form == list
	case x.name == "Fn::Split", x.name == "Fn::GetAZs", x.name == "Fn::Cidr":
		return true
	case x.name == "Fn::If":
		return t.listed(x.items[1]) && t.listed(x.items[2])
	}
	names := x.names()
	return x.name == "Ref" && len(names) == 1 && t.Parameters[names[0].of].List()
}
