package cloudformation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// vault holds a secret of two versions, a plain parameter and a secure string.
func vault(password *string) cloudformation.Options {
	return cloudformation.Options{ResolveDynamic: func(ref template.Dynamic) (string, bool) {
		switch {
		case ref.Service == template.Secrets && ref.Name == "prod/db" && ref.Version == "":
			return fmt.Sprintf(`{"password": %q, "port": 5432}`, *password), true
		case ref.Service == template.SSM && ref.Name == "/prod/name" && ref.Version == "2":
			return "a-name", true
		case ref.Service == template.SSMSecure && ref.Name == "/prod/key":
			return *password, true
		}
		return "", false
	}}
}

const dynamicDB = `
Parameters:
  Password: {Type: String, NoEcho: true}
  Name: {Type: String, Default: ''}
Conditions: {Given: !Not [!Equals [!Ref Password, '']]}
Resources:
  DB:
    Type: AWS::RDS::DBInstance
    Properties: {MasterUserPassword: !Ref Password, Tags: [{Key: url, Value: !Sub 'db:${Password}'}]}
  Other:
    Type: AWS::SSM::Parameter
    Metadata: {Comment: !Ref Name}
    Properties: {Type: String, Value: !Ref Name}
Outputs:
  Parameter: {Condition: Given, Value: !Ref Password}
  Seen: {Value: !GetAtt DB.MasterUserPassword}
  Name: {Value: !GetAtt Other.Value}
`

// A reference in a parameter is resolved in the properties of resources, and stays as
// it is written everywhere else.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
func TestDynamicReferences(t *testing.T) {
	const secret = "{{resolve:secretsmanager:prod/db:SecretString:password}}"
	password := "one"
	scenarioIn(t, "", vault(&password), func(w *account) {
		w.up("db", dynamicDB, createWith("Password", secret, "Name", "{{resolve:ssm:/prod/name:2}}"))
		for key, want := range map[string]string{"Parameter": secret, "Seen": "one", "Name": "a-name"} {
			if got := w.output("db", key); got != want {
				t.Errorf("output %s is %s, want %s", key, got, want)
			}
		}
		if got := aws.ToString(w.stack("db").Parameters[0].ParameterValue); got != "****" {
			t.Errorf("the password is shown as %s", got)
		}
		for _, e := range w.stackEvents("db") {
			if all := aws.ToString(e.ResourceProperties); strings.Contains(all, `"one"`) || strings.Contains(all, `:one`) {
				t.Errorf("event %s %s contains the password: %s", *e.LogicalResourceId, e.ResourceStatus, all)
			}
		}
		// A new value is not seen before the resource changes, or its reference.
		// https://repost.aws/knowledge-center/cloudformation-stack-update-secrets
		password = "two"
		_, err := w.tryUpdate("db", dynamicDB, updateWith("Password", secret, "Name", "{{resolve:ssm:/prod/name:2}}"))
		w.refused(err, "ValidationError", "No updates are to be performed.")
		w.update("db", dynamicDB, updateWith("Password", secret, "Name", "plain"))
		w.wait("db", types.StackStatusUpdateComplete)
		if got := w.output("db", "Seen"); got != "one" {
			t.Errorf("another resource changes, and the password is %s", got)
		}
		w.update("db", dynamicDB, updateWith("Password", "x"+secret, "Name", "plain"))
		w.wait("db", types.StackStatusUpdateComplete)
		if got := w.output("db", "Seen"); got != "xtwo" {
			t.Errorf("the reference changes, and the password is %s", got)
		}
	})
}

func TestDynamicReferencesToNothing(t *testing.T) {
	password := "one"
	scenarioIn(t, "", vault(&password), func(w *account) {
		for value, message := range map[string]string{
			"{{resolve:ssm:/prod/other:1}}":       "Parameters: [ssm:/prod/other:1] cannot be found.",
			"{{resolve:ssm-secure:/prod/none}}":   "Parameters: [ssm-secure:/prod/none] cannot be found.",
			"{{resolve:ssm:/prod/name}}":          "Incorrect format is used in the following SSM reference: [{{resolve:ssm:/prod/name}}]",
			"a{{resolve:ssm-secure:/prod/key:1}}": "SSM Secure reference is not supported in: [AWS::RDS::DBInstance/Properties/Tags/Value]",
		} {
			_, err := w.tryCreate("db", dynamicDB, createWith("Password", value))
			w.refused(err, "ValidationError", message)
		}
		for value, why := range map[string]string{
			"{{resolve:secretsmanager:prod/none}}":                  "Secrets Manager can't find the specified secret.",
			"{{resolve:secretsmanager:prod/db:SecretString:users}}": "Could not find a value associated with JSONKey in SecretString",
		} {
			name := "db" + fmt.Sprint(len(value))
			w.create(name, dynamicDB, createWith("Password", value))
			w.wait(name, types.StackStatusRollbackComplete)
			if history := w.history(name); !strings.Contains(history, why) {
				t.Errorf("%s: the history is\n%s", value, history)
			}
		}
	})
}

// A reference may name a resource of another stack. A custom resource gets references
// unresolved.
func TestDynamicReferencesToWhatStacksMake(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("secrets", `
Resources:
  Generated:
    Type: AWS::SecretsManager::Secret
    Properties: {Name: made, GenerateSecretString: {SecretStringTemplate: '{"user": "app"}', GenerateStringKey: password}}
  Written: {Type: AWS::SecretsManager::Secret, Properties: {SecretString: text}}
  Parameter: {Type: AWS::SSM::Parameter, Properties: {Name: /made, Type: String, Value: v}}
Outputs:
  Arn: {Value: !Ref Written}
`)
		w.up("users", `
Parameters: {Arn: {Type: String}}
Resources:
  T:
    Type: Org::A::B
    Properties:
      User: '{{resolve:secretsmanager:made:SecretString:user}}'
      Password: '{{resolve:secretsmanager:made:SecretString:password}}'
      Written: !Sub '{{resolve:secretsmanager:${Arn}}}'
      Plain: 'x{{resolve:ssm:/made}}y'
  C: {Type: 'Custom::Thing', Properties: {ServiceToken: a, Password: '{{resolve:secretsmanager:none}}'}}
Outputs:
  All: {Value: !Join [' ', [!GetAtt T.User, !GetAtt T.Written, !GetAtt T.Plain, !GetAtt C.Password]]}
  Password: {Value: !GetAtt T.Password}
`, createWith("Arn", w.output("secrets", "Arn")))
		if got, want := w.output("users", "All"), "app text xvy {{resolve:secretsmanager:none}}"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := w.output("users", "Password"); len(got) != 32 {
			t.Errorf("the password is %s", got)
		}
	})
}
