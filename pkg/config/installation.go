package config

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Installation is what Stackwright itself is made of, in the account and
// region of the default target. A project that names any of it is refused: a run
// must not change what carries it out. What is not known is empty.
type Installation struct {
	Stack        string // CloudFormation's name for it
	Bucket       string
	Table        string
	StateMachine string // its name
}

// A naming is a property in which a resource has, or means, a physical name.
type naming struct {
	resource string
	property property
	value    *template.Expr
}

// A property names something of a kind, in resources of the types that begin so.
type property struct{ types, name, kind string }

// namingProperties are those in which a project could name what is ours: to
// make it anew, or to change what may be done with it.
var namingProperties = []property{
	{"AWS::S3::", "BucketName", "bucket"},
	{"AWS::S3::", "Bucket", "bucket"}, // of a policy, an access point
	{"AWS::DynamoDB::", "TableName", "table"},
	{"AWS::StepFunctions::", "StateMachineName", "state machine"},
	{"AWS::IAM::", "RoleName", "role"},
	{"AWS::IAM::", "Roles", "role"}, // that a policy is attached to
	{"AWS::Lambda::", "FunctionName", "function"},
}

// owns reports whether a name of a kind, or the ARN that ends in it, is of the
// installation. Its roles and functions are named by CloudFormation, after its
// stack.
func (i Installation) owns(kind, name string) bool {
	name = name[strings.LastIndexAny(name, ":/")+1:]
	if name == "" {
		return false
	}
	switch kind {
	case "stack":
		return name == i.Stack
	case "bucket":
		return name == i.Bucket
	case "table":
		return name == i.Table
	case "state machine":
		return name == i.StateMachine
	case "role", "function":
		return i.Stack != "" && strings.HasPrefix(name, i.Stack+"-")
	}
	return false
}

// namings lists the properties of a template that may name what is ours.
func namings(t *template.Template) []naming {
	var all []naming
	for _, name := range t.ResourceNames() {
		for _, p := range namingProperties {
			if r := t.Resources[name]; strings.HasPrefix(r.Type, p.types) {
				if x := r.Property(p.name); x != nil {
					all = append(all, naming{name, p, x})
				}
			}
		}
	}
	return all
}

// harm refuses a stack that is, or names, what Stackwright itself is made of.
func (r *reader) harm(s *stack) {
	own, home := r.options.Installation, r.options.Targets[project.DefaultTarget]
	if own == (Installation{}) || s.node.Target.Account != home.Account {
		return
	}
	ours := func(kind, name string) bool { // roles and buckets are in no region
		return (s.node.Target.Region == home.Region || kind == "role" || kind == "bucket") && own.owns(kind, name)
	}
	if ours("stack", s.node.Stack) {
		at, why := s.at, "this stack another name, or write another under stack_name:"
		if s.stackName != nil {
			at, why = s.stackName.at, "it another stack_name:"
		}
		r.add(at, "stack %s: %s is the stack that Stackwright itself is made of, and no project may change that: give %s", s.name, s.node.Stack, why)
	}
	if s.source == nil {
		return
	}
	for _, n := range s.source.namings {
		if value, known := r.evaluation(s).Condition(s.source.template.Resources[n.resource].Condition); known && !value {
			continue
		}
		value, err := r.evaluation(s).Value(n.value)
		if err != nil {
			continue // CloudFormation says so
		}
		for _, name := range texts(value) {
			if ours(n.property.kind, name) {
				r.add(s.source.where(n.value.Line, n.value.Column), "stack %s: %s of resource %s: %s is a %s of Stackwright itself, and no project may change that: name another",
					s.name, n.property.name, n.resource, short(name), n.property.kind)
			}
		}
	}
}

// texts lists what is known of a text or a list of texts.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	}
	return nil
}
