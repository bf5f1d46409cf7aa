package difference

import (
	"cmp"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// loss says what is lost when a resource of the type is deleted under a policy, or which
// policy keeps it. An instance in a database cluster has no data of its own.
func loss(typ string, inCluster bool, policy string) (lost, kept string) {
	what, stateful := resource.Stateful(typ)
	switch {
	case !stateful, typ == "AWS::RDS::DBInstance" && inCluster:
		return "", ""
	case policy == "Retain", policy == "RetainExceptOnCreate", policy == "Snapshot" && resource.Snapshots(typ):
		return "", policy
	}
	return what, ""
}

// deletionPolicy is the policy for a resource that is removed: the one that is deployed.
// The default for databases is Snapshot.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
func (c *comparison) deletionPolicy(r template.Resource) string {
	policy := c.before.policy(r.DeletionPolicy)
	if policy == "" && (r.Type == "AWS::RDS::DBCluster" || r.Type == "AWS::RDS::DBInstance") {
		return "Snapshot"
	}
	return cmp.Or(policy, "Delete")
}

// replacePolicy is the policy for a resource that is replaced. The documentation does
// not say whether a policy holds already for the update that adds it, so both templates
// must have one.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html
func (c *comparison) replacePolicy(was, is template.Resource) string {
	before, after := c.before.policy(was.UpdateReplacePolicy), c.after.policy(is.UpdateReplacePolicy)
	if before == "" || after == "" || before == "Delete" {
		return "Delete"
	}
	return after
}

// policy is the value of a policy; empty if there is none. One that is not known is taken
// to keep nothing.
func (s side) policy(x *template.Expr) string {
	if policy, known := s.Policy(x); known {
		return policy
	}
	return "Delete"
}

// nested reports whether a change concerns resources that only another template shows:
// those of a nested stack, an application or a module that is deployed.
func nested(r Resource) bool {
	return r.Action != Add && Nested(r.Type)
}

// Nested reports whether another template shows what resources of a type consist of.
func Nested(typ string) bool {
	return typ == "AWS::CloudFormation::Stack" || typ == "AWS::Serverless::Application" || strings.HasSuffix(typ, "::MODULE")
}
