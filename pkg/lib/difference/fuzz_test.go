package difference_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Whatever two templates say, they are compared in bounded memory, and the difference is
// not larger than what they say. A template does not differ from itself, nor from a copy
// whose keys are in another order.
func FuzzOf(f *testing.F) {
	var seeds []string
	for _, file := range []string{"network.yaml", "service.json"} {
		body, err := os.ReadFile("../template/testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(body))
	}
	for _, text := range []string{
		"T: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: a, KeySchema: [{AttributeName: id, KeyType: HASH}]}}",
		"B: {Type: 'AWS::S3::Bucket', Properties: {Tags: [{Key: a, Value: 1}, {Key: b, Value: 2}]}, DeletionPolicy: Retain}",
		"B: {Type: 'AWS::S3::Bucket', Condition: C, Properties: !If [C, {BucketName: !Ref P}, !Ref AWS::NoValue]}}\nParameters: {P: {Type: String, NoEcho: true}}\nConditions: {C: !Equals [!Ref P, x]}\nOutputs: {O: {Value: !GetAtt B.Arn, Export: {Name: !Sub '${P}-x'}}",
		"R: {Type: 'AWS::IAM::Policy', Properties: {PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: [b, a], Resource: '*'}]}}}",
		"V: {Type: 'AWS::EC2::VPC'}, S: {Type: 'AWS::EC2::Subnet', Properties: {VpcId: !Ref V, CidrBlock: !Select [0, !Cidr [!GetAtt V.CidrBlock, 2, 8]]}}",
		"R: {Type: 'Custom::X', Properties: {X: " + strings.Repeat("!Sub ['${a}${a}', {a: ", 30) + "x" + strings.Repeat("}]", 30) + "}}",
		"R: {Type: 'Custom::X', Properties: {X: " + strings.Repeat("!If [C, ", 20) + "x" + strings.Repeat(", !Ref AWS::StackId]", 20) + "}}}\nConditions: {C: !Equals [!Ref P, x]}\nParameters: {P: {Type: String}",
	} {
		seeds = append(seeds, "Resources: {"+text+"}")
	}
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, before, after []byte, unsure bool) {
		was, is := read(before), read(after)
		if was.Template == nil || is.Template == nil {
			return
		}
		uncertain := make(map[string]string)
		for _, name := range is.Template.ParameterNames() {
			if unsure {
				uncertain[name] = "it may change"
			}
		}
		var d difference.Difference
		size := len(before) + len(after)
		contract.Memory(t, size, 64<<20, 20_000, func() { d = difference.Of(was, is, difference.Uncertain{Parameters: uncertain}) })
		bounded(t, d, was, is)
		was.Scope.Room, is.Scope.Room = template.NewRoom(1<<20), template.NewRoom(1<<20)
		if again := difference.Of(was, is, difference.Uncertain{Parameters: uncertain}); again.String() != d.String() {
			t.Errorf("compared again, the difference is another:\n%s\n%s", d, again)
		}
		same(t, "itself", was, was)
		if text := reordered(before); text != "" {
			other := read([]byte(text))
			if other.Template == nil {
				t.Fatalf("the reordered copy is no template:\n%s", text)
			}
			same(t, "a reordered copy", was, other)
		}
		for _, d := range []difference.Difference{difference.Of(difference.Side{}, is, difference.Uncertain{Parameters: uncertain}), difference.Of(was, difference.Side{}, difference.Uncertain{Parameters: uncertain})} {
			for _, r := range d.Resources {
				if r.Action != difference.Add && r.Action != difference.Remove {
					t.Errorf("a stack is created or deleted, and %s is %s", r.ID, r.Action)
				}
			}
		}
	})
}

// read reads a template; that of the zero side does not exist.
func read(body []byte) difference.Side {
	t, err := template.Parse("t", body)
	if err != nil {
		return difference.Side{}
	}
	return difference.Side{t, template.Scope{Parameters: t.Defaults(), Region: "eu-west-1", AccountID: "111122223333", StackName: "s", Room: template.NewRoom(1 << 20)}}
}

// same says that two templates do not differ, apart from values that are too large to be
// compared.
func same(t *testing.T, as string, a, b difference.Side) {
	t.Helper()
	a.Scope.Room, b.Scope.Room = template.NewRoom(1<<20), template.NewRoom(1<<20)
	d := difference.Of(a, b, difference.Uncertain{})
	large := func(p difference.Property) bool {
		return p.Secret || p.Before != nil && strings.Contains(*p.Before, template.TooLarge) || p.After != nil && strings.Contains(*p.After, template.TooLarge)
	}
	for _, r := range d.Resources {
		if !slices.ContainsFunc(r.Properties, large) && r.Action != difference.Dynamic {
			t.Errorf("compared with %s, the template differs:\n%s", as, d)
		}
	}
	if len(d.Resources) == 0 && len(d.Outputs) > 0 {
		t.Errorf("compared with %s, outputs differ:\n%s", as, d)
	}
}

// bounded says that a difference lists each resource and output once, and shows no value
// that is too long.
func bounded(t *testing.T, d difference.Difference, was, is difference.Side) {
	t.Helper()
	seen := make(map[string]bool)
	for _, r := range d.Resources {
		_, before := was.Template.Resources[r.ID]
		_, after := is.Template.Resources[r.ID]
		if seen[r.ID] || !before && !after && was.Template.Loops[r.ID] == nil && is.Template.Loops[r.ID] == nil {
			t.Errorf("resource %s is listed again, or is none", r.ID)
		}
		seen[r.ID] = true
		for _, p := range r.Properties {
			for _, v := range []*string{p.Before, p.After} {
				if v != nil && (len(*v) > 2003 || p.Secret) {
					t.Errorf("%s shows %d bytes (secret: %v)", p.Path, len(*v), p.Secret)
				}
			}
		}
	}
	if len(d.Outputs) > len(was.Template.OutputNames())+len(is.Template.OutputNames()) || len(d.Caveats) > 2 {
		t.Errorf("%d outputs, %d caveats", len(d.Outputs), len(d.Caveats))
	}
}

// reordered is the template with the keys of each mapping in reverse order; "" if it has
// anchors, whose order matters, or cannot be written again.
func reordered(body []byte) string {
	var n yaml.Node
	if yaml.Unmarshal(body, &n) != nil || anchored(&n) {
		return ""
	}
	reverse(&n)
	text, err := yaml.Marshal(&n)
	if err != nil {
		return ""
	}
	return string(text)
}

func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || n.Value == "<<" || slices.ContainsFunc(n.Content, anchored)
}

// reverse reverses the order of all keys, without comments, whose places would be wrong.
func reverse(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.MappingNode {
		slices.Reverse(n.Content)
		for i := 0; i+1 < len(n.Content); i += 2 {
			n.Content[i], n.Content[i+1] = n.Content[i+1], n.Content[i]
		}
	}
	for _, item := range n.Content {
		reverse(item)
	}
}
