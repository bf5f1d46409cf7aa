package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// A size is the memory and the time limits of a function. Memory determines processor time too: 1,769 MB are one
// processor.
type size struct {
	memory  float64 // in MB
	seconds float64 // its timeout
	retries float64 // retries of an event that it could not process
	events  float64 // seconds after which an event is discarded; 0 if it gets none
}

// sizes are those of the functions. Measured, each takes some 20 MB, and less than a tenth of a second of a processor
// to poll nine stacks; planning 500 stacks of 100 resources takes 92 MB and a second. They get more for the share of a
// processor, and for projects of any allowed size.
//
// An upload takes start a moment; a sweep takes longer the more runs are open. A second attempt does no harm, and a
// request may wait for the end of an outage. plan reads a whole project, up to 16 MB, and has as long as the state
// machine waits for it. execute-step and wait-status must end with the claims of the steps that they have started
// (action.MaxStartTime), and end by themselves before. An event of a stack only wakes a run that would poll soon after. notify waits
// for web servers and chats, each for some seconds (pkg/entry/notify).
var sizes = map[string]size{
	"start":        {memory: 512, seconds: 120, retries: 2, events: 6 * 3600},
	"plan":         {memory: 1769, seconds: 300},
	"execute-step": {memory: 512, seconds: 60},
	"wait-status":  {memory: 512, seconds: 60},
	"stack-event":  {memory: 256, seconds: 60, retries: 2, events: 15 * 60},
	"notify":       {memory: 256, seconds: 60, retries: 2, events: 6 * 3600},
	"api":          {memory: 512, seconds: 29}, // API Gateway waits 30 seconds
}

// withEvents are the functions that get events.
var withEvents = []string{"notify", "stack-event", "start"}

// optional are the functions that an installation has only by its settings.
func optional(s settings) map[string]bool { return map[string]bool{"notify": len(s.notify) > 0} }

// installed lists those of some functions that the settings install.
func (s settings) installed(functions []string) []string {
	return slices.DeleteFunc(slices.Clone(functions), func(f string) bool {
		wanted, is := optional(s)[f]
		return is && !wanted
	})
}

