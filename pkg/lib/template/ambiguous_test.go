package template_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A condition is not known to be false if CloudFormation may read a value in another way: YAML 1.1 or 1.2, a dynamic
// reference, no value. Else a resource that CloudFormation creates would be hidden from policies.
func TestConditionsOfAmbiguousValuesAreNotKnown(t *testing.T) {
	for condition, known := range map[string]bool{
		`!Equals [yes, "true"]`: false, `!Equals [On, "true"]`: false, `!Equals [n, "false"]`: false, `{"Fn::Equals": [y, "true"]}`: false,
		`!Equals [010, "8"]`: false, `!Equals [0x10, "16"]`: false, `!Equals [1.0, "1"]`: false, `!Equals [+1, "1"]`: false, `!Equals [1_000, "1000"]`: false,
		`!Equals [1e3, "1000"]`: false, `!Equals [1:30, "90"]`: false, `!Equals [2001-01-01, "2001-01-01T00:00:00Z"]`: false, `!Equals [.inf, "x"]`: false,
		`!Equals [!Select [0, [yes]], "true"]`: false, `!Equals [!Join ["", [yes, ""]], "true"]`: false, `!Equals [!FindInMap [M, a, b], "true"]`: false,
		`!Equals [!Sub ["${A}", {A: yes}], "true"]`: false, `!Not [!Equals [yes, yes]]`: false, `!And [!Equals [yes, "true"], !Equals [a, a]]`: false,
		`!Equals [!Ref D, "true"]`: false, `!Equals [!Ref "AWS::NoValue", ""]`: false, `!Equals ["{{resolve:ssm:/x:1}}", "y"]`: false,
		`!Equals [!Join ["", ["{{resolve:ssm:", "/x:1}}"]], "y"]`: false, `!Equals [[!Sub "{{resolve:ssm:/x}}"], [y]]`: false,

		`!Equals ["yes", "true"]`: true, `!Equals ['010', "8"]`: true, `!Equals [true, "false"]`: true, `!Equals [10, "11"]`: true, `!Equals [5.7, "5.8"]`: true,
		`!Equals [prod, "test"]`: true, `!Equals [!Ref Y, "yes"]`: true, `!Equals [!Ref D, "x"]`: false, `!And [!Equals [yes, "true"], !Equals [a, b]]`: true,
	} {
		body := fmt.Sprintf("Parameters:\n  Y: {Type: String, Default: no-}\n  D: {Type: String, Default: yes}\nMappings: {M: {a: {b: yes}}}\nConditions: {C: %s}\nResources: {Evil: {Type: 'AWS::SNS::Topic', Condition: C}}\n", condition)
		p, err := template.Parse("t", []byte(body))
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		e := p.In(template.Scope{Parameters: p.Defaults()})
		if value, is := e.Condition("C"); is != known || value || len(e.Resources()) == 1 == known {
			t.Errorf("%s: known %v, value %v, %d resources", condition, is, value, len(e.Resources()))
		}
	}
	p, err := template.Parse("t", []byte("Parameters: {D: {Type: String, Default: yes}}\nConditions: {C: !Equals [!Ref D, x]}\nResources: {A: {Type: 'AWS::SNS::Topic', Condition: C}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, known := p.In(template.Scope{Parameters: map[string]string{"D": "no"}}).Condition("C"); !known {
		t.Error("a value that the project gives is text, and known")
	}
}
