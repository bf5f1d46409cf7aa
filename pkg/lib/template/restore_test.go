package template_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A template that CloudFormation has returned gets the texts of the known template at the same places. A text that no
// known template has is named, and a question mark that a known template has, too, is no loss.
func TestRestore(t *testing.T) {
	const topic = "Resources:\n  Topic:\n    Type: AWS::SNS::Topic\n    Properties:\n      DisplayName: Übersicht 東京\n"
	const url = "Outputs:\n  Url: { Value: \"https://a.example/?x=1\" }\n"
	const tags = "      Tags: [{ Key: Straße, Value: Süd }]\n"
	for _, c := range []struct {
		name, live string
		known      []string
		want       string // "" for the live one
		lost       []string
	}{
		{"as known", topic + tags, []string{url, topic + tags}, topic + tags, nil},
		{"without a question mark", "Resources: {}\n", []string{topic}, "", nil},
		{"a real question mark", url, []string{url}, url, nil},
		{"with a resource more", topic + tags + "  Other: { Type: 'AWS::SNS::Topic' }\n", []string{topic + tags}, topic + tags + "  Other: { Type: 'AWS::SNS::Topic' }\n", nil},
		{"with another text", topic + "  Other: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: Köln? } }\n", []string{topic},
			topic + "  Other: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: 'K?ln?' } }\n", []string{"Resources.Other.Properties.DisplayName"}},
		{"nothing known", topic + tags, nil, "", []string{"Resources.Topic.Properties.DisplayName", "Resources.Topic.Properties.Tags[0].Key", "Resources.Topic.Properties.Tags[0].Value"}},
		{"other kinds at the same places", topic + tags, []string{"Resources: [Topic]\n", "Resources: {Topic: {Properties: {Tags: {}}}}", "{"}, "",
			[]string{"Resources.Topic.Properties.DisplayName", "Resources.Topic.Properties.Tags[0].Key", "Resources.Topic.Properties.Tags[0].Value"}},
		{"as JSON", `{"Resources": {"Topic": {"Properties": {"DisplayName": "Größe"}}}, "Outputs": {}}`, []string{`{"Resources": {"Topic": {"Properties": {"DisplayName": "Größe"}}}}`},
			`{"Resources": {"Topic": {"Properties": {"DisplayName": "Größe"}}}, "Outputs": {}}`, nil},
		{"not YAML", "a: [?", []string{topic}, "", nil},
	} {
		var known [][]byte
		for _, one := range c.known {
			known = append(known, []byte(one))
		}
		got, lost := template.Restore([]byte(loss.Of(c.live)), known...)
		want := c.want
		if want == "" {
			want = loss.Of(c.live)
		}
		if !same(t, string(got), want) || !slices.Equal(lost, c.lost) {
			t.Errorf("%s: %s, lost %q, want %s, lost %q", c.name, got, lost, want, c.lost)
		}
	}
}

// same reports whether two templates are the same but for how they are written.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := template.Importing([]byte(a), []byte("{}"), nil)
	other, failed := template.Importing([]byte(b), []byte("{}"), nil)
	if err != nil || failed != nil {
		return a == b
	}
	flat := strings.NewReplacer("\"", "", "'", "")
	return flat.Replace(string(one)) == flat.Replace(string(other))
}

// Only texts count that can be part of the value of an output.
func TestPlain(t *testing.T) {
	const begins = "# ü\nDescription: ü\nResources:\n  A: { Type: 'AWS::SNS::Topic' }\n  B: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: ü } }\nOutputs:\n  Other: { Value: ü }\n  O: { Value: "
	for value, want := range map[string]bool{
		"!Ref A": true, "!Ref B": false, `!Sub "${A.Arn}?"`: true, `!Sub "${A.Arn}?ü"`: false, "!Join ['', [!Ref A, !GetAtt B.Arn]]": false, "plain?": true, `"\u00dc"`: false,
	} {
		for mappings, plain := range map[string]bool{"": want, "Mappings: { M: { a: { b: ü } } }\n": false, "Mappings: { M: { a: { b: c } } }\n": want} {
			text := begins + value + " }\n" + mappings
			parsed, err := template.Parse("t.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			ascii := func(string) bool { return false }
			if parsed.Plain([]byte(text), "Made", ascii) {
				t.Error("nothing is known of an output that a macro makes")
			}
			if got := parsed.Plain([]byte(text), "O", ascii); got != plain {
				t.Errorf("%s, %s: %t", value, mappings, got)
			}
		}
	}
}

// A parameter counts that the output refers to, or a resource that it refers to, also through another one. So does what is
// read from elsewhere. What only decides a condition does not.
func TestPlainUses(t *testing.T) {
	const text = `
Parameters: { Text: { Type: String }, Plain: { Type: String }, Stage: { Type: String } }
Conditions: { Big: !Equals [!Ref Text, a] }
Resources:
  Direct: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Ref Text } }
  Through: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Sub "${Direct.TopicName}" } }
  Other: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Ref Plain } }
  Chosen: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !If [Big, a, b] } }
  Imports: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !ImportValue x } }
  Reads: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: '{{resolve:ssm:x}}' } }
Outputs:
  Text: { Value: !Ref Text }
  Plain: { Value: !Sub '${Plain}?' }
  Direct: { Value: !Ref Direct }
  Through: { Value: !GetAtt Through.TopicName }
  Other: { Value: !Ref Other }
  Chosen: { Value: !Ref Chosen }
  Imports: { Value: !Ref Imports }
  Reads: { Value: !Ref Reads }
`
	parsed, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]bool{
		"Text": false, "Plain": true, "Direct": false, "Through": false, "Other": true, "Chosen": true,
		"Imports": false, "Reads": false,
	} {
		beyond := func(parameter string) bool { return parameter == "Text" }
		if got := parsed.Plain([]byte(text), output, beyond); got != want {
			t.Errorf("%s: %t", output, got)
		}
	}
}
