package cloudformation_test

import "testing"

// "If a parameter value isn't valid, CloudFormation doesn't create or update the stack."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
func TestRules(t *testing.T) {
	const ruled = `
Parameters: {Env: {Type: String}}
Rules: {R: {Assertions: [{Assert: !Contains [[dev, test], !Ref Env], AssertDescription: not for production}]}}
Resources: {Topic: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref Env}}}
`
	scenario(t, func(w *account) {
		_, err := w.tryCreate("app", ruled, createWith("Env", "prod"))
		w.refused(err, "ValidationError", "Template constraint error: Rule R failed: not for production")
		w.up("app", ruled, createWith("Env", "dev"))
		_, err = w.tryUpdate("app", ruled, updateWith("Env", "prod"))
		w.refused(err, "ValidationError", "not for production")
	})
}