// title is the name of a function as a name in a template: ExecuteStep.
func title(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// addQueues makes the dead-letter queues of events that a function could not process, or that did not reach it. They
// keep messages as long as SQS allows.
func (i *installation) addQueues() {
	for _, f := range i.settings.installed(withEvents) {
		i.dead[f] = i.addQueue(f + "-dead")
	}
}

// addQueue makes a queue. It is encrypted with SQS's own key even if the data has a customer's key: events contain
// keys, runs and stacks, and nothing else.
func (i *installation) addQueue(name string) awssqs.Queue {
	q := awssqs.NewQueue(i.Stack, jsii.String(title(name)), &awssqs.QueueProps{
		QueueName:       jsii.String(i.settings.stack + "-" + name),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
	called(q, title(name))
	return q
}

// addFunctions makes the functions that were built, each with its own role.
func (i *installation) addFunctions() {
	permissions := inRoles(i.settings)
	policies := []awsiam.ManagedPolicy{i.addPolicy("change-stacks", "What Stackwright may do to change stacks in this account", changes(i.settings))}
	if len(i.settings.suspend) > 0 {
		policies = append(policies, i.addPolicy("suspend-resources", "What Stackwright may stop and start in this account", suspends(i.settings)))
	}
	if len(i.settings.backups) > 0 {
		policies = append(policies, i.addPolicy("back-up", "What Stackwright may do to back up what stacks hold in this account", backsUp(i.settings)))
	}
	if i.settings.vault.Name != "" {
		policies = append(policies, i.addPolicy("back-up-files", "What Stackwright may do to back up file systems in this account", backsUpFiles(i.settings)))
	}
	for _, name := range i.names {
		size := sizes[name]
		logs := i.addLogs(title(name)+"Logs", i.logs(name))
		role := i.addRole(name, "lambda.amazonaws.com", nil, permissions[name])
		if slices.Contains(changing, name) {
			for _, policy := range policies {
				role.AddManagedPolicy(policy)
			}
		}
		if slices.Contains(detecting, name) {
			i.allow(role, title(name)+"Reads", i.settings.drift)
		}
		f := awslambda.NewFunction(i.Stack, jsii.String(title(name)), &awslambda.FunctionProps{
			FunctionName:          jsii.String(i.settings.stack + "-" + name),
			Code:                  awslambda.Code_FromAsset(jsii.String(filepath.Join(i.settings.code, name)), nil),
			Handler:               jsii.String("bootstrap"),
			Runtime:               awslambda.Runtime_PROVIDED_AL2023(),
			Architecture:          awslambda.Architecture_ARM_64(),
			MemorySize:            jsii.Number(size.memory),
			Timeout:               awscdk.Duration_Seconds(jsii.Number(size.seconds)),
			Role:                  role.WithoutPolicyUpdates(nil),
			LogGroup:              logs,
			LoggingFormat:         awslambda.LoggingFormat_JSON,
			ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
			SystemLogLevelV2:      awslambda.SystemLogLevel_WARN,
			Tracing:               awslambda.Tracing_ACTIVE,
			Environment:           i.environment(name),
		})
		called(f, title(name))
		if size.events > 0 {
			f.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
				RetryAttempts: jsii.Number(size.retries),
				MaxEventAge:   awscdk.Duration_Seconds(jsii.Number(size.events)),
				OnFailure:     awslambdadestinations.NewSqsDestination(i.dead[name]),
			})
		}
		i.functions[name] = f
	}
}

// environment is what pkg/wire reads; for plan and api also where schedules are.
func (i *installation) environment(name string) *map[string]*string {
	e := map[string]string{
		"STACKWRIGHT_TABLE":          *i.table.TableName(),
		"STACKWRIGHT_BUCKET":         *i.bucket.BucketName(),
		"STACKWRIGHT_STATE_MACHINE":  i.machine(),
		"STACKWRIGHT_ACCOUNT":        *awscdk.Aws_ACCOUNT_ID(),
		"STACKWRIGHT_PROJECTS":       i.settings.projects.String(),
		"STACKWRIGHT_BUS":            "default",
		"STACKWRIGHT_STACK":          i.settings.stack,
		"STACKWRIGHT_EXECUTION_ROLE": i.role("execution"),
	}
	if len(i.settings.owner) > 0 {
		e["STACKWRIGHT_OWNER"] = i.settings.owner.String()
	}
	if len(i.settings.hooks) > 0 && slices.Contains([]string{"plan", "execute-step", "wait-status"}, name) {
		e["STACKWRIGHT_HOOKS"] = i.settings.hooks.String()
	}
	if len(i.settings.remote) > 0 && name == "plan" {
		e["STACKWRIGHT_REMOTE_FILES"] = i.settings.remote.String()
	}
	if len(i.settings.suspend) > 0 && name == "plan" {
		e["STACKWRIGHT_SUSPEND"] = i.settings.suspend.String()
	}
	if i.settings.organization != "" && (name == "plan" || name == "api") {
		e["STACKWRIGHT_ORGANIZATION"] = i.settings.asks()
	}
	if len(i.settings.backups) > 0 && name == "plan" {
		e["STACKWRIGHT_BACKUPS"] = i.settings.backups.String()
	}
	if len(i.settings.assets) > 0 && (name == "plan" || name == "wait-status") {
		e["STACKWRIGHT_CDK_ASSETS"] = i.settings.assets.String()
	}
	if text := i.settings.vault.String(); text != "" && (name == "plan" || slices.Contains(changing, name)) {
		e["STACKWRIGHT_BACKUP_VAULT"] = text
	}
	if len(i.settings.external) > 0 && name == "plan" {
		e["STACKWRIGHT_EXTERNAL"] = i.settings.external.String()
	}
	if name == "notify" {
		e["STACKWRIGHT_NOTIFY"] = i.settings.notify.String()
	}
	if name == "api" {
		e["STACKWRIGHT_API_RATE"] = strconv.Itoa(rate)
		e["STACKWRIGHT_TARGET_ACCOUNTS"] = strings.Join(i.settings.accounts, ",")
		if i.settings.page != "" {
			e["STACKWRIGHT_PAGE_ISSUER"], e["STACKWRIGHT_PAGE_CLIENT"] = i.settings.issuer, i.settings.page
		}
	}
	if name == "plan" || name == "api" {
		maps.Copy(e, map[string]string{
			"STACKWRIGHT_SCHEDULE_GROUP": i.settings.stack,
			"STACKWRIGHT_SCHEDULE_ROLE":  i.role("schedule"),
			"STACKWRIGHT_SCHEDULE_DEAD":  *i.dead["start"].QueueArn(),
			"STACKWRIGHT_START":          i.function("start"),
		})
	}
	all := make(map[string]*string)
	for k, v := range e {
		all[k] = jsii.String(v)
	}
	return &all
}

// addLogs makes a log group. It is deleted with the installation.
func (i *installation) addLogs(id, name string) awslogs.LogGroup {
	props := &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(name),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	}
	if i.settings.key {
		props.EncryptionKey = i.key
	}
	logs := awslogs.NewLogGroup(i.Stack, jsii.String(id), props)
	called(logs, id)
	logs.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(float64(i.settings.logDays)))
	return logs
}
