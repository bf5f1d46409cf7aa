package main

import "slices"

// A permission is a statement of a role's policy. It is a plain value, so that a
// test can hold it against the calls that the code makes.
type permission struct {
	Do   []string   // actions, each by its whole name
	But  []string   // or all actions but these
	On   []string   // ARNs; for what ${words} in them stand says arns.go
	If   conditions // all of which must hold
	Deny bool
	Why  string // what is behind a wildcard, or is needed though nobody calls it
}

// Conditions are operators, with the keys that they compare and with what.
type conditions map[string]map[string]string

// permissions says what each function may do. Who adds a call adds it here.
func permissions(s settings) map[string][]permission {
	all := map[string][]permission{
		"start":        slices.Concat(marks, writes, queries, starts, answers, sees, told, requests, dead("start")),
		"plan":         slices.Concat(marks, writes, queries, starts, answers, sees, told, configurations, looks, finds, schedules),
		"execute-step": slices.Concat(marks, writes, specs, looks, finds, begins),
		"wait-status":  slices.Concat(marks, writes, queries, starts, answers, told, specs, looks, begins, stops),
		"stack-event":  slices.Concat(marks, answers, dead("stack-event")),
		"api":          slices.Concat(marks, writes, queries, starts, answers, sees, told),
	}
	for _, f := range []string{"plan", "execute-step", "wait-status"} {
		all[f] = append(all[f], abroad(s)...)
	}
	for f := range all {
		all[f] = slices.Concat(all[f], watched(f), encrypted(s))
	}
	return all
}

// How runs, records and locks are read and written. A transaction needs the
// permissions of what is in it: one that marks an item has nothing but checks
// and changes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
var (
	marks   = []permission{{Do: []string{"dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:UpdateItem"}, On: []string{"${Table}"}}}
	writes  = []permission{{Do: []string{"dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:PutItem"}, On: []string{"${Table}"}}}
	queries = []permission{{Do: []string{"dynamodb:Query"}, On: []string{"${Table}"}}}
)

// How executions are started, woken and seen.
var (
	starts  = []permission{{Do: []string{"states:StartExecution"}, On: []string{"${Machine}"}}}
	answers = []permission{{Do: []string{"states:SendTaskSuccess"}, On: []string{"${Machine}"}}}
	sees    = []permission{{
		Do: []string{"states:DescribeExecution"}, On: []string{"${Executions}:*"},
		Why: "executions are named by run and epoch",
	}}
)

// told is how the world hears of a run.
var told = []permission{{
	Do: []string{"events:PutEvents"}, On: []string{"${Bus}"},
	If: conditions{"StringEquals": {"events:source": "stackwright"}},
}}

