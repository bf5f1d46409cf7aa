package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	pages "github.com/stackwright/stackwright/pkg/entry/page"
)

// Where the installation is that the template is read as.
const (
	account = "000000000000"
	region  = "us-east-1"
)

// A blueprint is a synthesized template with its assets, from which the test reads what
// to run.
type blueprint struct {
	*testing.T
	template
	folder string // of cdk.out
}

// readBlueprint reads a template that was written to a folder.
func readBlueprint(t *testing.T, folder string) blueprint {
	t.Helper()
	b := blueprint{T: t, folder: filepath.Join(folder, "cdk.out")}
	b.decode("Stackwright.template.json", &b.template)
	return b
}

// decode reads a file of JSON.
func (b blueprint) decode(name string, into any) {
	b.Helper()
	body, err := os.ReadFile(filepath.Join(b.folder, name))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// naming is by which property a resource of a type is given its name.
var naming = map[string]string{
	"AWS::ApiGatewayV2::Api": "Name", "AWS::DynamoDB::Table": "TableName", "AWS::Events::Rule": "Name", "AWS::Lambda::Function": "FunctionName",
	"AWS::S3::Bucket": "BucketName", "AWS::SQS::Queue": "QueueName", "AWS::Scheduler::ScheduleGroup": "Name", "AWS::StepFunctions::StateMachine": "StateMachineName",
}

// arns are those of the resources of a type, with the name left out.
var arns = map[string]string{
	"AWS::Lambda::Function": "lambda:" + region + ":" + account + ":function:", "AWS::SQS::Queue": "sqs:" + region + ":" + account + ":",
	"AWS::StepFunctions::StateMachine": "states:" + region + ":" + account + ":stateMachine:", "AWS::Events::Rule": "events:" + region + ":" + account + ":rule/",
}

// name is what a resource is called in AWS: as it says, or as CloudFormation
// would make up.
func (b blueprint) name(logical string) string {
	if name := b.says(logical, naming[b.Resources[logical].Type]); name != "" {
		return name
	}
	return "stackwright-" + strings.ToLower(logical)
}

// says is a property of a resource, with all its functions carried out. Whatever
// the emulators need their values; any other property makes the test fail.
func (b blueprint) says(logical, path string) string {
	return os.Expand(b.at(logical, path), func(word string) string {
		switch word {
		case "AWS::Partition":
			return "aws"
		case "AWS::Region":
			return region
		case "AWS::AccountId":
			return account
		case "AWS::URLSuffix":
			return "amazonaws.com"
		}
		of, attribute, _ := strings.Cut(word, ".")
		kind := b.Resources[of].Type
		_, named := naming[kind]
		switch arn, has := arns[kind]; {
		case has && attribute == "Arn", kind == "AWS::StepFunctions::StateMachine" && attribute == "":
			return "arn:aws:" + arn + b.name(of)
		case named && attribute == "":
			return b.name(of)
		}
		b.Fatalf("%s: %s: the test has no value for ${%s} of %q: add it", logical, path, word, kind)
		return ""
	})
}

// only is the one resource of a type.
func (b blueprint) only(kind string) string {
	b.Helper()
	all := b.of(kind)
	if len(all) != 1 {
		b.Fatalf("%d resources are %s: %v", len(all), kind, all)
	}
	return all[0]
}

// bucket is the bucket's name. An upload starts a run only if the bucket has versions and
// sends events to EventBridge.
func (b blueprint) bucket() string {
	logical := b.only("AWS::S3::Bucket")
	if b.says(logical, "VersioningConfiguration.Status") != "Enabled" || b.says(logical, "NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled") != "true" {
		b.Fatal("the bucket has no versioning, or sends no events to EventBridge")
	}
	return b.name(logical)
}

// definition is that of the state machine, as CloudFormation fills it in.
func (b blueprint) definition() []byte {
	b.Helper()
	logical := b.only("AWS::StepFunctions::StateMachine")
	functions := make(map[string]string)
	for word := range b.Resources[logical].Properties["DefinitionSubstitutions"].(map[string]any) {
		functions[word] = b.says(logical, "DefinitionSubstitutions."+word)
	}
	text, ok := b.Resources[logical].Properties["DefinitionString"].(string)
	if !ok {
		b.Fatal("the state machine's definition is no text")
	}
	out, err := asl.Substitute([]byte(text), functions)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// functions makes the functions of the very bootstraps that the template would
// have uploaded, each with its own environment and timeout.
func (b blueprint) functions(url string) func(*cloud.Cloud) (cloud.Invoker, error) {
	var assets struct {
		Files map[string]struct{ Source struct{ Path string } }
	}
	b.decode("Stackwright.assets.json", &assets)
	dir, by := b.TempDir(), make(map[string]string)
	for _, logical := range b.of("AWS::Lambda::Function") {
		hash := strings.TrimSuffix(b.at(logical, "Code.S3Key"), ".zip")
		if err := os.Symlink(filepath.Join(b.folder, assets.Files[hash].Source.Path), filepath.Join(dir, b.name(logical))); err != nil {
			b.Fatal(err)
		}
		by[b.name(logical)] = logical
	}
	return func(c *cloud.Cloud) (cloud.Invoker, error) {
		host := c.Host()
		host.Environ = func(function string) (env []string) {
			for name := range b.Resources[by[function]].Properties["Environment"].(map[string]any)["Variables"].(map[string]any) {
				env = append(env, name+"="+b.says(by[function], "Environment.Variables."+name))
			}
			return append(env, "AWS_ACCESS_KEY_ID="+by[function]) // to know what it asks for
		}
		host.Timeout = func(function string) time.Duration {
			seconds, err := time.ParseDuration(b.says(by[function], "Timeout") + "s")
			if err != nil {
				b.Error(err)
			}
			return seconds
		}
		return lambda.NewBinaries(dir, c.Environ(url), host)
	}
}

// rules are those that send to functions, and that the functions let call them.
func (b blueprint) rules() []cloud.Rule {
	var rules []cloud.Rule
	for _, logical := range b.of("AWS::Events::Rule") {
		pattern := ""
		if b.Resources[logical].Properties["EventPattern"] != nil {
			pattern = b.says(logical, "EventPattern")
		}
		for n := range b.Resources[logical].Properties["Targets"].([]any) {
			path := fmt.Sprintf("Targets.%d.Arn", n)
			of, _, _ := strings.Cut(strings.TrimPrefix(b.at(logical, path), "${"), ".")
			if b.Resources[of].Type != "AWS::Lambda::Function" {
				continue // it notifies people, and no run needs it
			}
			target := b.says(logical, path)
			if !b.lets("events.amazonaws.com", target, "arn:aws:events:"+region+":"+account+":rule/"+b.name(logical)) {
				b.Errorf("%s may not call %s", logical, target)
				continue
			}
			rules = append(rules, cloud.Rule{
				Name: b.name(logical), Pattern: pattern, Schedule: b.says(logical, "ScheduleExpression"), Function: target,
				Disabled: b.says(logical, "State") != "ENABLED",
			})
		}
	}
	return rules
}

// lets reports whether a function lets a service call it for what an ARN names.
func (b blueprint) lets(service, function, source string) bool {
	return slices.ContainsFunc(b.of("AWS::Lambda::Permission"), func(p string) bool {
		return b.says(p, "Principal") == service && b.says(p, "FunctionName") == function &&
			b.at(p, "Action") == "lambda:InvokeFunction" && b.says(p, "SourceArn") == source
	})
}

// routes are those of the API that are let in by IAM, and those of the page, which are open to all.
func (b blueprint) routes() []api.Route {
	var routes []api.Route
	for _, logical := range b.of("AWS::ApiGatewayV2::Route") {
		integration := strings.TrimSuffix(strings.TrimPrefix(b.at(logical, "Target"), "integrations/${"), "}")
		open := b.says(logical, "AuthorizationType") == "NONE" && slices.Contains(pages.Routes(), b.at(logical, "RouteKey"))
		if b.says(logical, "AuthorizationType") != "AWS_IAM" && !open || b.says(integration, "PayloadFormatVersion") != "2.0" {
			b.Errorf("%s is open to all, or asks in words that the function does not know", logical)
			continue
		}
		routes = append(routes, api.Route{Key: b.at(logical, "RouteKey"), Function: b.says(integration, "IntegrationUri"), Open: open})
	}
	return routes
}
