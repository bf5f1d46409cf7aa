package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// within returns a template with one resource that has the value.
func within(value string) string {
	return "Parameters:\n  P: {Type: String, Default: shop-base}\nConditions:\n  Live: !Equals [!Ref P, shop-base]\n" +
		"Resources:\n  Entry:\n    Type: AWS::SSM::Parameter\n    Properties: {Type: String, Value: " + value + "}\n"
}

// Fn::GetStackOutput names an output of a stack, in the account of its role and in its region.
func TestReads(t *testing.T) {
	for name, c := range map[string]struct{ value, known, hidden string }{
		"short form": {"!GetStackOutput {StackName: shop-base, OutputName: Arn}",
			"shop-base.Arn 111111111111 eu-west-1", ""},
		"long form, JSON": {`{"Fn::GetStackOutput": {"StackName": "shop-base", "OutputName": "Arn"}}`,
			"shop-base.Arn 111111111111 eu-west-1", ""},
		"region": {"{'Fn::GetStackOutput': {StackName: a, OutputName: B, Region: !Ref 'AWS::Region'}}",
			"a.B 111111111111 eu-west-1", ""},
		"another region": {"{'Fn::GetStackOutput': {StackName: a, OutputName: B, Region: us-east-1}}",
			"a.B 111111111111 us-east-1", ""},
		"another account": {"{'Fn::GetStackOutput': {StackName: a, OutputName: B, RoleArn: 'arn:aws:iam::222222222222:role/x/y'}}", "a.B 222222222222 eu-west-1", ""},
		"by ID":           {"{'Fn::GetStackOutput': {StackName: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/a/1-2', OutputName: B}}", "a.B 111111111111 eu-west-1", ""},
		"parameter": {"{'Fn::GetStackOutput': {StackName: !Ref P, OutputName: B}}",
			"shop-base.B 111111111111 eu-west-1", ""},
		"text": {"{'Fn::GetStackOutput': {StackName: !Sub '${AWS::StackName}-base', OutputName: !Join ['', [A, b]]}}", "shop-base.Ab 111111111111 eu-west-1", ""},
		"without a region": {"{'Fn::GetStackOutput': {StackName: a, OutputName: B, Region: !Ref AWS::NoValue}}",
			"a.B 111111111111 eu-west-1", ""},
		"not known": {"{'Fn::GetStackOutput': {StackName: !ImportValue x, OutputName: B}}", "", "8"},
		"not taken": {"!If [Live, a, {'Fn::GetStackOutput': {StackName: a, OutputName: B}}]", "", ""},
		"in a text": {"!Sub ['${x}', {x: !GetStackOutput {StackName: a, OutputName: B}}]",
			"a.B 111111111111 eu-west-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := template.Parse("t.yaml", []byte(within(c.value)))
			if err != nil {
				t.Fatal(err)
			}
			e := parsed.In(template.Scope{Parameters: parsed.Defaults(), StackName: "shop", AccountID: "111111111111",
				Region: "eu-west-1"})
			var known, hidden []string
			for _, r := range e.Reads() {
				known = append(known, fmt.Sprintf("%s.%s %s %s", r.Stack, r.Output, r.Account, r.Region))
			}
			for _, r := range e.HiddenReads() {
				hidden = append(hidden, fmt.Sprint(r.Line))
			}
			if got := strings.Join(known, ", "); got != c.known || strings.Join(hidden, ", ") != c.hidden {
				t.Errorf("reads %q and hidden %q, want %q and %q", got, hidden, c.known, c.hidden)
			}
			if parsed.Pinned() {
				t.Error("pinned, although what another stack has is not in the template")
			}
		})
	}
}

func TestReadsAreRefused(t *testing.T) {
	for name, value := range map[string]string{
		"a list":           "{'Fn::GetStackOutput': [a, B]}",
		"without output":   "{'Fn::GetStackOutput': {StackName: a}}",
		"without stack":    "{'Fn::GetStackOutput': {OutputName: a}}",
		"unknown key":      "{'Fn::GetStackOutput': {StackName: a, OutputName: B, Account: 1}}",
		"a list as region": "!GetStackOutput {StackName: a, OutputName: B, Region: [x]}",
		"text":             "!GetStackOutput a.B",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := template.Parse("t.yaml", []byte(within(value))); err == nil || !strings.Contains(err.Error(),
				"Fn::GetStackOutput") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a stack has to say about another one is not part of a condition or of the name of an export.
func TestReadsWhereNothingIsRead(t *testing.T) {
	read := "!GetStackOutput {StackName: a, OutputName: B}"
	for _, text := range []string{
		strings.Replace(within("x"), "shop-base]", read+"]", 1),
		within("x") + "Outputs:\n  O: {Value: x, Export: {Name: " + read + "}}\n",
	} {
		if _, err := template.Parse("t.yaml", []byte(text)); err == nil {
			t.Errorf("accepted:\n%s", text)
		}
	}
}

func TestReadIsEvaluated(t *testing.T) {
	parsed, err := template.Parse("t.yaml", []byte(within("!GetStackOutput {StackName: a, OutputName: B}")))
	if err != nil {
		t.Fatal(err)
	}
	e := parsed.In(template.Scope{Region: "eu-west-1", StackOutput: func(of template.StackOutput) (any,
		bool) {
		return of.Stack + of.Output, true
	}})
	if got, err := e.Value(parsed.Resources["Entry"].Property("Value")); got != "aB" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	reduced := parsed.In(template.Scope{}).Reduce(parsed.Resources["Entry"].Property("Value"))
	want := template.Reference{Read: template.StackOutput{Stack: "a", Output: "B"}}
	if all := template.References(reduced); len(all) != 1 || all[0] != want {
		t.Errorf("references %v", all)
	}
	if got := template.Compact(reduced); got != "!GetStackOutput {OutputName: B, StackName: a}" {
		t.Error(got)
	}
}
