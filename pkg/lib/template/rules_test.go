package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Rules are decided by parameters that are known; what reads an account is not known, and refuses nothing.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
func TestRules(t *testing.T) {
	const text = "Parameters:\n  Env: {Type: String}\n  Zones: {Type: CommaDelimitedList, Default: 'a,b'}\n  Unknown: {Type: String}\n" +
		"  Vpc: {Type: AWS::EC2::VPC::Id, Default: vpc-1}\n" +
		"Rules:\n  R:\n%s    Assertions: [{Assert: %s, AssertDescription: wrong}]\nResources: {T: {Type: AWS::SNS::Topic}}\n"
	for assert, fails := range map[string]bool{
		"!Contains [[dev, test], !Ref Env]":                                      true,
		"!Contains [[dev, prod], !Ref Env]":                                      false,
		"!Contains [!Ref Zones, c]":                                              true,
		"!Contains [[dev, !Ref Unknown], !Ref Env]":                              false,
		"!EachMemberIn [!Ref Zones, [a, b, c]]":                                  false,
		"!EachMemberIn [!Ref Zones, [a, c]]":                                     true,
		"!EachMemberEquals [!Ref Zones, a]":                                      true,
		"!EachMemberEquals [[a, a], a]":                                          false,
		"!And [!Equals [!Ref Env, prod], !Not [!Equals [!Ref Env, prod]]]":       true,
		"!Or [!Equals [!Ref Env, dev], !Equals [!Ref 'AWS::Region', eu-west-1]]": false,
		"!Equals [!ValueOf [Vpc, Tags.Env], x]":                                  false,
		"!EachMemberIn [!ValueOfAll ['AWS::EC2::VPC::Id', X], [a]]":              false,
		"!Contains [!RefAll 'AWS::EC2::VPC::Id', !Ref Vpc]":                      false,
		"{'Fn::Equals': [!Ref Unknown, x]}":                                      false,
		"{'Fn::Not': [{'Fn::Contains': [['1', '2'], {Ref: Env}]}]}":              false,
		"!Not [!EachMemberIn [[!Ref Env], !Ref Zones]]":                          false,
		"!And [!Equals [!Ref Unknown, x], !Contains [[dev], !Ref Env]]":          true,
		"!EachMemberIn [[!Ref Env, !Ref Unknown], [dev, test]]":                  true,
		"!EachMemberIn [[!Ref Unknown], [dev, test]]":                            false,
	} {
		for condition, counts := range map[string]bool{
			"": true, "    RuleCondition: !Equals [!Ref Env, prod]\n": true,
			"    RuleCondition: !Equals [!Ref Env, dev]\n":     false,
			"    RuleCondition: !Equals [!Ref Unknown, dev]\n": false,
		} {
			parsed, err := template.Parse("t", []byte(fmt.Sprintf(text, condition, assert)))
			if err != nil {
				t.Errorf("%s: %v", assert, err)
				continue
			}
			scope := template.Scope{Region: "eu-west-1", Parameters: map[string]string{"Env": "prod", "Zones": "a,b",
				"Vpc": "vpc-1"}}
			err = parsed.In(scope).RulesErr()
			if (err != nil) != (fails && counts) || err != nil && !strings.Contains(err.Error(),
				"Template constraint error: Rule R failed: wrong") {
				t.Errorf("%s%s: %v", condition, assert, err)
			}
		}
	}
}

func TestMalformedRules(t *testing.T) {
	for _, rules := range []string{
		"{R: {}}", "{R: {Assertions: x}}", "{R: {Assertions: [{}]}}", "{R: {Assertions: [{Assert: !Contains [a]}]}}",
		"{R: [a]}",
		"{R: {Assertions: [{Assert: !Equals [!Ref T, a]}]}}", "{R: {Assertions: [{Assert: !Condition C}]}}",
		"{R: {Assertion: []}}",
	} {
		text := "Conditions: {C: !Equals [a, b]}\nRules: " + rules + "\nResources: {T: {Type: AWS::SNS::Topic}}\n"
		if _, err := template.Parse("t", []byte(text)); err == nil {
			t.Errorf("accepted: %s", rules)
		}
	}
	if _, err := template.Parse("t",
		[]byte("Resources: {T: {Type: AWS::SNS::Topic, Properties: {X: !Contains [[a], a]}}}")); err == nil {
		t.Error("a function of rules is accepted elsewhere")
	}
}
