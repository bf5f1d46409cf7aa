package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/wire"
)

// The template has one function for each folder in functions/, without those that no setting needs, and no other.
func TestFunctions(t *testing.T) {
	folders, err := os.ReadDir("../../functions")
	if err != nil {
		t.Fatal(err)
	}
	all := the(t, full)
	var want, few []string
	for _, f := range folders {
		want = append(want, title(f.Name()))
		if len((settings{}).installed([]string{f.Name()})) > 0 {
			few = append(few, title(f.Name()))
		}
		all.says(t, title(f.Name()), map[string]string{
			"FunctionName": "stackwright-test-" + f.Name(), "Runtime": "provided.al2023", "Architectures": `["arm64"]`,
			"TracingConfig": `{"Mode":"Active"}`, "Role": "${" + title(f.Name()) + "Role.Arn}",
			"LoggingConfig.LogFormat": "JSON", "LoggingConfig.LogGroup": "${" + title(f.Name()) + "Logs}",
		})
	}
	if got := all.of("AWS::Lambda::Function"); !slices.Equal(got, want) {
		t.Errorf("functions %v, want %v", got, want)
	}
	if got := the(t, plain).of("AWS::Lambda::Function"); !slices.Equal(got, few) || len(few) != len(want)-1 {
		t.Errorf("without settings, the functions are %v, want %v", got, few)
	}
}

// A function that claims a step times out before its claim expires. A wait ends before
// the function that waits times out.
func TestTimeouts(t *testing.T) {
	for _, f := range []string{"execute-step", "wait-status"} {
		if got := time.Duration(sizes[f].seconds) * time.Second; got > action.MaxStartTime {
			t.Errorf("%s may take %s, a claim lives %s", f, got, action.MaxStartTime)
		}
	}
}

// The environment of every function has the variables that it needs.
func TestEnvironment(t *testing.T) {
	for _, all := range []template{the(t, plain), the(t, full)} {
		for _, name := range all.of("AWS::Lambda::Function") {
			env := func(key string) string {
				if key == "AWS_REGION" {
					return "eu-west-1" // Lambda's part
				}
				return resolved(all.at(name, "Environment.Variables."+key))
			}
			got, err := wire.FromEnv(env)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got.Bus != "default" || got.Execution == "" || got.Stack == "" {
				t.Errorf("%s: %+v", name, got)
			}
		}
		for key, want := range map[string]string{
			"STACKWRIGHT_SCHEDULE_GROUP": all.at("Schedules", "Name"), "STACKWRIGHT_SCHEDULE_DEAD": "${StartDead.Arn}",
			"STACKWRIGHT_SCHEDULE_ROLE": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/stackwright/" + all.at("ScheduleRole", "RoleName"),
			"STACKWRIGHT_START":         "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + all.at("Start", "FunctionName"),
		} {
			if got := all.at("Plan", "Environment.Variables."+key); got != want {
				t.Errorf("%s is %s, want %s", key, got, want)
			}
		}
	}
}

// Only the function api knows where people sign in on the page, and only if the settings say so.
func TestEnvironmentOfThePage(t *testing.T) {
	for _, name := range the(t, full).of("AWS::Lambda::Function") {
		issuer, client := everything["jwtIssuer"], everything["pageClient"]
		if name != "Api" {
			issuer, client = "", ""
		}
		the(t, full).says(t, name, map[string]string{
			"Environment.Variables.STACKWRIGHT_PAGE_ISSUER": issuer.(string), "Environment.Variables.STACKWRIGHT_PAGE_CLIENT": client.(string),
		})
		the(t, plain).says(t, name, map[string]string{"Environment.Variables.STACKWRIGHT_PAGE_ISSUER": "", "Environment.Variables.STACKWRIGHT_PAGE_CLIENT": ""})
	}
}

