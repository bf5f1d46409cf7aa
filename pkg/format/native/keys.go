package native

import (
	"slices"
	"strconv"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A key is a key of a mapping in a project file: its name, what it says, and what its value may be. The tables of keys are what the
// reader accepts, and what the schema for editors is made of.
type key struct {
	name, what string
	value      shape
	examples   []any
}

// namesOf lists the names of keys.
func namesOf(keys []key) []string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.name
	}
	return all
}

// with joins tables.
func with(tables ...[]key) []key { return slices.Concat(tables...) }

// only returns the keys of some names.
func only(keys []key, names ...string) []key {
	return slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return !slices.Contains(names, k.name) })
}

const ofEnvironment = " An environment's own overrides the top level."

// The tables of keys.
var (
	// layerTable has the keys that the top level and an environment have in common.
	layerTable = []key{
		{"variables", "Values for ${var.name}: texts, numbers, lists and maps. An environment's own override those of the top level.",
			named(declared.VariableName.String(), ref("data")), such(map[string]any{"size": "small", "zones": []string{"a", "b"}})},
		{"defaults", "Settings by prefix of the stacks' names. A longer prefix overrides a shorter one; \"\" is for all stacks.", optional(mapping(ref("defaults"))), such(map[string]any{"network/": map[string]any{"tags": map[string]any{"team": "network"}}})},
		{"installation", "The installation on AWS, by the name of its stack, that commands about the project use unless a flag " +
			"or a variable says where." + ofEnvironment + " Default: this laptop.", matching(project.InstallationName.String()), such("stackwright")},
		{"max_deletions", "How many stacks one deploy may delete permanently." + ofEnvironment + " Default: ten or half of the recorded stacks, whichever is less, but at least one.", number(0, mostDeletions), such(0)},
		{"max_parallel", "How many stacks a run changes at the same time; or a mapping, with one number for each prefix of stack names. An environment's own override the top level, prefix by prefix. Default: no limit.",
			anyOf(number(1, declared.MaxStacks), but(mapping(number(1, declared.MaxStacks)), "maxProperties", declared.MaxLimits)), such(20, map[string]any{"": 20, "data/": 1})},
		{"max_failures", "How many stacks may fail before a run begins no other; or how many percent of the stacks of the environment." + ofEnvironment + " Default: any number, so that a failure stops only what depends on the stack.", shareShape, such(3, "5%")},
		{"groups", "Groups of stacks, each with max_parallel: how many of its stacks a run changes at the same time. An environment's own override the top level, group by group.",
			but(named(project.Name.String(), ref("group")), "maxProperties", declared.MaxLimits), such(map[string]any{"databases": map[string]any{"max_parallel": 2}})},
		{"approve_plan", "Whether a person has to approve the plan of a deploy or a destroy before its first step." + ofEnvironment + " Default: false.", truthShape, nil},
		{"approvers", "Patterns of the ARNs of those who may answer; * stands for any text without a slash." + ofEnvironment + " Default: all who may approve.", distinct(textShape), such([]string{"arn:aws:sts::111122223333:assumed-role/release/*"})},
		{"approvals", "How many persons have to approve." + ofEnvironment + " Default: 1.", shape{"type": "integer", "minimum": 1, "maximum": project.MaxApprovals}, nil},
		{"expires", "How long the run waits for approval, from 1m to 168h." + ofEnvironment + " Default: 24h.", durationShape, such("4h")},
		{"not_by_author", "Whether the one who requested the run must not approve it." + ofEnvironment + " Default: false.", truthShape, nil},
		{"on_failure", "What follows a deploy that fails: keep leaves everything as it is; rollback deploys what was last deployed successfully." + ofEnvironment + " Default: keep.", oneOf("keep", "rollback"), nil},
		{"timeout", "The timeout of a run, from 1m to 168h. After that nothing new starts and the run fails." + ofEnvironment, durationShape, such("3h")},
		{"schedules", "Operations that run on a schedule, by name. An environment inherits the schedules of the top level; one with the same name overrides.",
			but(named(declared.ScheduleName.String(), ref("schedule")), "maxProperties", declared.MaxSchedules), such(map[string]any{"nightly": map[string]any{"operation": "deploy", "cron": "0 3 * * ? *"}})},
		{"hooks", "What is called before and after a deploy or a destroy that has steps, and if one of them fails.", ref("project_hooks"), nil},
		{"snapshots", "Which snapshots stackwright snapshots prune keeps." + ofEnvironment + " Default: all.", ref("snapshots"), such(map[string]any{"keep": 10, "for": "90d"})},
	}

	topTable = with([]key{
		{"project", "The project's name.", matching(project.Name.String()), such("shop")},
		{"imports", "Other files of the project whose keys are merged with those of this file. A key that is in two files is refused.", but(distinct(textShape), "maxItems", maxImports), such([]string{"stacks/network.yaml"})},
		{"stacks", "The stacks by name.", shape{"type": "object", "minProperties": 1, "maxProperties": declared.MaxStacks, "propertyNames": stackName, "additionalProperties": ref("stack")},
			such(map[string]any{"network/vpc": map[string]any{"template": "templates/vpc.yaml"}})},
		{"environments", "The environments by name, or by a pattern of names, in which each * stands for any text. default need not be listed.", named(environmentName.String(), ref("environment")), such(map[string]any{"prod": map[string]any{"targets": []string{"prod-eu"}}, "pr-*": map[string]any{"like": "dev"}})},
		{"moved", "Stacks that have another name now and keep their physical names.", but(distinct(ref("move")), "maxItems", declared.MaxMoved), such([]any{map[string]any{"from": "db", "to": "data/db"}})},
		{"calendars", "Days on which schedules may not run, by the name of the calendar.", named(declared.ScheduleName.String(), but(distinct(matching("^[0-9]{4}-[0-9]{2}-[0-9]{2}(/[0-9]{4}-[0-9]{2}-[0-9]{2})?$")), "maxItems", declared.MaxDays)),
			such(map[string]any{"holidays": []string{"2026-12-24/2027-01-01", "2027-05-01"}})},
		{"promote", "The environments through which a deploy goes on by itself: each is promoted to the next one when its deploy has lasted and its alarms are OK. A list of environments, or order with soak and alarms.",
			anyOf(stagesShape, ref("promote")), such([]string{"dev", "staging", "prod"}, map[string]any{"order": []any{"dev", map[string]any{"environment": "staging", "soak": "2h"}, "prod"}, "soak": "30m", "alarms": []string{"shop-errors"}})},
		{"policies", "Conditions that no plan of the project may meet, by name.", but(named(project.Name.String(), ref("policy")), "maxProperties", project.MaxPolicies),
			such(map[string]any{"data": map[string]any{"deny": "plan.data.size() > 0", "message": "Data would be lost: ask the team data."}})},
		{"unchecked", "Resource types, and properties as TYPE.PROPERTY, that are not compared with the schemas that AWS publishes.",
			distinct(matching(declared.UncheckedName.String())), such([]string{"AWS::New::Type", "AWS::SQS::Queue.NewProperty"})},
	}, layerTable)

	environmentTable = with(layerTable, []key{
		{"like", "The environment whose keys this one has too. Its own keys override them.", matching(project.EnvironmentName.String()), such("dev")},
		{"ttl", "How long the environment lives after its last deploy, from " + project.LeastTTL.String() + " to " + project.MostTTL.String() + ". Then all its stacks are destroyed. Default: never, which is for ever.", anyOf(matching(`^([0-9]{1,4}d)?([0-9.]+[a-zµ]+)*$`), oneOf(never)), such("3d", "12h")},
		{"stacks", "Settings of stacks that override the top level in this environment; and stacks, with a template, that only this environment has.",
			shape{"type": []string{"object", "null"}, "maxProperties": declared.MaxStacks, "propertyNames": stackName, "additionalProperties": ref("override")}, nil},
	}, only(settingTable, "parameters", "tags", "targets", "approve"))

	// settingTable has the keys of stacks that defaults may have too.
	settingTable = []key{
		{"parameters", "Parameters of the template. Lists are joined with commas. Write secrets as ${secret:name#key} or ${ssm-secure:path}.", but(optional(mapping(valueShape)), "maxProperties", template.MaxParameters), such(map[string]any{"VpcId": "${network/vpc.VpcId}"})},
		{"ignore_changes", "Parameters that are set when the stack is created: an update keeps the values that they have.", distinct(textShape), such([]string{"DesiredCount"})},
		{"needs", "Stacks that must be deployed first, besides those that this stack refers to or imports from.", distinct(textShape), such([]string{"network/vpc"})},
		{"tags", "Tags of the stack.", but(but(optional(mapping(scalarShape)), "maxProperties", declared.MaxTags), "propertyNames", tagName), such(map[string]any{"team": "shop"})},
		{"capabilities", "Capabilities that you acknowledge.", distinct(option("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")), such([]string{"CAPABILITY_IAM"})},
		{"targets", "The registered targets, each an account and a region, that the stack is deployed to.", distinct(textShape), such([]string{"default"}, []string{"prod-eu", "prod-us"})},
		{"protect", "Whether CloudFormation refuses to delete the stack (termination protection).", truthOption, nil},
		{"timeout", "The timeout of one operation on the stack, from 1m to 168h, such as 30m or 1h30m. Stackwright cancels an update that takes longer; CloudFormation rolls back a creation.", durationOption, such("45m")},
		{"deployment", "CloudFormation's deployment mode: standard, or express, in which an operation ends before the resources are ready.", option("standard", string(project.Express)), nil},
		{"approve", "Which changes of the stack a person has to approve: never; deletions: its deletion; data_loss, replacements: also updates that delete data, or replace resources; drift: also updates of a stack that has drifted; always: each change. Default: never.", option(levels()...), nil},
		{"hooks", "What is called before and after the stack is created, updated (or both: deployed) or deleted permanently.", ref("stack_hooks"), nil},
		{"notifications", "The ARNs of the SNS topics that get CloudFormation's events of the stack, in the region of the stack.", but(distinct(textShape), "maxItems", project.MaxNotifications), such([]string{"arn:aws:sns:${region}:${account}:stack-events"})},
		{"on_failure", "What CloudFormation does with the stack if its creation fails.", option("ROLLBACK", string(project.KeepFailed), string(project.DeleteFailed)), nil},
		{"disable_rollback", "Whether a creation or an update that fails is not rolled back, so that its resources can be examined.", truthOption, nil},
		{"enabled", "Whether deploys and destroys are about the stack. If not, they leave it alone: it is not created, updated or deleted. Default: true.", truthOption, such(false)},
		{"obsolete", "Whether the stack is to be deleted: deploys leave it alone, and stackwright prune deletes it.", truthOption, such(true)},
		{"rollback_triggers", "Alarms that make CloudFormation roll a creation or an update back.", ref("rollback_triggers"), nil},
		{"stack_policy", "A stack policy: which resources an update may change. The policy, the path of a JSON or YAML file of the project that has it, or none.", policyShape,
			such("policies/db.json", map[string]any{"Statement": []any{map[string]any{"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}}})},
		{"stack_policy_during_update", "The stack policy that counts during each update instead, for an intended exception.", policyShape, nil},
		{"group", "The group under groups whose limit the stack has.", anyOf(matching(project.Name.String()), referenceShape), such("databases")},
		{"rollout", "How the stack is deployed to its targets, little by little.", ref("rollout"), such(map[string]any{"max_concurrent": "10%", "max_failures": 2})},
		{"retain", "Logical IDs of resources that stay in AWS if the deletion of the stack fails because of them, such as a bucket with objects.", distinct(textShape), such([]string{"Uploads"})},
		{"resource_types", "The types of resources that a request to CloudFormation may contain. Default: all.", distinct(textShape), such([]string{"AWS::SNS::*", "Custom::*"})},
	}

	// overrideTable has the keys of a stack in an environment.
	overrideTable = with([]key{
		{"template", "The path of the template in the project, its https or s3 URL, or the template itself.", templateShape, such("templates/vpc.yaml")},
		{"stack_name", "The physical name, instead of project-environment-name. References are allowed.", anyOf(matching("^[A-Za-z][-A-Za-z0-9]{0,127}$"), referenceShape), such("legacy-vpc")},
		{"adopt", "Whether a live stack that no project owns becomes this stack, instead of being refused.", truthOption, nil},
		{"import", "Resources that exist and that the stack imports, by their logical IDs in the template: auto, or the properties that identify the resource.",
			but(optional(mapping(anyOf(oneOf("auto"), but(mapping(scalarShape), "minProperties", 1)))), "maxProperties", template.MaxResources), such(map[string]any{"Table": "auto", "Queue": map[string]any{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}})},
		{"move_from", "Resources of other stacks that move into this one: by stack, their logical IDs here by their logical IDs there.",
			optional(mapping(shape{"type": "object", "minProperties": 1, "maxProperties": template.MaxResources, "additionalProperties": shape{"type": "string", "minLength": 1}})), such(map[string]any{"app": map[string]any{"OrdersTable": "Table"}})},
	}, settingTable)

	stackTable = with(overrideTable, []key{
		{"only", "The environments that have the stack. Default: all.", but(distinct(textShape), "minItems", 1), such([]string{"prod"})},
		{"except", "The environments that do not have the stack.", but(distinct(textShape), "minItems", 1), such([]string{"dev"})},
	})

	triggerTable = []key{
		{"alarms", "The ARNs of alarms of CloudWatch.", but(distinct(textShape), "maxItems", project.MaxTriggers), such([]string{"arn:aws:cloudwatch:${region}:${account}:alarm:api-errors"})},
		{"composite_alarms", "The ARNs of composite alarms.", but(distinct(textShape), "maxItems", project.MaxTriggers), nil},
		{"minutes", "How many minutes CloudFormation watches the alarms after the resources are deployed, 0 to " + strconv.Itoa(project.MaxMonitoringMinutes) + ".", anyOf(number(0, project.MaxMonitoringMinutes), textShape), such(10)},
	}

	// waitTable has the keys that promote and one of its environments have in common.
	waitTable = []key{
		{"soak", "How long a deploy of the environment has to last before it is promoted, from 1m to 168h. Default: it is promoted at once.", durationShape, such("30m")},
		{"alarms", "Alarms of CloudWatch that have to be OK then, and that must not have gone off since the deploy: names, or name and target.", alarmsShape, such([]any{"shop-errors", map[string]any{"name": "shop-latency", "target": "prod-eu"}})},
	}

	promoteTable = with([]key{{"order", "The environments, the first one first.", stagesShape, such([]string{"dev", "staging", "prod"})}}, waitTable)

	stageTable = with([]key{{"environment", "The name of the environment.", matching(project.EnvironmentName.String()), such("staging")}}, waitTable)

	alarmTable = []key{
		{"name", "The name of the alarm.", but(textShape, "minLength", 1), such("shop-errors")},
		{"target", "The registered target in whose account and region the alarm is. Default: default.", but(textShape, "minLength", 1), such("prod-eu")},
	}

	rolloutTable = []key{
		{"order", "The waves in which the targets change: patterns of their names, in which * stands for any text and ? for one letter. \"*\" alone is all that no other pattern matches; without it, these come last. Default: one wave.", but(distinct(textShape), "minItems", 1), such([]string{"canary", "eu-*", "*"})},
		{"max_concurrent", "How many targets change at the same time; or how many percent of them, rounded down, but at least one. Default: no limit.", anyOf(shareShape, referenceShape), such(10, "10%")},
		{"bake", "How long the next wave waits after the targets of a wave have changed, from 1m to 168h. Default: it does not wait.", durationOption, such("10m")},
		{"alarms", "The names of alarms of CloudWatch in the account and region of each target. The rollout stops if one of them is in the state ALARM while a wave bakes.", but(distinct(textShape), "maxItems", project.MaxAlarms), such([]string{"api-errors"})},
		{"max_failures", "How many targets may fail before no other begins; or how many percent of them, rounded down. Default: 0.", anyOf(shareShape, referenceShape), such(2, "1%")},
	}

	snapshotsTable = []key{
		{"keep", "The newest snapshots that are kept, 1 to " + strconv.Itoa(plan.MostSnapshots) + ". Default: any number.", number(1, plan.MostSnapshots), such(10)},
		{"for", "How long a snapshot is kept, from " + project.LeastTTL.String() + " to " + project.MostTTL.String() + ". Default: for ever.", matching(`^([0-9]{1,4}d)?([0-9.]+[a-zµ]+)*$`), such("90d")},
	}

	groupTable = []key{
		{"max_parallel", "How many stacks of the group a run changes at the same time.", number(1, declared.MaxStacks), such(2)},
	}

	moveTable = []key{
		{"from", "The name that the stack had.", stackName, nil},
		{"to", "The name that the stack has.", stackName, nil},
	}

	scheduleTable = []key{
		{"operation", "deploy deploys what was last deployed, destroy deletes all stacks, refresh reads them, check compares them with their records, drift compares their resources with the templates.", oneOf(plan.AllOperations().Schedulable()...), nil},
		{"cron", "Minutes, hours, day of the month, month, day of the week, year, as EventBridge Scheduler reads them.", matching(`^\S+( +\S+){5}$`), such("0 3 * * ? *")},
		{"rate", "The interval. The first run is one interval after the deploy.", matching("^[1-9][0-9]{0,4} (minute|hour|day)s?$"), such("30 minutes", "12 hours", "1 day")},
		{"once", "A date and a time of day.", textShape, such("2026-12-31T18:00:00")},
		{"time_zone", "The time zone of cron and once. Default: UTC.", shape{"type": "string", "minLength": 1}, such("Europe/Berlin")},
		{"except", "Calendars on whose days, in the time zone of the schedule, it does not run.", distinct(textShape), such([]string{"holidays"})},
	}

	policyTable = []key{
		{string(project.Deny), "An expression in CEL: a plan for which it is true is refused.", policyText, nil},
		{string(project.Warn), "An expression in CEL: a plan for which it is true has a warning.", policyText, nil},
		{"message", "Why, and what to do.", policyText, nil},
	}

	// hookTable has the keys of hooks of all types.
	hookTable = []key{
		{"name", "The name of the hook, among those of the stack or of the project.", matching(project.Name.String()), such("migrate")},
		{"payload", "Values that are passed on.", but(optional(mapping(scalarShape)), "maxProperties", project.MaxPayload), such(map[string]any{"endpoint": "${db.Endpoint}"})},
		{"timeout", "How long the hook may take, from 1m to 168h. Default: " + project.DefaultHookTimeout.String() + ".", durationOption, such("30m")},
		{"on_error", "Whether a failure of the hook fails its step. Default: fail.", oneOf("fail", "ignore"), nil},
		{"if", "An expression in CEL over project, environment and stack. The hook is left out if it is false.", policyText, such("environment == 'prod'")},
		{"cache_key", "The hook is called when this value changes, also if its stack does not, and skipped while it is that of the last success.", scalarShape, such("${file:schema.version}")},
	}
)

// The keys of a project file.
var (
	topKeys         = namesOf(topTable)
	environmentKeys = namesOf(environmentTable)
	stackKeys       = namesOf(stackTable)
	overrideKeys    = namesOf(overrideTable)
	defaultKeys     = namesOf(settingTable)
	triggerKeys     = namesOf(triggerTable)
	rolloutKeys     = namesOf(rolloutTable)
	groupKeys       = namesOf(groupTable)
	snapshotsKeys   = namesOf(snapshotsTable)
	promoteKeys     = namesOf(promoteTable)
	stageKeys       = namesOf(stageTable)
	alarmKeys       = namesOf(alarmTable)
	moveKeys        = namesOf(moveTable)
	scheduleKeys    = namesOf(scheduleTable)
	policyKeys      = namesOf(policyTable) // of which it has one of the levels
	hookKeys        = namesOf(hookTable)   // besides, a hook has the name of its type, and the keys of that type
)

func levels() []string {
	all := []string{"never"}
	for _, l := range project.ApprovalLevels() {
		if l != project.ApproveNever {
			all = append(all, string(l))
		}
	}
	return all
}

const readThePlan = "remove it, and read the plan before you deploy"

// The keys that are not supported yet, with what to do until then.
var (
	topLater = map[string]string{
		"approve": `write it under the stacks, under an environment, or under defaults: {"": {approve: …}}`,
		"notify":  "remove it",
		"review":  readThePlan,
		"targets": "register targets with stackwright targets add, and name them under targets: of a stack, of defaults: or of an environment",
	}
	environmentLater = map[string]string{
		"notify": "remove it",
		"queue":  "remove it",
		"review": readThePlan,
	}
	// elsewhere has keys of other tools, and the keys that mean the same here.
	elsewhere = map[string]string{
		"depends_on": "needs", "dependencies": "needs", "termination_protection": "protect", "role_arn": "targets",
	}
	stackLater = map[string]string{
		"drift":   "remove it, and write operation: drift under schedules:",
		"review":  readThePlan,
		"suspend": "remove it",
	}
)
