package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A permission is a statement of a role's policy. It is a plain value, so that a test can compare it with the calls in
// the code.
type permission struct {
	Do   []string   // actions, each by its full name
	But  []string   // or all actions but these
	On   []string   // ARNs; arns.go replaces the ${words} in them
	If   conditions // all of which must hold
	Deny bool
	Why  string // the reason of a wildcard, or of a permission without a call
}

// conditions are operators with the keys that they compare, each with a text or a list of texts.
type conditions map[string]map[string]any

// permissions are what each function may do.
func permissions(s settings) map[string][]permission {
	all := inRoles(s)
	for _, f := range changing {
		all[f] = slices.Concat(all[f], changes(s), suspends(s), backsUp(s), backsUpFiles(s))
	}
	return all
}

// changing are the functions that change stacks.
var changing = []string{"execute-step", "wait-status"}

// changes is what they may do with stacks. It is one managed policy of their roles, because the policies in a role have room for 10,240 letters.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func changes(s settings) []permission { return slices.Concat(begins, adopts(s)) }

// inRoles are the permissions in the role of each function. A new call needs its permission here, or in changes.
func inRoles(s settings) map[string][]permission {
	all := map[string][]permission{
		"start":        slices.Concat(marks, writes, queries, starts, answers, sees, notifies, requests, decides, dead("start")),
		"plan":         slices.Concat(marks, writes, queries, starts, answers, sees, notifies, configurations, plans, describes, copies(s), fetches(s), holders, finds, rooms, exports, imports, parameters(s), schedules, alarms, holdings(s)),
		"execute-step": slices.Concat(marks, writes, queries, specs, describes, reviews, finds, detects),
		"wait-status":  slices.Concat(marks, writes, queries, starts, answers, notifies, proposals, watches, copies(s), follows, stops, publishes(s)),
		"stack-event":  slices.Concat(marks, answers, dead("stack-event")),
		"notify":       slices.Concat(marks, delivers, secrets(s), reports(s), dead("notify")),
		"api":          slices.Concat(marks, writes, queries, starts, answers, sees, notifies, shows, decides, uploads, seesSchedules, inside, readers(s), compares, purges),
	}
	for _, f := range changing {
		all[f] = slices.Concat(all[f], hooks(s))
	}
	all["wait-status"] = slices.Concat(all["wait-status"], executions(s), fills(s))
	if s.adoptable != "" {
		all["wait-status"] = append(all["wait-status"], adopting("cloudformation:DeleteChangeSet"))
	}
	for _, f := range assuming {
		all[f] = append(all[f], targets(s)...)
	}
	for f, reads := range map[string]bool{"api": false, "plan": true} {
		all[f] = append(all[f], s.listed(reads)...)
	}
	for f := range all {
		all[f] = slices.Concat(all[f], watched(f), encrypted(s))
	}
	return all
}

// Permissions for runs, records and locks. A transaction needs the permissions of its actions.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
var (
	marks   = []permission{{Do: []string{"dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:UpdateItem"}, On: []string{"${Table}"}}}
	writes  = []permission{{Do: []string{"dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:PutItem"}, On: []string{"${Table}"}}}
	queries = []permission{{Do: []string{"dynamodb:Query"}, On: []string{"${Table}"}}}
)

// delivers is for what package notify has delivered.
var delivers = []permission{{Do: []string{"dynamodb:PutItem"}, On: []string{"${Table}"}}}

// secrets reads those with which events are signed.
func secrets(s settings) []permission {
	if len(s.notify.Secrets()) == 0 {
		return nil
	}
	return []permission{{
		Do: []string{"secretsmanager:GetSecretValue"}, On: s.notify.Secrets(),
		Why: "events of runs are signed with them; the owner of the installation lists them in the setting notify",
	}}
}

// reports are for those that a destination writes into the bucket.
func reports(s settings) []permission {
	if !s.notify.Has("report") {
		return nil
	}
	return slices.Concat(queries, shows, []permission{
		{Do: []string{"s3:PutObject"}, On: []string{"${Bucket}/reports/*"}, Why: "reports are named by project, environment and run"},
	})
}

// Permissions for executions.
var (
	starts  = []permission{{Do: []string{"states:StartExecution"}, On: []string{"${Machine}"}}}
	answers = []permission{{Do: []string{"states:SendTaskSuccess"}, On: []string{"*"}, Why: "the action has no resource type: a token says which execution waits"}}
	sees    = []permission{{
		Do: []string{"states:DescribeExecution"}, On: []string{"${Executions}:*"},
		Why: "the names contain run and epoch",
	}}
)

