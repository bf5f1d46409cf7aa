package plan_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// stacks is a project whose templates a test writes.
type stacks struct {
	fixture
	templates map[string]string // by digest
}

func newStacks() stacks { return stacks{newFixture(), make(map[string]string)} }

// node adds a desired stack with a template and parameters, as in "Size=large",
// "Vpc=vpc.Id" for an output, and "Password!=…" for a text.
func (s stacks) node(name, text string, parameters ...string) {
	digest := "new of " + name
	s.templates[digest] = text
	n := project.Node{
		Name: name, Stack: "shop-" + name, Target: project.Target{Name: "default", Account: "111122223333", Region: "eu-west-1"},
		Template: project.Template{Digest: digest, Pinned: true}, Parameters: make(map[string]project.Text),
	}
	for _, p := range parameters {
		key, value, _ := strings.Cut(p, "=")
		n.Parameters[key] = project.Literal(value)
		if from, output, ok := strings.Cut(value, "."); ok {
			n.Parameters[key] = project.Text{{Node: from, Output: output}}
			n.Needs = append(n.Needs, from)
		}
	}
	s.Desired.Nodes[name] = n
}

// live records and deploys a stack with a template, live parameters and outputs.
func (s stacks) live(name, text string, parameters, outputs map[string]string) {
	digest := "old of " + name
	if s.templates["new of "+name] == text {
		digest = "new of " + name
	}
	s.templates[digest] = text
	n := s.Desired.Nodes[name]
	s.Recorded[name] = plan.Record{
		Node: name, Stack: "shop-" + name, Target: n.Target, StackID: "id-" + name, Digest: "recorded", Template: digest, Needs: n.Needs,
		LastUpdated: epoch, Outputs: outputs,
	}
	s.Live[name] = plan.Live{StackID: "id-" + name, Status: "UPDATE_COMPLETE", LastUpdated: epoch, Outputs: outputs, Parameters: parameters}
}

// describe plans a deploy and describes it.
func (s stacks) describe(t *testing.T) plan.Changes {
	t.Helper()
	p, err := plan.Deploy(s.View)
	if err != nil {
		t.Fatal(err)
	}
	return s.describeOf(p)
}

// describeOf describes a plan.
func (s stacks) describeOf(p plan.Plan) plan.Changes {
	return s.Describe(p, s.read)
}

// read is a plan.Templates.
func (s stacks) read(digest string) (*template.Template, error) {
	text, ok := s.templates[digest]
	if !ok {
		return nil, fault.New(fault.Missing, "it is no longer stored")
	}
	return template.Parse("t.yaml", []byte(text))
}

// lines writes changes, one thing a line.
func lines(c plan.Changes) string {
	var b strings.Builder
	value := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for _, s := range c.Stacks {
		fmt.Fprintf(&b, "%s %s %s", s.Stack, s.Action, s.Certainty)
		if s.DataLoss {
			b.WriteString(" DATA LOSS")
		}
		if s.UnknownDataLoss {
			b.WriteString(" DATA LOSS UNKNOWN")
		}
		if s.PossibleDataLoss {
			b.WriteString(" POSSIBLE DATA LOSS")
		}
		fmt.Fprintf(&b, ": %s\n", strings.Join(s.Reasons, "; "))
		for _, all := range [][]plan.ValueChange{s.Parameters, s.Tags, s.Options} {
			for _, v := range all {
				fmt.Fprintf(&b, "  %s %s → %s secret=%v known=%v %s\n", v.Name, value(v.Before), value(v.After), v.Secret, v.Known, v.Why)
			}
		}
		for _, r := range s.Resources {
			fmt.Fprintf(&b, "  %s %s\n", r.Action, r.ID)
			if r.Refused != "" {
				fmt.Fprintf(&b, "    refused: %s\n", r.Refused)
			}
		}
		for _, o := range s.Outputs {
			fmt.Fprintf(&b, "  output %s %s\n", o.Action, o.Name)
		}
		for _, w := range append(s.Caveats, s.Warnings...) {
			fmt.Fprintf(&b, "  (%s)\n", w)
		}
	}
	return b.String()
}

