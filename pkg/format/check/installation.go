package check

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Installation is the resources that Stackwright itself consists of, in the
// account and region of the default target. A project that names one of them is
// refused: a run must not change the resources that execute it. Unknown names are
// empty.
type Installation struct {
	Stack        string // its physical name
	Bucket       string
	Table        string
	StateMachine string // its name

	Hooks     *hook.Allowed      // what hooks may call; nil if that is not known
	Parts     *hook.Allowed      // what no hook may call; nil if that is not known
	Externals *project.Externals // whose outputs projects may read; nil if that is not known
	Assets    *project.Grants    // the projects that may publish assets of the CDK; nil if that is not known
}

// A naming property names something of a kind, in resources whose types begin with
// types.
type naming struct{ types, name, kind string }

// namingProperties are the properties in which a project could name a resource
// of Stackwright: to create it again, or to change its permissions.
var namingProperties = []naming{
	{"AWS::S3::", "BucketName", "bucket"},
	{"AWS::S3::", "Bucket", "bucket"}, // of a policy or an access point
	{"AWS::DynamoDB::", "TableName", "table"},
	{"AWS::StepFunctions::", "StateMachineName", "state machine"},
	{"AWS::IAM::", "RoleName", "role"},
	{"AWS::IAM::", "Roles", "role"}, // that a policy is attached to
	{"AWS::Lambda::", "FunctionName", "function"},
}

// owns reports whether a name of a kind, or the ARN that ends in it, is of the
// installation. CloudFormation names its roles and functions after its stack.
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

// harm refuses a stack that is, or names, a resource of Stackwright itself.
func (c *checker) harm(s *resolve.Stack) {
	if c.own == (Installation{}) || s.Node.Target.Account != c.home.Account {
		return
	}
	if c.ours(s, "stack", s.Node.Stack) {
		at, advice := s.At, "this stack another name, or write another under stack_name:"
		if s.StackName != nil {
			at, advice = s.StackName.At, "it another stack_name:"
		}
		c.Add(at, "stack %s: %s is the stack of Stackwright itself, which no project may change: give %s", s.Name, s.Node.Stack, advice)
	}
	if s.Template == nil {
		return
	}
	for _, name := range s.Template.ResourceNames() {
		r := s.Template.Resources[name]
		for _, p := range namingProperties {
			if x := r.Property(p.name); x != nil && strings.HasPrefix(r.Type, p.types) {
				c.harmBy(s, r, p, x)
			}
		}
	}
}

// harmBy refuses a property of a resource that names a resource of Stackwright.
func (c *checker) harmBy(s *resolve.Stack, r template.Resource, p naming, x *template.Expr) {
	if value, known := c.Evaluation(s).Condition(r.Condition); known && !value {
		return
	}
	value, err := c.Evaluation(s).Value(x)
	if err != nil {
		return // CloudFormation will refuse it
	}
	for _, name := range texts(value) {
		if c.ours(s, p.kind, name) {
			c.Add(s.Template.Where(x.Line, x.Column), "stack %s: %s of resource %s: %s is a %s of Stackwright itself, which no project may change: name another",
				s.Name, p.name, r.Name, problem.Short(name), p.kind)
		}
	}
}

// ours reports whether a name in a stack is of the installation. Roles and
// buckets have no region.
func (c *checker) ours(s *resolve.Stack, kind, name string) bool {
	return (s.Node.Target.Region == c.home.Region || kind == "role" || kind == "bucket") && c.own.owns(kind, name)
}

// texts lists the known texts of a text or a list of texts.
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