// notifies is for the events about runs.
var notifies = []permission{{
	Do: []string{"events:PutEvents"}, On: []string{"${Bus}"},
	If: conditions{"StringEquals": {"events:source": "stackwright"}},
}}

// Permissions for the bucket. Without s3:ListBucket, S3 answers AccessDenied for an object that does not exist.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
var (
	lists = permission{Do: []string{"s3:ListBucket"}, On: []string{"${Bucket}"}, Why: "with it, S3 answers differently for a missing object and a denied one"}

	requests = []permission{lists, {
		Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: []string{"${Bucket}/access/*", "${Bucket}/policies/*", "${Bucket}/projects/*", "${Bucket}/requests/*"},
		Why: "callers name their requests, and the owner his policies; the metadata of an upload says who made it, and S3 has no permission for metadata alone",
	}}
	configurations = []permission{
		lists,
		{
			Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: []string{"${Bucket}/projects/*", "${Bucket}/revisions/*"},
			Why: "the names contain project and environment",
		},
		{
			Do: []string{"s3:PutObject"}, On: []string{"${Bucket}/artifacts/*", "${Bucket}/specs/*", "${Bucket}/templates/*"},
			Why: "specs, templates and the files that templates name are named by their digests",
		},
	}
	compares = []permission{{
		Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: []string{"${Bucket}/projects/*", "${Bucket}/remote/*", "${Bucket}/revisions/*"},
		Why: "the API shows what differs between two configurations; their names, and those of files from elsewhere, contain project and environment or digests",
	}}
	purges = []permission{
		{Do: []string{"s3:ListBucketVersions"}, On: []string{"${Bucket}"}, Why: "a purge finds versions that are old and that nothing names"},
		{
			Do:  []string{"s3:DeleteObject", "s3:DeleteObjectVersion"},
			On:  []string{"${Bucket}/artifacts/*", "${Bucket}/projects/*", "${Bucket}/remote/*", "${Bucket}/revisions/*", "${Bucket}/specs/*", "${Bucket}/templates/*"},
			Why: "a purge deletes them; their names contain projects or digests, and it names each version, so it makes no delete marker",
		},
		{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/artifacts/*", "${Bucket}/templates/*"}, Why: "a purge reads what deployed templates name; they are named by their digests"},
	}
	plans = []permission{
		{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/policies/*"}, Why: "the owner of the installation names the files of its policies"},
		{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/specs/*", "${Bucket}/templates/*"}, Why: "specs, values outside projects and templates are named by their digests"},
		{
			Do: []string{"s3:GetObject", "s3:PutObject"}, On: []string{"${Bucket}/plans/*", "${Bucket}/remote/*"},
			Why: "what plans would change is named by its digest, and a deploy reads the saved plan that it carries out; files from elsewhere are named by the digests of configuration and address",
		},
	}
	shows = []permission{lists, {
		Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/plans/*"}, Why: "what plans would change is named by its digest",
	}}
	proposals = []permission{
		lists,
		{
			Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/plans/*", "${Bucket}/specs/*", "${Bucket}/templates/*"},
			Why: "specs, templates and plans are named by their digests; CloudFormation reads a large template with the permissions of its caller",
		},
		{Do: []string{"s3:PutObject"}, On: []string{"${Bucket}/plans/*"}, Why: "what change sets say is named by its digest"},
	}
	decides = []permission{{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/access/access.yaml"}}}
	uploads = []permission{{
		Do: []string{"s3:PutObject"}, On: []string{"${Bucket}/revisions/*"},
		Why: "the names contain project and environment; a caller of the API uploads with a URL that the function has signed",
	}}
	specs = []permission{lists, {
		Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/plans/*", "${Bucket}/specs/*", "${Bucket}/templates/*"},
		Why: "specs, templates and what change sets say are named by their digests; CloudFormation reads a large template with the permissions of its caller",
	}}
)

// artifacts are the files of projects that are published, and that hooks upload.
var artifacts = permission{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/artifacts/*"}, Why: "files are named by their digests"}

// publishes are for the assets of the CDK, if some project may publish them. The publishing role of cdk bootstrap writes the
// objects. Nobody publishes where the code of installations is, whatever the settings are.
func publishes(s settings) []permission {
	all := []permission{{
		Do: []string{"sts:AssumeRole"}, On: []string{"arn:${Partition}:iam::*:role/cdk-" + project.InstallationQualifier + "-*"}, Deny: true,
		Why: "who writes into the bucket of this qualifier replaces the code of the next version of the installation",
	}}
	if len(s.assets) == 0 {
		return all
	}
	return append(all,
		artifacts,
		permission{
			Do: []string{"sts:AssumeRole"}, On: []string{"arn:${Partition}:iam::${Account}:role/cdk-*-publishing-role-${Account}-*"},
			Why: "the CDK publishes files and container images of its applications with these roles, one of each for each region; " +
				"they may do nothing else. Stackwright publishes files, and finds images",
		})
}

// stacks are all stacks of the own account, in all its regions: targets may be in any region, and projects name their
// stacks.
const (
	stacks    = "arn:${Partition}:cloudformation:*:${Account}:stack/*"
	adoptable = "arn:${Partition}:cloudformation:*:${Account}:stack/${Adoptable}/*"
	anywhere  = "projects name their stacks, and targets are in any region"
)

// describes reads stacks; finds describes all stacks in one call, which needs the
// permission to list them.
var (
	describes = []permission{{
		Do: []string{"cloudformation:DescribeStackEvents", "cloudformation:DescribeStacks", "cloudformation:ListStackResources"},
		On: []string{stacks}, Why: anywhere,
	}}
	watches = []permission{{ // the permissions of a stack refactor are those of its stacks, and CloudFormation names the change sets of nested stacks itself
		Do: slices.Concat(describes[0].Do, []string{"cloudformation:DescribeChangeSet", "cloudformation:DescribeStackRefactor", "cloudformation:DescribeStackResourceDrifts", "cloudformation:DetectStackDrift", "cloudformation:DetectStackResourceDrift", "cloudformation:GetStackPolicy", "cloudformation:ListStackRefactorActions", "cloudformation:ListStackRefactors"}),
		On: []string{stacks}, Why: anywhere,
	}}
	reviews = []permission{{Do: []string{"cloudformation:DescribeChangeSet"}, On: []string{stacks}, Why: "a change set is read again before it is executed; " + anywhere}}
	detects = []permission{{ // the second compares each resource
		Do: []string{"cloudformation:DetectStackDrift", "cloudformation:DetectStackResourceDrift"}, On: []string{stacks}, Why: "CloudFormation compares resources with the template of their stack, and changes none; " + anywhere,
	}}
	follows = []permission{{
		Do: append([]string{"cloudformation:DescribeAccountLimits", "cloudformation:DescribeStackDriftDetectionStatus", "cloudformation:ValidateTemplate"}, finds[0].Do...), On: []string{"*"}, Why: "the actions have no resource type: the second names a drift detection, and the third has CloudFormation read a template of the installation",
	}}
	finds   = []permission{{Do: []string{"cloudformation:ListStacks"}, On: []string{"*"}, Why: "the action has no resource type"}}
	rooms   = []permission{{Do: []string{"cloudformation:DescribeAccountLimits"}, On: []string{"*"}, Why: "the action has no resource type"}}
	inside  = []permission{{Do: []string{"cloudformation:DescribeStackEvents", "cloudformation:ListStackResources"}, On: []string{stacks}, Why: "the API shows resources and events of recorded stacks; " + anywhere}}
	exports = []permission{{Do: []string{"cloudformation:ListExports"}, On: []string{"*"}, Why: "the action has no resource type. A project gets the exports of the stacks that the setting external lists for it. Which stack has an export that a plan adds"}}
	imports = []permission{{Do: []string{"cloudformation:ListImports"}, On: []string{"*"}, Why: "the action has no resource type. Which stacks import an export that a plan gives up"}}
	holders = []permission{{Do: []string{"cloudformation:DescribeStackResources"}, On: []string{stacks}, Why: "which stack has a resource that a project imports; " + anywhere}}
)

// copies reads templates of stacks that projects adopt. A project that adopts a stack sees its template and its outputs, and a stack whose
// template cannot be read is not adopted. So the function reads those that the owner of the installation names, and those of Stackwright.
func copies(s settings) []permission {
	all := []permission{{Do: []string{"cloudformation:GetTemplate"}, On: []string{stacks}, If: tagged(nil), Why: anywhere}}
	if s.adoptable != "" {
		all = append(all, permission{Do: []string{"cloudformation:GetTemplate"}, On: []string{adoptable}, Why: "projects may take over these stacks; targets are in any region"})
	}
	return all
}

// executionRoles are the execution role of the installation, and those that target/execution.yaml creates.
var executionRoles = []string{"${Execution}", "${Execution}-*"}

// A stack that Stackwright changes has this tag since it was created, or since its first update after it was adopted. It protects the stacks of others, such as the CDK's, from an
// error in the code: CloudFormation supports the tags of a stack in conditions of all actions on stacks. The value differs by
// project; which project may change a stack is decided by its record and not by a tag.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html
func tagged(more conditions) conditions {
	all := conditions{"Null": {"aws:ResourceTag/stackwright:project": "false"}}
	maps.Copy(all, more)
	return all
}

// ourChangeSets are the change sets of exact plans, imports and updates that have to be approved: their names begin as our tokens do, so no function makes, deletes or executes one
// that somebody else could take for its own. Other actions have no change set.
var ourChangeSets = conditions{"StringLikeIfExists": {"cloudformation:ChangeSetName": action.Prefix + "*"}}

// both are two conditions.
func both(a, b conditions) conditions {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// begins changes stacks, and stops cancels an update. Operations that create or delete resources need an execution
// role. CloudFormation has no role in operations that only cancel, tag, protect or move resources.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html
var (
	withRole = conditions{"ArnLike": {"cloudformation:RoleArn": executionRoles}}

	begins = []permission{
		{Do: []string{"cloudformation:CreateStack"}, On: []string{stacks}, If: withRole, Why: anywhere},
		{
			Do: []string{"cloudformation:ContinueUpdateRollback", "cloudformation:CreateChangeSet", "cloudformation:DeleteStack", "cloudformation:UpdateStack"},
			On: []string{stacks}, If: tagged(both(withRole, ourChangeSets)), Why: anywhere,
		},
		{
			Do: []string{"cloudformation:ExecuteChangeSet"}, On: []string{stacks},
			If: tagged(conditions{"StringLike": ourChangeSets["StringLikeIfExists"]}), Why: anywhere,
		},
		{
			Do: []string{"cloudformation:TagResource"}, On: []string{stacks},
			If:  conditions{"Null": {"aws:RequestTag/stackwright:project": "false"}},
			Why: "a new stack gets its tags, and has none before; " + anywhere,
		},
		{
			Do: []string{"cloudformation:CreateStackRefactor", "cloudformation:SetStackPolicy", "cloudformation:TagResource", "cloudformation:UntagResource", "cloudformation:UpdateTerminationProtection"},
			On: []string{stacks}, If: tagged(nil), Why: anywhere,
		},
		{
			Do: []string{"iam:PassRole"}, On: executionRoles,
			If:  conditions{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
			Why: "CloudFormation uses the role; an account may have several, each for the projects of a target. No project can create a role under this path",
		},
		{
			Do: []string{
				"cloudformation:CancelUpdateStack", "cloudformation:ContinueUpdateRollback", "cloudformation:Create*", "cloudformation:Delete*", "cloudformation:Execute*",
				"cloudformation:SetStackPolicy", "cloudformation:TagResource", "cloudformation:UntagResource", "cloudformation:Update*",
			},
			On: []string{"${Self}"}, Deny: true, Why: "projects cannot change the installation",
		},
	}
	stops = []permission{
		{Do: []string{"cloudformation:CancelUpdateStack", "cloudformation:ExecuteStackRefactor"}, On: []string{stacks}, If: tagged(nil), Why: anywhere},
		{
			Do: []string{"cloudformation:DeleteChangeSet"}, On: []string{stacks},
			If: tagged(conditions{"StringLike": ourChangeSets["StringLikeIfExists"]}), Why: anywhere,
		},
	}
)

// adopts updates stacks without our tag, if the owner of the installation names them: a project may have adopted them, and the first
// update gives them the tag. Stacks with the tag of any project are not among them. They cannot be deleted before.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html
func adopts(s settings) []permission {
	if s.adoptable == "" {
		return nil
	}
	return []permission{
		{
			Do: []string{"cloudformation:CreateChangeSet", "cloudformation:UpdateStack"}, On: []string{adoptable},
			If: both(conditions{
				"Null":    {"aws:ResourceTag/stackwright:project": "true", "aws:RequestTag/stackwright:project": "false"},
				"ArnLike": withRole["ArnLike"],
			}, ourChangeSets),
			Why: "the first update of a stack that a project has adopted gives it the tag; targets are in any region",
		},
		adopting("cloudformation:ExecuteChangeSet"),
	}
}

// adopting allows an action on the change sets of the first update of a stack that a project has adopted.
func adopting(action string) permission {
	return permission{
		Do: []string{action}, On: []string{adoptable},
		If:  conditions{"Null": {"aws:ResourceTag/stackwright:project": "true"}, "StringLike": ourChangeSets["StringLikeIfExists"]},
		Why: "the same update, if it has to be approved: Stackwright made the change set, with the tag",
	}
}

// schedules manages the schedules of projects.
var schedules = []permission{
	{
		Do: []string{"scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule", "scheduler:UpdateSchedule"},
		On: []string{"${Schedules}/*"}, Why: "the names contain the project",
	},
	{Do: []string{"scheduler:ListSchedules"}, On: []string{"*"}, Why: "the action has no resource type"},
	{
		Do: []string{"iam:PassRole"}, On: []string{"${ScheduleRole}"},
		If:  conditions{"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
		Why: "a schedule uses the role that may invoke start",
	},
}

// alarms reads the alarms that stop promotions. Which ones, the project says: it may read those of all targets that it may use.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
var alarms = []permission{{
	Do: []string{"cloudwatch:DescribeAlarmHistory", "cloudwatch:DescribeAlarms"}, On: []string{"*"},
	Why: "without a permission for all resources, CloudWatch does not describe composite alarms; projects name the alarms that stop their promotions",
}}

// seesSchedules reads the schedules of projects.
var seesSchedules = []permission{
	{Do: []string{"scheduler:GetSchedule"}, On: []string{"${Schedules}/*"}, Why: "the names contain the project"},
	{Do: []string{"scheduler:ListSchedules"}, On: []string{"*"}, Why: "the action has no resource type"},
}

// detecting are the functions that detect drift: CloudFormation may read the resources with their permissions.
var detecting = []string{"execute-step", "wait-status"}

// parameters reads plain parameters in the own account that the owner of the installation lists. Which project may read which, the function
// decides. Without a permission for their keys, it cannot read secure strings.
func parameters(s settings) []permission {
	var all []string
	for _, name := range s.external.Parameters() {
		all = append(all, "arn:${Partition}:ssm:*:${Account}:parameter/"+strings.TrimPrefix(name, "/"))
	}
	if all == nil {
		return nil
	}
	return []permission{{Do: []string{"ssm:GetParameters"}, On: slices.Sorted(slices.Values(all)), Why: "projects refer to them; the owner of the installation lists them, and targets are in any region"}}
}

// fetches reads the objects of other buckets that the owner of the installation lists. Which project may read which, the function decides.
func fetches(s settings) []permission {
	var all []string
	for _, e := range s.remote {
		if e.Scheme == remote.S3 {
			all = append(all, "arn:${Partition}:s3:::"+e.Host+"/"+e.Prefix+"*")
		}
	}
	if all == nil {
		return nil
	}
	return []permission{{Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: slices.Compact(slices.Sorted(slices.Values(all))), Why: "projects name their templates; the owner of the installation lists the buckets"}}
}

// dead is for the dead-letter queue of a function. Lambda sends to it in the function's name.
func dead(function string) []permission {
	return []permission{{Do: []string{"sqs:SendMessage"}, On: []string{"${Dead " + function + "}"}, Why: "Lambda sends failed events"}}
}

// watched is for logs and traces of a function. Its log group already exists.
func watched(function string) []permission {
	return []permission{
		{
			Do: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, On: []string{"${Logs " + function + "}:*"},
			Why: "Lambda creates the streams and writes to them",
		},
		{
			Do: []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, On: []string{"*"},
			Why: "Lambda sends traces; the action has no resource type",
		},
	}
}

// encrypted is for data that is encrypted with a key of the customer.
func encrypted(s settings) []permission {
	if !s.key {
		return nil
	}
	by := func(service string) conditions {
		return conditions{"StringEquals": {"kms:ViaService": service + ".${Region}.amazonaws.com"}}
	}
	return []permission{
		{Do: []string{"kms:Decrypt", "kms:GenerateDataKey"}, On: []string{"${Key}"}, If: by("s3"), Why: "S3 uses the key with the caller's permissions"},
		{
			Do: []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"}, On: []string{"${Key}"}, If: by("dynamodb"),
			Why: "DynamoDB uses the key with the caller's permissions",
		},
	}
}