func (s stacks) expectOf(t *testing.T, p plan.Plan, want string) {
	t.Helper()
	if got := lines(s.describeOf(p)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func (s stacks) expect(t *testing.T, want string) {
	t.Helper()
	if got := lines(s.describe(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const (
	queue = `
Parameters: {Size: {Type: String, Default: small}}
Resources: {Queue: {Type: 'AWS::SQS::Queue', Properties: {QueueName: !Sub 'q-${Size}'}}}
Outputs: {Arn: {Value: !GetAtt Queue.Arn}, Fixed: {Value: same}}
`
	user = `
Parameters: {Queue: {Type: String}}
Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {DisplayName: !Ref Queue}}}
`
)

func TestDescribeCreate(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=large")
	s.node("user", user, "Queue=queue.Arn")
	s.expect(t, `queue create certain: new in the project
  Size - → large secret=false known=true 
  add Queue
  output add Arn
  output add Fixed
user create certain: new in the project
  Queue - → ${queue.Arn} secret=false known=false known when queue is created
  add Topic
`)
}

// What depends on parameters whose changes are ignored has the values of the live stack: nothing is replaced, whatever the files say. Those
// that the plan knows to differ are named.
func TestDescribeIgnoredChanges(t *testing.T) {
	const text = "Parameters: {Size: {Type: String}, Key: {Type: String, NoEcho: true}, Team: {Type: String}}\nResources: {Queue: {Type: 'AWS::SQS::Queue', Properties: {QueueName: !Sub 'q-${Size}-${Key}', Tags: [{Key: team, Value: !Ref Team}]}}}"
	s := newStacks()
	s.node("queue", text, "Size=large", "Key=canary", "Team=b")
	n := s.Desired.Nodes["queue"]
	n.IgnoreChanges = []string{"Key", "Size"}
	s.Desired.Nodes["queue"] = n
	s.live("queue", text, map[string]string{"Size": "small", "Key": "****", "Team": "a"}, nil)
	s.expect(t, `queue update certain: changed here: parameters
  Team a → b secret=false known=true 
  modify Queue
`)
	p, err := plan.Deploy(s.View)
	if want := []string{"stack queue: parameters keep the values that the stack has, because the project's files say ignore_changes: Size"}; err != nil || !slices.Equal(p.Messages, want) {
		t.Errorf("%q, %v", p.Messages, err)
	}
}

// A parameter of one stack replaces its queue. Only what depends on the ARN may change.
func TestDescribeReplacementThatPropagates(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=large")
	s.node("user", user, "Queue=queue.Arn")
	s.node("other", user, "Queue=queue.Fixed")
	outputs := map[string]string{"Arn": "arn:q", "Fixed": "same"}
	s.live("queue", queue, map[string]string{"Size": "small"}, outputs)
	s.live("user", user, map[string]string{"Queue": "arn:q"}, nil)
	s.live("other", user, map[string]string{"Queue": "same"}, nil)
	s.expect(t, `queue update certain DATA LOSS: changed here: parameters
  Size small → large secret=false known=true 
  replace Queue
  output dynamic Arn
other update certain: 
  (no difference was found)
user update certain: 
  Queue arn:q → ${queue.Arn} secret=false known=false known when queue is deployed
  dynamic Topic
`)
}

// A loss that a conditional replacement decides about is counted apart.
func TestDescribePossibleLoss(t *testing.T) {
	const database = "Resources: {DB: {Type: 'AWS::RDS::DBInstance', Properties: {Engine: mysql}}}"
	s := newStacks()
	s.node("db", strings.Replace(database, "mysql", "postgres", 1))
	s.live("db", database, nil, nil)
	s.expect(t, `db update certain POSSIBLE DATA LOSS: changed here: template
  modify DB
`)
	if c := s.describe(t); c.Summary.DataLoss != 0 || c.Summary.PossibleDataLoss != 1 || !c.Stacks[0].Resources[0].PossibleDataLoss {
		t.Errorf("%+v", c.Summary)
	}
}

// A stack that imports an export of a replaced resource may change with it.
func TestDescribeExportsOfReplacedResources(t *testing.T) {
	const importer = "Resources: {Subnet: {Type: 'AWS::EC2::Subnet', Properties: {VpcId: !ImportValue net-vpc}}}"
	network := "Resources: {VPC: {Type: 'AWS::EC2::VPC', Properties: {CidrBlock: 10.0.0.0/16}}}\nOutputs: {Id: {Value: !Ref VPC, Export: {Name: net-vpc}}, Other: {Value: 1}}\n"
	s := newStacks()
	s.node("net", strings.Replace(network, "10.0", "10.1", 1))
	s.node("app", importer)
	n := s.Desired.Nodes["app"]
	n.Needs = []string{"net"}
	s.Desired.Nodes["app"] = n
	outputs := map[string]string{"Id": "vpc-1", "Other": "1"}
	s.live("net", network, nil, outputs)
	s.live("app", importer, nil, nil)
	r := s.Recorded["net"]
	r.Target = s.Desired.Nodes["net"].Target
	s.Recorded["net"] = r
	s.expect(t, `net update certain: changed here: template
  replace VPC
  output dynamic Id
app update certain: 
  dynamic Subnet
`)
	s.node("net", strings.Replace(network, "Id: {Value: !Ref VPC, Export: {Name: net-vpc}}, ", "", 1))
	s.expect(t, `net update certain: changed here: template
  output remove Id
app update certain: 
  (no difference was found)
`)
}

// The change set of a stack would have the value that is exported now. If the same deploy may change that value, the stack keeps its
// estimate, and with it the data that the new value may lose.
func TestProposalsLeaveOutImportsThatMayChange(t *testing.T) {
	const importer = "Resources: {Files: {Type: 'AWS::S3::Bucket', Properties: {BucketName: !ImportValue %s}}}"
	names := "Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {TopicName: a}}}\nOutputs:\n  Changed: {Value: !Ref Topic, Export: {Name: changed}}\n  Fixed: {Value: fixed, Export: {Name: fixed}}\n"
	s := newStacks()
	s.node("names", strings.Replace(names, "TopicName: a", "TopicName: b", 1))
	for stack, export := range map[string]string{"moves": "changed", "stays": "fixed"} {
		s.node(stack, fmt.Sprintf(importer, export))
		n := s.Desired.Nodes[stack]
		n.Needs = []string{"names"}
		s.Desired.Nodes[stack] = n
		s.live(stack, "Resources: {Files: {Type: 'AWS::S3::Bucket', Properties: {BucketName: before}}}", nil, nil)
	}
	s.live("names", names, nil, map[string]string{"Changed": "a", "Fixed": "fixed"})
	p, err := plan.Deploy(s.View)
	if err != nil {
		t.Fatal(err)
	}
	steps, c := s.Proposals(p, s.describeOf(p))
	var proposed []string
	for _, step := range steps {
		proposed = append(proposed, step.Node)
	}
	if !slices.Equal(proposed, []string{"names", "stays"}) {
		t.Errorf("the stacks %q are proposed", proposed)
	}
	i := slices.IndexFunc(c.Stacks, func(c plan.StackChange) bool { return c.Stack == "moves" })
	want := []string{"this is an estimate, without a change set: export changed of names may change"}
	if moves := c.Stacks[i]; !moves.DataLoss && !moves.PossibleDataLoss || !slices.Equal(moves.Caveats, want) {
		t.Errorf("the stack that imports is %+v", moves)
	}
}

// CloudFormation refuses to change the type of a resource, so nothing is replaced.
func TestDescribeChangedType(t *testing.T) {
	s := newStacks()
	s.node("b", "Resources: {B: {Type: 'AWS::SNS::Topic'}}")
	s.live("b", "Resources: {B: {Type: 'AWS::S3::Bucket'}}", nil, nil)
	s.expect(t, `b update certain: changed here: template
  modify B
    refused: it does not change the type of a resource: give the new resource another name in the template
`)
}

// A secret without a version may have another value. The plan names no reference to it.
func TestDescribeUnversionedSecret(t *testing.T) {
	const text = "Resources:\n  DB: {Type: 'AWS::RDS::DBInstance', Properties: {MasterUserPassword: '{{resolve:secretsmanager:prod}}'}}"
	s := newStacks()
	s.node("db", text)
	s.live("db", text, nil, nil)
	n := s.Desired.Nodes["db"]
	n.Template.Pinned = false
	s.Desired.Nodes["db"] = n
	s.expect(t, `db update possible: 
  (CloudFormation decides whether anything changes: the stack uses a secret without a version (line 2))
`)
}

func TestDescribeDeletion(t *testing.T) {
	s := newStacks()
	s.node("keep", user, "Queue=x")
	s.live("queue", queue, map[string]string{"Size": "small"}, nil)
	s.live("keep", user, map[string]string{"Queue": "x"}, nil)
	c := s.describe(t)
	if c.Summary.Delete != 1 || c.Summary.DataLoss != 1 || !c.Stacks[len(c.Stacks)-1].DataLoss {
		t.Errorf("%+v\n%s", c.Summary, lines(c))
	}
}

func TestDescribeReasons(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(*plan.Record, *plan.Live)
	}{
		{"changed outside", "changed outside Stackwright since it was last deployed",
			func(_ *plan.Record, l *plan.Live) { l.LastUpdated = epoch.Add(1) }},
		{"never finished", "never finished: its last operation failed or was interrupted", func(r *plan.Record, _ *plan.Live) { r.Digest = "" }},
		{
			"another policy", "its stack policy was changed outside Stackwright",
			func(r *plan.Record, _ *plan.Live) { r.Digest, r.OtherPolicy = "", true },
		},
		{"busy", "another operation is in progress: UPDATE_IN_PROGRESS", func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_IN_PROGRESS" }},
		{"stuck", "never finished: it is UPDATE_ROLLBACK_FAILED, and its rollback is continued first",
			func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_ROLLBACK_FAILED" }},
		{"dead", "never finished: it is ROLLBACK_COMPLETE and can only be created again", func(_ *plan.Record, l *plan.Live) { l.Status = "ROLLBACK_COMPLETE" }},
		{"gone", "deleted outside Stackwright, or never created", func(_ *plan.Record, l *plan.Live) { *l = plan.Live{} }},
		{"inaccessible", "could not be read, so it is not known what changes", func(_ *plan.Record, l *plan.Live) { *l = plan.Live{AccessError: "denied"} }},
		{"other outputs", "its outputs are not those that are recorded", func(_ *plan.Record, l *plan.Live) { l.Outputs = map[string]string{"A": "b"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStacks()
			s.node("queue", queue, "Size=small")
			s.live("queue", queue, map[string]string{"Size": "small"}, nil)
			r, l := s.Recorded["queue"], s.Live["queue"]
			test.change(&r, &l)
			s.Recorded["queue"], s.Live["queue"] = r, l
			c := s.describe(t)
			reasons := strings.Join(c.Stacks[0].Reasons, "; ")
			both := strings.Contains(reasons, "policy") && strings.Contains(reasons, "never finished")
			if len(c.Stacks) != 1 || !strings.Contains(reasons, test.want) || both {
				t.Errorf("want the reason %q:\n%s", test.want, lines(c))
			}
		})
	}
}

// If only the level of approval changes, the stack is unchanged, and no update is counted.
func TestDescribeLevel(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=small")
	s.live("queue", queue, map[string]string{"Size": "small"}, nil)
	r := s.Recorded["queue"]
	same, err := s.Desired.Nodes["queue"].Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Digest, r.Approve = same.Digest, project.ApproveDeletions
	s.Recorded["queue"] = r
	c := s.describe(t)
	if c.Summary.Level != 1 || c.Summary.Update != 0 {
		t.Errorf("%+v", c.Summary)
	}
	if got := lines(c); !strings.HasPrefix(got, "queue level certain: its level of approval changes, and nothing in AWS\n  approve deletions → never ") {
		t.Error(got)
	}
}

// A stack that was changed outside Stackwright is not compared with the template that is
// recorded: that would show differences which do not exist.
func TestDescribeDoesNotCompareWhatIsNotDeployed(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=large")
	s.live("queue", queue, map[string]string{"Size": "small"}, nil)
	l := s.Live["queue"]
	l.LastUpdated = epoch.Add(1)
	s.Live["queue"] = l
	s.expect(t, `queue update certain DATA LOSS UNKNOWN: changed outside Stackwright since it was last deployed; changed here: parameters
  Size small → large secret=false known=true 
  (the stack was changed outside Stackwright, so its template is not compared)
`)
}

// A destroy shows the resources of the template that was last deployed, also if it is not
// known that they are all.
func TestDescribeDeletionOfWhatIsNotKnown(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(*plan.Record, *plan.Live)
	}{
		{"changed outside", `queue delete certain DATA LOSS DATA LOSS UNKNOWN: 
  remove Queue
  output remove Arn
  output remove Fixed
  (the stack was changed outside Stackwright: the resources are those of the template that Stackwright last deployed)
`, func(_ *plan.Record, l *plan.Live) { l.LastUpdated = epoch.Add(1) }},
		{"stuck", `queue delete certain DATA LOSS DATA LOSS UNKNOWN: 
  remove Queue
  output remove Arn
  output remove Fixed
  (what is deployed is not known: the resources are those of the template that Stackwright last deployed)
`, func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_ROLLBACK_FAILED" }},
		{"no template", `queue delete certain DATA LOSS UNKNOWN: 
  (what is deployed is not known, so its template is not compared)
`, func(r *plan.Record, _ *plan.Live) { r.Template = "" }},
		{"a template that is not stored", `queue delete certain DATA LOSS UNKNOWN: 
  (the template that is deployed is not compared: it is no longer stored)
`, func(r *plan.Record, _ *plan.Live) { r.Template = "none" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStacks()
			s.live("queue", queue, map[string]string{"Size": "small"}, nil)
			r, l := s.Recorded["queue"], s.Live["queue"]
			test.change(&r, &l)
			s.Recorded["queue"], s.Live["queue"] = r, l
			s.expectOf(t, plan.Plan{Steps: []plan.Step{{ID: "queue/delete", Node: "queue", Verb: plan.Delete}}}, test.want)
		})
	}
}

// What macros make is not known: not which data a deletion loses, nor what an update does.
func TestDescribeUnknownLossOfMacros(t *testing.T) {
	const macro = "Transform: AWS::Serverless-2016-10-31\nParameters: {Size: {Type: String, Default: a}}\nResources: {F: {Type: 'AWS::Serverless::Function'}}\n"
	s := newStacks()
	s.node("api", macro, "Size=b")
	s.live("api", macro, map[string]string{"Size": "a"}, nil)
	s.live("old", macro, nil, nil)
	if c := s.describe(t); c.Summary.UnknownDataLoss != 2 {
		t.Errorf("%+v\n%s", c.Summary, lines(c))
	}
	s.node("api", macro, "Size=a")
	n := s.Desired.Nodes["api"]
	n.Template.Pinned = false
	s.Desired.Nodes["api"] = n
	if c := s.describe(t); c.Summary.UnknownDataLoss != 1 {
		t.Errorf("nothing differs: %+v\n%s", c.Summary, lines(c))
	}
}

func TestDescribeTemplateThatIsNotStored(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=large")
	s.live("queue", queue+"# older\n", map[string]string{"Size": "small"}, nil)
	delete(s.templates, "old of queue")
	s.expect(t, `queue update certain DATA LOSS UNKNOWN: changed here: parameters
  Size small → large secret=false known=true 
  (the template that is deployed is not compared: it is no longer stored)
`)
}

func TestDescribeTagsAndOptions(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=small")
	s.live("queue", queue, map[string]string{"Size": "small"}, nil)
	n, l := s.Desired.Nodes["queue"], s.Live["queue"]
	n.Tags = map[string]project.Text{"team": project.Literal("b"), "new": project.Literal("x")}
	n.Capabilities, n.Protect = []string{"CAPABILITY_IAM"}, true
	l.Tags = map[string]string{"team": "a", "old": "y"}
	n.Notifications, l.Notifications = []string{"arn:new", "arn:other"}, []string{"arn:old"}
	n.RollbackTriggers, l.Triggers = project.RollbackTriggers{Alarms: []string{"arn:b"}, Minutes: 10}, project.RollbackTriggers{CompositeAlarms: []string{"arn:a"}}
	n.OnFailure, n.DisableRollback = project.DeleteFailed, true // no stack has them
	n.StackPolicy, n.DuringUpdate = project.NewStackPolicy("{policy}"), `"`+strings.Repeat("x", 298)+"éz"
	s.Desired.Nodes["queue"], s.Live["queue"] = n, l
	s.expect(t, `queue update certain: changed here: tags, options
  new - → x secret=false known=true 
  old y → - secret=false known=true 
  team a → b secret=false known=true 
  protect false → true secret=false known=true 
  notifications arn:old → arn:new, arn:other secret=false known=true 
  rollback_triggers arn:a → arn:b, 10m secret=false known=true 
  stack_policy - → {policy} secret=false known=true 
  stack_policy_during_update - → "`+strings.Repeat("x", 298)+`… secret=false known=true 
`)
	n.StackPolicy, n.DuringUpdate = project.StackPolicy{}, ""
	recorded := s.Recorded["queue"]
	recorded.Policy = "old"
	s.Recorded["queue"] = recorded
	n.Notifications, n.Tags, n.Protect, l.Tags = nil, nil, false, nil
	n.RollbackTriggers, l.Triggers = project.RollbackTriggers{}, project.RollbackTriggers{}
	s.Desired.Nodes["queue"], s.Live["queue"] = n, l
	s.expect(t, `queue update certain: changed here: options
  notifications arn:old → - secret=false known=true 
  stack_policy the policy of the last update → - secret=false known=true 
`)
}

// The plan of a creation shows what its request says.
func TestDescribeOptionsOfACreation(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=small")
	n := s.Desired.Nodes["queue"]
	n.Notifications, n.OnFailure, n.DisableRollback = []string{"arn:new"}, project.KeepFailed, true
	s.Desired.Nodes["queue"] = n
	c := s.describe(t)
	var got []string
	for _, o := range c.Stacks[0].Options {
		got = append(got, o.Name+" "+*o.After)
	}
	if want := []string{"notifications arn:new", "on_failure DO_NOTHING", "disable_rollback true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const password = `
Parameters: {Password: {Type: String, NoEcho: true, Default: canary-default}, Size: {Type: String, Default: small}}
Resources:
  Db: {Type: 'AWS::RDS::DBInstance', Properties: {MasterUserPassword: !Ref Password, Tags: [{Key: size, Value: !Ref Size}, {Key: p, Value: !Sub 'x-${Password}'}]}}
Outputs: {Secret: {Value: !Join ['', [a, !Ref Password]]}}
`

// No value of a parameter with NoEcho and no reference to a secret is in the document,
// however it reaches a property.
func TestDescribeHidesSecrets(t *testing.T) {
	s := newStacks()
	s.node("db", strings.Replace(password, "x-$", "y-$", 1), "Password={{resolve:secretsmanager:canary-name}}", "Size=large")
	s.live("db", password, map[string]string{"Password": "****", "Size": "small"}, map[string]string{"Secret": "canary-output"})
	c := s.describe(t)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "canary") || strings.Contains(string(text), "****") {
		t.Errorf("a secret is in %s", text)
	}
	if got := lines(c); !strings.Contains(got, "Password - → - secret=true known=false") || !strings.Contains(got, "modify Db") {
		t.Error(got)
	}
}

// The digest of what was deployed tells that the secret is the same.
func TestDescribeKnowsThatSecretIsUnchanged(t *testing.T) {
	s := newStacks()
	s.node("db", password, "Password={{resolve:secretsmanager:name}}", "Size=large")
	s.live("db", password, map[string]string{"Password": "****", "Size": "small"}, nil)
	was := s.Desired.Nodes["db"]
	was.Parameters = map[string]project.Text{"Password": was.Parameters["Password"], "Size": project.Literal("small")}
	resolved, err := was.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Recorded["db"]
	r.Digest = resolved.Digest
	s.Recorded["db"] = r
	s.expect(t, `db update certain: changed here: parameters
  Size small → large secret=false known=true 
  modify Db
`)
}

// A plan lists each template that it needs once, and none of unchanged stacks.
func TestTemplatesOfPlan(t *testing.T) {
	v := plan.View{
		Desired: project.Project{Nodes: map[string]project.Node{
			"a": {Template: project.Template{Digest: "1"}}, "b": {Template: project.Template{Digest: "1"}}, "c": {Template: project.Template{Digest: "3"}},
		}},
		Recorded: map[string]plan.Record{"a": {Template: "2"}, "c": {Template: "4"}, "d": {Template: "5"}, "e": {}},
	}
	p := plan.Plan{Steps: []plan.Step{{Node: "a"}, {Node: "b"}, {Node: "d"}, {Node: "e"}, {Verb: plan.Barrier}}}
	if desired, deployed := v.TemplateDigests(p); strings.Join(desired, " ") != "1" || strings.Join(deployed, " ") != "2 5" {
		t.Error(desired, deployed)
	}
}

// A step that only waits for a cleanup changes nothing.
func TestDescribeLeavesOutWaits(t *testing.T) {
	s := newStacks()
	s.node("queue", queue, "Size=small")
	p := plan.Plan{Steps: []plan.Step{{ID: "queue/wait", Node: "queue", Verb: plan.Wait}, {ID: "gone/delete", Node: "gone", Verb: plan.Delete, After: []int{0}}}}
	c := s.Describe(p, func(string) (*template.Template, error) { return nil, fault.New(fault.Missing, "none") })
	if len(c.Stacks) != 1 || c.Stacks[0].Action != plan.ActionDelete || c.Steps[1].After[0] != "queue/wait" {
		t.Errorf("%+v", c)
	}
}

// A stack that gets another physical name is not new in the project. Its create and the
// delete of the former stack have different steps, and both entries name theirs.
func TestDescribeAnotherPhysicalName(t *testing.T) {
	s := newStacks()
	s.node("web", "Resources: {T: {Type: AWS::SNS::Topic}}")
	s.Recorded["arn:old"] = plan.Record{Node: "arn:old", FormerName: "web", Stack: "old-web", StackID: "arn:old", Target: s.Desired.Nodes["web"].Target, Digest: "d", LastUpdated: epoch}
	s.Live["arn:old"] = plan.Live{StackID: "arn:old", Status: "CREATE_COMPLETE", LastUpdated: epoch}
	got := ""
	for _, c := range s.describe(t).Stacks {
		got += fmt.Sprintf("%s %s %v: %s\n", c.Action, c.Stack, c.Steps, strings.Join(c.Reasons, "; "))
	}
	for _, want := range []string{"create web [web/create]: gets another physical name", "delete web [arn:old/delete]: web gets another physical name"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

// The work of a description grows with the stacks, and not with their square: neither with
// many exporters, each with its importer, nor with a stack that many import from. The bytes
// that it allocates show the work.
func TestDescribeIsLinear(t *testing.T) {
	pairs := func(n int) (s stacks) {
		s = newStacks()
		for i := range n {
			s.exporter(fmt.Sprintf("net%d", i), 1)
			s.importer(fmt.Sprintf("app%d", i), fmt.Sprintf("net%d", i), 1)
		}
		return s
	}
	hub := func(n int) (s stacks) {
		s = newStacks()
		s.exporter("hub", 10)
		for i := range n {
			s.importer(fmt.Sprintf("app%d", i), "hub", 10)
		}
		return s
	}
	for _, c := range []struct {
		name string
		grow func(int) stacks
		most int
	}{{"pairs", pairs, 1000}, {"a hub", hub, 400}} {
		bytes := func(n int) float64 {
			s := c.grow(n)
			p, err := plan.Deploy(s.View)
			if err != nil {
				t.Fatal(err)
			}
			parsed := make(map[string]*template.Template)
			for digest, text := range s.templates {
				if parsed[digest], err = template.Parse("t.yaml", []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			changes := s.Describe(p, func(digest string) (*template.Template, error) { return parsed[digest], nil })
			runtime.ReadMemStats(&after)
			if !strings.Contains(lines(changes), "output dynamic O0") {
				t.Fatalf("no export may change:\n%s", lines(changes))
			}
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		bytes(1) // what is made once is not counted
		if few, many := bytes(c.most/20), bytes(c.most); many > 40*few {
			t.Errorf("%s: 20 times as many stacks take %.0f times the memory", c.name, many/few)
		}
	}
}

// exporter adds a stack that is replaced, with a number of exports.
func (s stacks) exporter(name string, exports int) {
	text := "Resources: {VPC: {Type: 'AWS::EC2::VPC', Properties: {CidrBlock: 10.0.0.0/16}}}\nOutputs:\n"
	outputs := make(map[string]string)
	for i := range exports {
		text += fmt.Sprintf("  O%d: {Value: !Ref VPC, Export: {Name: %s-%d}}\n", i, name, i)
		outputs[fmt.Sprintf("O%d", i)] = "vpc-1"
	}
	s.node(name, strings.Replace(text, "10.0", "10.1", 1))
	s.live(name, text, nil, outputs)
}

// importer adds a stack that imports all exports of another.
func (s stacks) importer(name, from string, exports int) {
	text := "Resources:\n"
	for i := range exports {
		text += fmt.Sprintf("  S%d: {Type: 'AWS::EC2::Subnet', Properties: {VpcId: !ImportValue %s-%d}}\n", i, from, i)
	}
	s.node(name, text)
	n := s.Desired.Nodes[name]
	n.Needs = []string{from}
	s.Desired.Nodes[name] = n
	s.live(name, text, nil, nil)
}
