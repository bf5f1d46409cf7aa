package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// A template is a template that CDK wrote.
type template struct {
	Resources map[string]resource
	Outputs   map[string]struct{ Value any }

	body []byte // as it was written
}

type resource struct {
	Type       string
	Properties map[string]any

	DeletionPolicy string
	DependsOn      any

	inside []any // of a role: the policies in it, without the managed ones
}

// UnmarshalJSON reads a template. A role has the managed policies of the template that it names beside the policies in it, because it may do
// what either says.
func (t *template) UnmarshalJSON(body []byte) error {
	type plain template
	if err := json.Unmarshal(body, (*plain)(t)); err != nil {
		return err
	}
	for name, r := range t.Resources {
		if r.Type != "AWS::IAM::Role" {
			continue
		}
		r.inside, _ = r.Properties["Policies"].([]any)
		all := slices.Clone(r.inside)
		named, _ := r.Properties["ManagedPolicyArns"].([]any)
		for _, arn := range named {
			reference, _ := arn.(map[string]any)
			of, _ := reference["Ref"].(string)
			if policy, ours := t.Resources[of]; ours {
				all = append(all, map[string]any{"PolicyName": of, "PolicyDocument": policy.Properties["PolicyDocument"]})
			}
		}
		r.Properties["Policies"] = all
		t.Resources[name] = r
	}
	return nil
}

// everything has every setting.
var everything = map[string]any{
	"stack": "stackwright-test", "targetAccounts": []any{"111111111111", "222222222222"}, "customerKey": true, "monitoring": "full",
	"executionPolicies": "PowerUserAccess,arn:aws:iam::000000000000:policy/ours", "driftPolicies": "service-role/AWS_ConfigRole", "logDays": 7, "projects": "*@*", "adoptable": "legacy-*", "external": "shop@*=legacy-*,shop@*=ssm:/shop/*,*@*=ssm:region",
	"suspend": "*@dev", "backups": "*@prod", "cdkAssets": "shop@*", "backupVault": "ours,service-role/AWSBackupDefaultServiceRole", "organization": "o-a1b2c3d4e5",
	"hooks":     "arn:aws:lambda:*:000000000000:function:hook-*,arn:aws:states:*:000000000000:stateMachine:hook-*,arn:aws:events:*:000000000000:event-bus/default,shop@*=arn:aws:s3:::hook-*,arn:aws:autoscaling:*:000000000000:autoScalingGroup:*:autoScalingGroupName/hook-*,arn:aws:sns:*:000000000000:hook-*,arn:aws:cloudwatch:*:000000000000:alarm:hook-*,shop@*=arn:aws:ssm:*:000000000000:parameter/hook/*,shop@*=https://hooks.example.com/*,arn:aws:secretsmanager:*:000000000000:secret:hook/*",
	"owner":     []any{"arn:aws:iam::000000000000:role/boss", "arn:aws:iam::000000000000:user/people/ann"},
	"notify":    "reports;report=html,ops;webhook=https://ops.example.com/stackwright;secret=arn:aws:secretsmanager:us-east-1:000000000000:secret:ops-AbCdEf;projects=*@prod;states=failed+waiting",
	"jwtIssuer": "https://issuer.example", "jwtAudience": "people,page", "pageClient": "page",
	"remoteFiles": "https://templates.example.com/,shop@*=s3://shop-templates/base/,other@*=s3://shop-templates/base/",
}

// plain is the template of an installation with the one setting that has no default, and
// full is one with all of them. Each is written once for all tests.
var (
	plain = sync.OnceValues(func() (template, error) { return written(map[string]any{"executionPolicies": "AdministratorAccess"}) })
	full  = sync.OnceValues(func() (template, error) { return written(everything) })
)

// the returns a template that is there.
func the(t *testing.T, made func() (template, error)) template {
	t.Helper()
	out, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// written is the template that CDK writes by some settings.
func written(context map[string]any) (template, error) {
	var t template
	folder, err := synthesized(context)
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(folder)
	body, err := os.ReadFile(filepath.Join(folder, "cdk.out", "Stackwright.template.json"))
	if err != nil {
		return t, err
	}
	t.body = body
	return t, json.Unmarshal(body, &t)
}

// synthesized is a folder of which CDK has written cdk.out by some settings. What the functions
// hold does not matter here, so that they need not be built.
func synthesized(context map[string]any) (string, error) {
	out, err := os.MkdirTemp("", "stackwright-synth-")
	if err != nil {
		return "", err
	}
	code := filepath.Join(out, "code")
	for name := range sizes {
		if err := os.MkdirAll(filepath.Join(code, name), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(code, name, "bootstrap"), []byte(name), 0o755); err != nil {
			return "", err
		}
	}
	context = maps.Clone(context)
	context["code"] = code
	return out, synthesize(filepath.Join(out, "cdk.out"), context)
}

// synthesize has CDK write to a folder by some settings.
func synthesize(folder string, context map[string]any) error {
	s, err := read(context)
	if err != nil {
		return err
	}
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(folder), AnalyticsReporting: jsii.Bool(false)})
	if err := install(app, s); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}

func TestMain(m *testing.M) {
	defer jsii.Close()
	m.Run()
}

// of lists the resources of a type, sorted by name.
func (t template) of(kind string) []string {
	var names []string
	for name, r := range t.Resources {
		if r.Type == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// at returns the value at a path of the properties of a resource, as text.
func (t template) at(name, path string) string {
	var value any = t.Resources[name].Properties
	for word := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[word]
		case []any:
			n := 0
			if _, err := fmt.Sscan(word, &n); err != nil || n >= len(v) {
				return ""
			}
			value = v[n]
		default:
			return ""
		}
	}
	return text(value)
}

// text writes a value with ${…} for what CloudFormation fills in; of whatever is
// no text it is the JSON.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any, float64, bool:
		body, err := json.Marshal(filled(v))
		if err != nil {
			return err.Error()
		}
		return string(body)
	case map[string]any:
		if done, ok := filled(v).(string); ok {
			return done
		}
		body, err := json.Marshal(filled(v))
		if err != nil {
			return err.Error()
		}
		return string(body)
	}
	return fmt.Sprint(value)
}

// filled writes the functions of a value as texts.
func filled(value any) any {
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for n, one := range v {
			all[n] = filled(one)
		}
		return all
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			return "${" + name + "}"
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("${%s.%s}", get...)
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var words []string
			for _, w := range join[1].([]any) {
				words = append(words, text(w))
			}
			return strings.Join(words, join[0].(string))
		}
		all := make(map[string]any)
		for k, one := range v {
			all[k] = filled(one)
		}
		return all
	}
	return value
}

// says fails unless properties of a resource are as wanted.
func (t template) says(test *testing.T, name string, want map[string]string) {
	test.Helper()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got := t.at(name, path); got != want[path] {
			test.Errorf("%s: %s is\n%s, want\n%s", name, path, got, want[path])
		}
	}
}