// What is in the bucket. Without leave to list it S3 says of what is not there
// that it is denied.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
var (
	lists = permission{Do: []string{"s3:ListBucket"}, On: []string{"${Bucket}"}, Why: "what is missing is told from what is denied"}

	requests = []permission{lists, {
		Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: []string{"${Bucket}/requests/*"}, Why: "requests are named by who asks",
	}}
	configurations = []permission{
		lists,
		{
			Do: []string{"s3:GetObject", "s3:GetObjectVersion"}, On: []string{"${Bucket}/projects/*", "${Bucket}/revisions/*"},
			Why: "configurations are named by project and environment",
		},
		{
			Do: []string{"s3:PutObject"}, On: []string{"${Bucket}/specs/*", "${Bucket}/templates/*"},
			Why: "specs and templates are named by their digests",
		},
	}
	specs = []permission{lists, {
		Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/specs/*", "${Bucket}/templates/*"},
		Why: "specs and templates are named by their digests; CloudFormation reads a large template in the name of whoever asks it",
	}}
)

// stacks are all stacks of our own account, in all its regions: a target may be
// in any, and projects name their stacks.
const (
	stacks   = "arn:${Partition}:cloudformation:*:${Account}:stack/*"
	anywhere = "projects name their stacks, and targets are in any region"
)

// looks is how stacks are seen, and finds how those of many names are, all
// together: CloudFormation describes all stacks only to who may list them.
var (
	looks = []permission{{
		Do: []string{"cloudformation:DescribeStackEvents", "cloudformation:DescribeStacks", "cloudformation:ListStackResources"},
		On: []string{stacks}, Why: anywhere,
	}}
	finds = []permission{{Do: []string{"cloudformation:ListStacks"}, On: []string{stacks}, Why: anywhere}}
)

// begins is how stacks are changed, and stops how a change is: whatever makes or
// deletes resources in the name of the execution role, and no other.
// CloudFormation knows no role where it is only told to stop, or to protect.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html
var (
	begins = []permission{
		{
			Do: []string{"cloudformation:ContinueUpdateRollback", "cloudformation:CreateStack", "cloudformation:DeleteStack", "cloudformation:UpdateStack"},
			On: []string{stacks}, If: conditions{"StringEquals": {"cloudformation:RoleArn": "${Execution}"}}, Why: anywhere,
		},
		{
			Do: []string{"cloudformation:TagResource", "cloudformation:UntagResource", "cloudformation:UpdateTerminationProtection"},
			On: []string{stacks}, Why: anywhere,
		},
		{
			Do: []string{"iam:PassRole"}, On: []string{"${Execution}"},
			If:  conditions{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
			Why: "CloudFormation is given the role",
		},
		{
			Do: []string{
				"cloudformation:CancelUpdateStack", "cloudformation:ContinueUpdateRollback", "cloudformation:CreateStack",
				"cloudformation:DeleteStack", "cloudformation:TagResource", "cloudformation:UntagResource", "cloudformation:UpdateStack",
				"cloudformation:UpdateTerminationProtection",
			},
			On: []string{"${Self}"}, Deny: true, Why: "no project changes the installation",
		},
	}
	stops = []permission{{Do: []string{"cloudformation:CancelUpdateStack"}, On: []string{stacks}, Why: anywhere}}
)

// schedules is how a project's schedules are kept.
var schedules = []permission{
	{
		Do: []string{"scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule", "scheduler:UpdateSchedule"},
		On: []string{"${Schedules}/*"}, Why: "schedules are named by their projects",
	},
	{Do: []string{"scheduler:ListSchedules"}, On: []string{"*"}, Why: "AWS knows no resource for it"},
	{
		Do: []string{"iam:PassRole"}, On: []string{"${ScheduleRole}"},
		If:  conditions{"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
		Why: "a schedule is given the role that may call start",
	},
}

// abroad is how other accounts are entered, if there are any.
func abroad(s settings) []permission {
	var roles []string
	for _, account := range s.accounts {
		roles = append(roles, "arn:${Partition}:iam::"+account+":role/stackwright/"+s.stack+"-*")
	}
	if roles == nil {
		return nil
	}
	return []permission{{Do: []string{"sts:AssumeRole"}, On: roles, Why: "an account may have a role for each of its targets"}}
}

// dead is where events go that a function could not deal with. Lambda brings
// them there in the function's name.
func dead(function string) []permission {
	return []permission{{Do: []string{"sqs:SendMessage"}, On: []string{"${Dead " + function + "}"}, Why: "Lambda sends what failed"}}
}

// watched is what a function needs to be watched. Its log group is there
// already.
func watched(function string) []permission {
	return []permission{
		{
			Do: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, On: []string{"${Logs " + function + "}:*"},
			Why: "Lambda names the streams, and writes to them",
		},
		{
			Do: []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, On: []string{"*"},
			Why: "Lambda sends traces; AWS knows no resource for it",
		},
	}
}

// encrypted is how data is read and written that has a key of the customer's.
func encrypted(s settings) []permission {
	if !s.key {
		return nil
	}
	by := func(service string) conditions {
		return conditions{"StringEquals": {"kms:ViaService": service + ".${Region}.amazonaws.com"}}
	}
	return []permission{
		{Do: []string{"kms:Decrypt", "kms:GenerateDataKey"}, On: []string{"${Key}"}, If: by("s3"), Why: "S3 uses the key in the caller's name"},
		{
			Do: []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"}, On: []string{"${Key}"}, If: by("dynamodb"),
			Why: "DynamoDB uses the key in the caller's name",
		},
	}
}