// Only the function notify knows where events are delivered to, and the URL of the page. Only it may read the secrets, and no others.
func TestEnvironmentOfNotify(t *testing.T) {
	for _, name := range the(t, full).of("AWS::Lambda::Function") {
		to, page := everything["notify"].(string), "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/"
		if name != "Notify" {
			to, page = "", ""
		}
		the(t, full).says(t, name, map[string]string{"Environment.Variables.STACKWRIGHT_NOTIFY": to, "Environment.Variables.STACKWRIGHT_PAGE_URL": page})
	}
	the(t, full).says(t, "NotifyRule", map[string]string{
		"EventPattern": `{"detail-type":["Stackwright Run State Change"],"source":["stackwright"]}`, "Targets.0.Arn": "${Notify.Arn}", "Targets.0.DeadLetterConfig": `{"Arn":"${NotifyDead.Arn}"}`,
	})
	for role, want := range map[string]bool{"NotifyRole": true, "ApiRole": false, "PlanRole": false} {
		if got := strings.Contains(string(the(t, full).body), "secret:ops-AbCdEf") && strings.Contains(the(t, full).at(role, "Policies"), "secret:ops-AbCdEf"); got != want {
			t.Errorf("%s may read the secret: %v", role, got)
		}
	}
}

// resolved is a text as CloudFormation fills it in.
func resolved(text string) string {
	return strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::Region}", "eu-west-1", "${AWS::AccountId}", "000000000000",
		"${Table}", "stackwright-table", "${Bucket}", "stackwright-bucket",
		"${StartDead.Arn}", "arn:aws:sqs:eu-west-1:000000000000:stackwright-start-dead").Replace(text)
}

// An event that a function could not process in three attempts goes to its dead-letter queue.
func TestLetters(t *testing.T) {
	for all, want := range map[*template][]string{new(the(t, plain)): {"StackEvent", "Start"}, new(the(t, full)): {"Notify", "StackEvent", "Start"}} {
		lettersOf(t, *all, want)
	}
}

func lettersOf(t *testing.T, all template, want []string) {
	t.Helper()
	var got []string
	for _, name := range all.of("AWS::Lambda::EventInvokeConfig") {
		function := strings.Trim(all.at(name, "FunctionName"), "${}")
		got = append(got, function)
		all.says(t, name, map[string]string{
			"MaximumRetryAttempts": "2", "DestinationConfig.OnFailure.Destination": "${" + function + "Dead.Arn}",
		})
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("these get events: %v", got)
	}
}

// Every queue is encrypted, keeps what it has for two weeks, takes nothing
// without TLS, and raises an alarm when there is something in it.
func TestQueues(t *testing.T) {
	if queues := the(t, plain).of("AWS::SQS::Queue"); !slices.Equal(queues, []string{"RunsDead", "StackEventDead", "StartDead"}) {
		t.Error(queues)
	}
	all := the(t, full)
	queues := all.of("AWS::SQS::Queue")
	if !slices.Equal(queues, []string{"NotifyDead", "RunsDead", "StackEventDead", "StartDead"}) {
		t.Error(queues)
	}
	guarded := make(map[string]bool)
	for _, p := range all.of("AWS::SQS::QueuePolicy") {
		queue := strings.Trim(all.at(p, "Queues.0"), "${}")
		guarded[queue] = strings.Contains(all.at(p, "PolicyDocument"), `{"Action":"sqs:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},"Resource":"${`+queue+`.Arn}"}`)
	}
	for _, q := range queues {
		all.says(t, q, map[string]string{"SqsManagedSseEnabled": "true", "MessageRetentionPeriod": "1209600"})
		if !guarded[q] {
			t.Errorf("%s takes what comes without TLS", q)
		}
		all.says(t, q+"Alarm", map[string]string{
			"MetricName": "ApproximateNumberOfMessagesVisible", "Threshold": "1", "EvaluationPeriods": "1",
			"Dimensions": `[{"Name":"QueueName","Value":"${` + q + `.QueueName}"}]`,
		})
	}
}

// Every log group has the configured retention, and is encrypted with the key of the data.
func TestLogs(t *testing.T) {
	for days, all := range map[string]template{"30": the(t, plain), "7": the(t, full)} {
		logs := all.of("AWS::Logs::LogGroup")
		if len(logs) != len(all.of("AWS::Lambda::Function"))+2 { // the machine's, and that of the API's callers
			t.Error(logs)
		}
		for _, name := range logs {
			key := map[string]string{"30": "", "7": "${Key.Arn}"}[days]
			all.says(t, name, map[string]string{"RetentionInDays": days, "KmsKeyId": key})
		}
	}
}
