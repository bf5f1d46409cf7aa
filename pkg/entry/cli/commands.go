package cli

import (
	"math"

	"github.com/stackwright/stackwright/pkg/run"
)

// The groups of commands in the help.
const (
	groupChange  = "Change stacks:"
	groupControl = "Control runs:"
	groupShow    = "Show:"
	groupInstall = "Installations:"
	groupOther   = "About this program:"
)

// What the help of several commands says.
const (
	ofDir = `

DIR is the folder of the project file stackwright.yaml, or that file; FILE is a ZIP or TAR archive of the folder, or a YAML
file that is the whole project. A folder or an archive of CloudFormation templates is a project too, without a project file, and so is a project of Sceptre,
or the folder cdk.out of the CDK.
Without DIR it is the nearest folder, from the current one upwards, that has a
stackwright.yaml, or else the current one if it is a project of Sceptre.`
	ofRun = `

RUN is the ID of a run, or its beginning if only one run has it.`
	ofRev = `

A revision is what a run has deployed: the project's files, with the values from outside the project that it has read. It is named by the
ID of the run, or its beginning if no other revision's begins so; or by current, which was deployed last, successfully and to all stacks; previous, the one
before that, or, if something else has failed since, current; or current~1, current~2 and so on. They count what has changed something, each once. After a rollback, previous
is what it has replaced.`
	ofLists = `

DIR or FILE says which project it is; without it, it is the project of --project, or of the current folder, or else all. Without --env it lists those of all environments.`
	ofHere = `

DIR or FILE says which project it is, with the environment of --env. Without it, it is the project of --project; or without that, of the current folder, as for
deploy; or else the only one that has had runs.`
	ofProject = `

It is about the project of --project and the environment of --env; without --project about the project of the current folder, as deploy is; or else about the only one that
has had runs.`
	asksBefore = `On a terminal, if it deletes a stack, replaces a resource or may lose data, it shows its plan
first, asks, and carries out exactly that plan. With --yes, and without a terminal, it does not ask: it says what is lost
before its first step, and in its messages.`
	codes = `

It follows the run to its end. For its exit codes, see: stackwright help exit-codes`
)

// commands are all the commands, in the order in which they are shown.
func commands() []command {
	return []command{
		{
			name: "deploy", args: "[DIR|FILE]", most: 1, group: groupChange, short: "create, update and delete stacks so that they match the project",
			flags: "env.files " + sceptred + "only changed-since.files " + selected + "adopt.deploy skip max-deletions plan.saved rollback.failed refuse while-suspended yes " + watching + where + hosted, run: deploy,
			long: `Checks the project, uploads it, and follows the run that the upload starts. If the project has errors, it reports all of
them and sends no request to AWS. A deploy that would delete more stacks than allowed is refused: max_deletions in the
project file sets the limit, --max-deletions overrides it once.

` + asksBefore + `

--skip STACK.RESOURCE is for a stack that is UPDATE_ROLLBACK_FAILED because of this resource. CloudFormation then takes it for
restored, though it may differ from the template: correct it afterwards. It is approved like a data loss.

A newer upload supersedes an older one: a deploy that is running starts no further step, and a queued one does not start.
If a deploy would supersede the run of another user, the command names that user and asks for confirmation, unless --yes is given. With
--rollback, --refuse, --adopt, --skip, --max-deletions, --while-suspended, or some stacks only, deploy is a request and not an upload: it is queued, supersedes
no run, and is not superseded.

With --only, --exclude or --changed-since it deploys some stacks, and leaves all others as they are. It adds the dependencies of the selected
stacks, unless --with-dependencies=false is given; a dependency that is left out must be deployed already.

With --plan it carries out a plan that plan --out has written, with the files of that plan. If the deploy would do anything
else, because the project or a stack in AWS has changed since, it is refused and says what has changed.` + ofDir + codes,
			examples: []string{"deploy", "deploy examples/shop --env prod", "deploy --only data/,network/vpc --rollback", "deploy --plan shop.plan", "deploy shop.zip --endpoint http://127.0.0.1:4566", "deploy examples/shop --installation stackwright -o json"},
		},
		{
			name: "plan", args: "[DIR|FILE]", most: 1, group: groupChange, short: "show what deploy would change",
			flags: "env.files " + sceptred + "only changed-since.files " + selected + "adopt.deploy skip max-deletions rollback.failed exact out.plan exit-code yes.none " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Shows what a deploy would change now: stacks, parameters, resources and their properties, and which data would be lost.
It takes no lock, changes nothing, and does not ask CloudFormation what an update would do: it is an estimate. A stack marked ~? may
change: its template and parameters are unchanged, but they use a stack that changes. With --exact it asks CloudFormation about each
update whose parameters are known, with a change set that it deletes afterwards, and says where the estimate was another. With
--exit-code, the exit code is 5 if there are changes, certain or possible. -o markdown is for a comment on a pull request.
With --out it also writes the plan into a file; deploy --plan then does exactly that.` + ofDir + codes,
			examples: []string{"plan", "plan examples/shop --exit-code -o json", "plan examples/shop --env prod -o markdown", "plan examples/shop --exact", "plan examples/shop --out shop.plan"},
		},
		{
			name: "cost", operation: "plan", args: "[DIR|FILE]", most: 1, group: groupChange, short: "estimate what deploy would add to what the stacks cost a month",
			flags: "env.files " + sceptred + "only changed-since.files " + selected + "adopt.deploy max-deletions link yes.none " + watching + where + hosted, run: showsCost, shows: (*session).printCost,
			long: `Makes the plan of a deploy, as plan does, and shows what it would add a month, or save: by stack and resource, before, after, and the difference. It changes
nothing. It is an estimate, from a table of public on-demand prices in this program: for what runs all the time, such as instances, databases,
volumes, gateways and keys, 730 hours a month. What is charged by use, such as requests and traffic, is named and not estimated; what has no known
price, or depends on a value that is not known yet, is said, and never counted as nothing. Where a price in the region is not known, it is that of
us-east-1. The text shows each stack with its amounts and the resources that change them: what each adds, the prices and counts in it, what was assumed,
what is not known and why, and what is charged by use. A stack that is not compared has no difference. The last line has the sum, and counts what is not in it.
With --link it also shows CloudFormation's own link for each stack, to AWS's calculator.` + ofDir + codes,
			examples: []string{"cost", "cost examples/shop --env prod", "cost examples/shop -o json", "cost --only data/ --link --installation stackwright"},
		},
		{
			name: "destroy", args: "[DIR|FILE]", most: 1, group: groupChange, short: "delete all stacks of the project",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents refuse plan.destroy exit-code.plan yes " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes every stack that is recorded for the project and environment, dependents before their dependencies. It shows the plan and asks first,
unless --yes is given. With --only it deletes some stacks; it is refused if another stack depends on them. With --plan it
shows which stacks and which data would be deleted, and deletes nothing; --exit-code and -o markdown are for such a plan.` + ofDir + codes,
			examples: []string{"destroy examples/shop --plan", "destroy examples/shop --yes", "destroy --env test --only ops/"},
		},
		{
			name: "rollback", operation: "rollback-to", args: "[DIR|FILE]", most: 1, group: groupChange, short: "deploy the files of an earlier revision again",
			flags: "to only " + selected + "skip max-deletions reason rollback.failed refuse while-suspended plan.back exit-code.back yes " + recorded + watching + where + hosted, run: rollBack,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deploys the files of a revision again, with the values from outside the project that it was deployed with. It is a deploy in all
else: it is planned for the stacks as they are now, approved if the project demands it, checked by policies, and refused if it would delete more stacks than
max_deletions allows. Data is restored from the backups of the snapshot where a parameter of a stack has the value ${restored:RESOURCE}: CloudFormation then replaces the resource. With --plan it shows what would
be changed, deleted, restored and lost, and changes nothing; --exit-code and -o markdown are
for such a plan.

` + asksBefore + ofHere + ofRev + codes,
			examples: []string{"rollback --plan", "rollback", "rollback --to mfrg --project shop --env prod", "rollback examples/shop --env prod --to current~2 --reason 'orders fail'"},
		},
		{
			name: "promote", args: "[DIR|FILE]", most: 1, group: groupChange, short: "deploy what succeeded in one environment to another one",
			flags: "from to.promote revision skip max-deletions reason rollback.failed refuse while-suspended plan.back exit-code.back yes project " + watching + where + hosted, run: promote,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deploys the files that were deployed last to all stacks of one environment, successfully, to another environment of the project: the same
files, with the variables, targets and settings that they have for that environment. Values from outside the project are read again. It is a deploy in all else: planned,
approved if that environment demands it, checked by policies, and queued behind other runs. With --plan it shows what would be changed, deleted and lost, and changes nothing.

` + asksBefore + `

It is refused, with all reasons, if the newest deploy of the environment that is promoted has failed or is not over, or if what the other one has is newer. --revision names the
revision nevertheless, which must have been deployed successfully to all stacks.

DIR or FILE says which project it is. Without it, it is the project of --project; or without that, of the current folder, as for deploy; or else the only one that
has had runs in the environment.` + ofRev + codes,
			examples: []string{"promote --from staging --to prod --plan", "promote --from staging --to prod", "promote examples/shop --from dev --to staging --revision mfrg --reason 'without the last change'"},
		},
		{
			name: "extend", args: "[DIR|FILE]", most: 1, group: groupChange, short: "set until when an environment lives",
			flags: "for until.extend reason " + recorded + "yes.none " + watching + where + hosted, run: extend,
			long: `Sets until when an environment lives that was deployed with a ttl. It takes no lock and changes no stack. It never ends the environment earlier: for
that, use destroy. The next deploy gives it its ttl again, unless it lives longer then.` + ofHere + codes,
			examples: []string{"extend --env pr-42 --for 2d", "extend --project shop --env pr-42 --until 2026-12-24 --reason 'the demo is on Friday'"},
		},
		{
			name: "snapshot", args: "NAME", least: 1, most: 1, group: groupChange, short: "give a name to the revision that is deployed, and back up data", completes: noWords,
			flags: "no-backups reason refuse " + recorded + "yes.none " + watching + where + hosted, run: onSnapshot,
			long: `Makes a snapshot: a name for the revision that was deployed last, successfully and to all stacks. The files of the revision, and the values from
outside the project that it was deployed with, stay until the snapshot is deleted, also when its run is deleted. restore deploys them again. Where stacks hold
data in databases, native backups are made, unless --no-backups is given; the owner of the installation says for which projects. If one of them fails, there is no snapshot, and the
others are deleted. NAME has letters, digits, - and _, at most 64, and no other snapshot of the project and environment has it. snapshots lists them.` + ofProject + codes,
			examples: []string{"snapshot before-migration", "snapshot 2026-03-01 --project shop --env prod --reason 'before the new orders table'"},
		},
		{
			name: "restore", args: "NAME", least: 1, most: 1, group: groupChange, short: "deploy the files of a snapshot again", completes: snapshotNames,
			flags: "only " + selected + "max-deletions reason rollback.failed refuse while-suspended plan.back exit-code.back yes " + recorded + watching + where + hosted, run: onSnapshot,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deploys the files of the revision that a snapshot names, with the values from outside the project that it was deployed with. It is a
rollback to that revision: it is planned for the stacks as they are now, approved if the project demands it, checked by policies, and refused if it would delete more stacks than
max_deletions allows. Where a parameter has the value ${restored:RESOURCE}, CloudFormation replaces the resource by one with the data of the backup, and what was
written since is lost; the plan says what is restored and what is not. With --plan it shows what would be changed, deleted and lost, and changes nothing; --exit-code and -o markdown are
for such a plan.

` + asksBefore + ofProject + codes,
			examples: []string{"restore before-migration --plan", "restore before-migration --project shop --env prod --reason 'orders fail'"},
		},
		{
			name: "refresh", args: "[DIR|FILE]", most: 1, group: groupChange, short: "read the live stacks into the records",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents refuse yes.none " + watching + where + hosted, run: request,
			long:     `Reads every recorded stack as it is now. It changes records, never stacks.` + ofDir + codes,
			examples: []string{"refresh examples/shop --env prod"},
		},
		{
			name: "check", args: "[DIR|FILE]", most: 1, group: groupChange, short: "compare the live stacks with their records",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents refuse yes.none " + watching + where + hosted, run: examine,
			long: `Compares every recorded stack with the live one: whether it exists, belongs to the project, was left well by its last operation, was
changed outside Stackwright, and has the recorded outputs. The run fails if one is not as recorded, and says what to do. It changes neither stacks
nor records. Without --env it compares those of all environments, a run each.` + ofDir + codes,
			examples: []string{"check", "check examples/shop --env prod --only data/"},
		},
		{
			name: "drift", args: "[DIR|FILE]", most: 1, group: groupChange, short: "find what was changed in resources without CloudFormation",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents reason refuse while-suspended revert plan.revert exit-code.drift accept out.accept run.accept yes.none " + watching + where + hosted, run: drift,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Has CloudFormation compare the resources of all recorded stacks with their templates, at once, and prints each property that
differs, as expected and as it is. It changes no stack, and records which stacks have drifted: a deploy that would update one of them says so. With
--exit-code, the exit code is 5 if a stack has drifted. Without --env it is about all environments of the project, a run each; --revert and --accept are
about one. Nested stacks are compared, too. CloudFormation compares only properties that the template has, and
not all types of resources. It reads them with the permissions of Stackwright, which the owner of the installation grants with the setting driftPolicies.

With --revert it reverts the drift that the last detection has found, with a change set for each stack that compares the deployed template with the live resources.
It deploys nothing new, waits for approval where the stacks demand it, and says what CloudFormation does not revert. With --plan it shows these change sets and executes none.

With --accept it then writes a copy of each template whose values have drifted, with the live values in their places, into the folder of --out. It
changes no file of the project: compare the copies with your templates, copy those that you want over them, and deploy. Comments and all other
bytes of a template stay. What cannot be written is listed with its place and what to do: values that functions or parameters make, values that may
be secret or are too long, resources that were deleted, and values that other stacks with the same template do not have. The exit code is 0 if all drift
was written, or if there was none, and 5 if some is left. With --run it uses what an earlier run has found.` + ofDir + codes,
			examples: []string{"drift", "drift examples/shop --env prod --only data/", "drift --exit-code -o json", "drift --revert --plan", "drift --revert --only data/queue", "drift examples/shop --accept --out accepted", "drift --accept --run mfrg --out accepted"},
		},
		{
			name: "suspend", args: "[DIR|FILE]", most: 1, group: groupChange, short: "stop what costs money in the stacks, until resume",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents reason refuse plan.suspend yes.none " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Stops what runs in the recorded stacks, dependents before their dependencies. The sizes and states from before are recorded first, and resume
brings exactly these back. Deploys are refused meanwhile, unless --while-suspended is given. The owner of the installation says
which projects may be suspended.` + ofDir + codes,
			examples: []string{"suspend --env dev", "suspend --env dev --plan", "suspend examples/shop --env dev --only web/ --reason 'holidays'"},
		},
		{
			name: "resume", args: "[DIR|FILE]", most: 1, group: groupChange, short: "start what suspend has stopped, as it was before",
			flags: "env.files " + sceptred + "only.records exclude with-dependencies.records with-dependents reason refuse plan.resume yes.none " + watching + where + hosted, run: request,
			outputs:  []string{"text", "json", "yaml", "markdown"},
			long:     `Starts what is stopped in the suspended stacks, dependencies before their dependents, and waits until it runs.` + ofDir + codes,
			examples: []string{"resume --env dev", "resume --env dev --plan", "resume examples/shop --env dev --only data/"},
		},
		{
			name: "adopt", args: "[DIR|FILE]", most: 1, group: groupChange, short: "take over stacks that exist and that no project owns",
			flags: "env.files " + sceptred + "only.adopt exclude with-dependencies.records with-dependents reason refuse plan.adopt yes.none " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Records the live stacks that the project describes, as the stacks of the project. Nothing in AWS is changed: the next deploy
updates only what differs from the project, and our tags come with the first update that is needed anyway. With --plan it
shows what differs. It is refused, with all reasons, for stacks that do not exist, that another project owns, that are busy, or whose
template cannot be read. With --only it adopts some stacks.` + ofDir + codes,
			examples: []string{"adopt examples/shop --plan", "adopt --env prod --only data/", "adopt --only data/db --reason 'from the data team'"},
		},
		{
			name: "prune", args: "[DIR|FILE]", most: 1, group: groupChange, short: "delete the stacks that the project calls obsolete",
			flags: "env.files " + sceptred + "only.prune exclude with-dependents reason refuse plan.prune exit-code.plan yes " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes the recorded stacks that have obsolete: true in the project, dependents before their dependencies, and changes no other
stack. Deploys leave these stacks alone. It shows the plan and asks first, unless --yes is given. It is refused if a stack that is not obsolete depends on one. With --only it deletes some
of them. With --plan it shows which stacks and which data would be deleted, and deletes nothing; --exit-code and -o markdown are for such a plan.` + ofDir + codes,
			examples: []string{"prune examples/shop --plan", "prune examples/shop --yes", "prune --env test --only ops/"},
		},
		{
			name: "replace", args: "STACK...", least: 1, most: mostStacks, group: groupChange, short: "delete stacks and create them again", completes: recordedStacks, selects: true,
			flags: "files env.files " + sceptred + "retain exclude with-dependencies.records with-dependents max-deletions while-suspended reason refuse plan.replace exit-code.plan yes " + watching + where + hosted, run: request,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes the stacks and creates them again, as the project says now. Stacks that import from them are deleted before and
created again after, because CloudFormation deletes no stack whose exports are in use; other dependents are updated after. Their data is
lost, except for resources that --retain names: these stay in AWS, and the new stacks import them. Such a resource needs
DeletionPolicy: Retain, deployed before, and a type that CloudFormation imports.

It shows the plan and asks first, unless --yes is given. It is refused, with all reasons, for stacks that are protected, left alone or obsolete, if a stack
outside the project imports from one of them, and if more stacks than max_deletions would be deleted. Stacks with approve: wait for
approval, as for a deletion. With --plan it shows all that, and which data would be lost, and changes nothing. If it fails, a retry
continues it, and so does a deploy.` + codes,
			examples: []string{"replace app/web --plan", "replace app/web data/db --files examples/shop --env prod --reason 'a new subnet'", "replace data/db --retain Table"},
		},
		{
			name: "forget", args: "STACK...", least: 1, most: mostStacks, group: groupChange, short: "delete the records of stacks, which stay in AWS", completes: recordedStacks, selects: true,
			flags: "exclude with-dependencies.records with-dependents reason refuse plan.forget while-suspended yes " + recorded + watching + where + hosted, run: forget,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes the records of stacks: Stackwright no longer manages them. The stacks stay in AWS as they are, with all their tags.
It is refused while an operation on such a stack is in progress, and if other recorded stacks depend on one. A deploy of
files that still contain the stack is refused from then on, until adopt takes it back.

STACK is the name of a stack in the project; network/ means all below it. On a terminal it asks first, unless --yes is given. With
--plan it shows what would be forgotten.` + codes,
			examples: []string{"forget data/db --plan", "forget data/db --reason 'moves to the data team'", "forget network/ --project shop --env prod"},
		},

		{
			name: "retry", args: "[RUN]", most: 1, group: groupControl, short: "repeat a run's operation with the same files", completes: runIDs,
			flags: "max-deletions skip rollback.failed refuse force.retry while-suspended yes " + recorded + watching + where + hosted, run: runCommand{which: failedRun, anew: true, confirm: confirmRetry}.give,
			long: `Creates a new run of the same operation with the same files. Stacks that have not changed get no step, and steps
that failed are tried again. It is refused if something newer was deployed since, unless --force is given.` + ofRun + `
Without RUN it is the newest run that failed and that was not repeated, if only one project has such a run. If that run deletes stacks, it is refused without a
terminal, unless --yes is given.

On a terminal it shows the plan of the operation and asks when the command for this operation would.` + codes,
			examples: []string{"retry", "retry mfrggzdfmztwq2lknnwg", "retry mfrg --force"},
		},
		{
			name: "pause", args: "[RUN]", most: 1, group: groupControl, short: "pause a run: start no further step", completes: runIDs,
			flags: "reason " + recorded + "yes.none " + watching + where + hosted, run: runCommand{which: openRun, success: run.StateWaiting, done: finished}.give,
			long:     `The running steps finish, and no further step starts: the run waits for continue. The exit code is 0 when the run waits.` + ofRun + "\nWithout RUN it is the newest run that has not ended, and that waits in no queue behind another one, if only one project has such a run.",
			examples: []string{"pause", "pause mfrggzdfmztwq2lknnwg --reason 'see the metrics first'"},
		},
		{
			name: "continue", args: "[RUN]", most: 1, group: groupControl, short: "continue a paused run", completes: runIDs,
			flags: "reason " + recorded + "yes.none " + watching + where + hosted, run: runCommand{which: pausedRun, done: answered}.give,
			long:     `Continues a paused run.` + ofRun + "\nWithout RUN it is the newest paused run, if only one project has such a run." + codes,
			examples: []string{"continue", "continue mfrggzdfmztwq2lknnwg"},
		},
		{
			name: "approve", args: "[RUN]", most: 1, group: groupControl, short: "approve what a run that waits for it would do", completes: runIDs,
			flags: "reason step yes " + recorded + watching + where + hosted, run: runCommand{which: askingRun, done: answered, confirm: approvePlan}.give,
			long: `Shows what the plan of the run would change, asks for confirmation, unless --yes is given, and approves exactly this plan, or what it
does with the stacks that wait: the run continues. The plan marks what waits for your approval. With --step, it is only what one of them waits for. If the project file says who may approve, the answer has to go through the API, which knows who you are: without --direct.` + ofRun + "\nWithout RUN it is the newest run that waits for approval, if only one project has such a run." + codes,
			examples: []string{"approve", "approve mfrggzdfmztwq2lknnwg --reason 'reviewed with the team'", "approve mfrggzdfmztwq2lknnwg --step db/approve"},
		},
		{
			name: "reject", args: "[RUN]", most: 1, group: groupControl, short: "reject what a run that waits for approval would do", completes: runIDs,
			flags: "reason step " + recorded + "yes.none " + watching + where + hosted, run: runCommand{which: askingRun, success: run.StateFailed, done: answered}.give,
			long: `The run ends as failed. If the whole plan waited, it has changed nothing. If stacks waited, they are not changed, and neither are those
that depend on them; the steps of other stacks go on first. A reason is required, and recorded with the run. The exit code is 0 when the run
has ended.` + ofRun + "\nWithout RUN it is the newest run that waits for approval, if only one project has such a run.",
			examples: []string{"reject --reason 'it replaces the table'", "reject mfrggzdfmztwq2lknnwg --reason 'not on a Friday'"},
		},
		{
			name: "cancel", args: "[RUN]", most: 1, group: groupControl, short: "end a run early", completes: runIDs,
			flags: "reason rollback.cancel force.cancel yes " + recorded + watching + where + hosted, run: runCommand{which: openRun, success: run.StateCancelled, done: over, confirm: confirmCancel}.give,
			long: `The running steps finish, and all others are skipped. A queued run leaves the queue. With --force, CloudFormation also cancels
the updates in progress and rolls them back; it never interrupts a creation or a deletion. With --rollback, a deploy is
followed by a rollback to the last successful deploy. The exit code is 0 when the run is cancelled and the rollback, if
there is one, has succeeded.` + ofRun + "\nWithout RUN it is the newest run that has not ended, and that waits in no queue behind another one, if only one project has such a run: on a terminal, cancel then asks first, unless --yes is given.",
			examples: []string{"cancel", "cancel mfrggzdfmztwq2lknnwg --force", "cancel mfrg --rollback --reason 'wrong branch'"},
		},
		{
			name: "unlock", args: "[RUN]", most: 1, group: groupControl, short: "end a run that does not respond, and release its lock", completes: runIDs,
			flags: "reason " + recorded + "yes.none " + watching + where + hosted, run: runCommand{which: lockOwner, success: run.StateCancelled, done: over, unreadable: release}.give,
			long: `Ends a run that holds its project's lock as cancelled, even if its execution does not respond. The next run in the queue
then gets the lock. Operations in progress in CloudFormation continue, and the next run waits for them. A reason is required, and
recorded with the run. If the run responds, use cancel.

The exit code is 0 when the run has ended, and 2 if no run holds a lock, or the given run does not.` + ofRun + "\nWithout RUN it is the only run that holds a lock.",
			examples: []string{"unlock --reason 'no progress since noon'", "unlock mfrggzdfmztwq2lknnwg --reason 'the role was deleted'"},
		},

		{
			name: "status", args: "[RUN]", most: 1, group: groupShow, short: "show a run, and what needs attention", completes: runIDs,
			flags: "follow " + recorded + watching + where + hosted, run: status,
			long: `Shows the state of a run, with the reasons of its failures. Without RUN it shows first, for each project and environment,
what needs attention: the newest deploy or destroy that failed, until one succeeds; and which run holds the lock,
which ones are queued, and what each of them does; and then the newest run. If that run has ended, and an older one of its project
waits for a person, it shows the one that waits, with the commands that answer it.` + ofRun,
			examples: []string{"status", "status mfrggzdfmztwq2lknnwg --follow"},
		},
		{
			name: "report", args: "[RUN]", most: 1, group: groupShow, short: "print a run as one file of HTML", completes: runIDs,
			flags: recorded + where, run: writeReport,
			long: `Prints a run as one HTML file, which needs neither scripts nor a network: its failures, what its plan changes, its graph and
timeline, its steps, and the log: write it into a file that a browser opens. Without RUN it is the newest run.` + ofRun,
			examples: []string{"report", "report mfrggzdfmztwq2lknnwg"},
		},
		{
			name: "timeline", args: "[RUN]", most: 1, group: groupShow, short: "show when the steps of a run were started and ended", completes: runIDs,
			flags: recorded + "output " + where, run: drawTimeline, outputs: []string{"text", "json", "yaml", "mermaid", "svg"},
			long: `Shows when each step of a run was started and ended, by account and region. A full bar is a step that decided when the run
ended, and dots show how long a step could have started, and waited. -o svg prints a drawing, and mermaid the text of one. Without RUN it
is the newest run.` + ofRun,
			examples: []string{"timeline", "timeline mfrggzdfmztwq2lknnwg -o svg"},
		},
		{name: "runs", group: groupShow, short: "list the runs, newest first", flags: recorded + "operation state who since until " + listed + "output " + where, run: listRuns,
			long:     `Lists the runs of all projects, newest first, or those that the flags select. --since and --until are about when a run was requested.`,
			examples: []string{"runs", "runs --project shop --env prod -o json", "runs --state failed --since 7d", "runs --who ann --sort -took --limit 10"}},
		{name: "events", group: groupShow, short: "list what has happened to runs and their steps", flags: recorded + "stack.events event since until " + listed + "output " + where, run: listEvents,
			long: `Lists what has happened to the runs of all projects and to their steps, of the newest run first, or what the flags select. Of a run it lists the
newest 200 of them. To follow a run: status RUN --follow.`,
			examples: []string{"events --since 2h", "events --project shop --stack data/db --event step_ended -o json"}},
		{name: "stacks", group: groupShow, short: "list the recorded stacks", flags: recorded + "target stack tag status changed-since " + listed + "output " + where, run: listStacks,
			long:     `Lists the recorded stacks, with their current status in CloudFormation, which it reads with your own permissions, or those that the flags select.`,
			examples: []string{"stacks", "stacks --project shop -o json", "stacks --status 'UPDATE_*' --tag team=web", "stacks --changed-since 1d --sort -changed"}},
		{name: "environments", group: groupShow, short: "list the environments that live, and until when", flags: recorded + listed + "output " + where, run: listEnvironments,
			long: `Lists the environments that have stacks, or an end, with the pattern under environments that each fits, until when it lives, how many stacks it has, and who deployed
it last. What has no end lives for ever.`,
			examples: []string{"environments", "environments --project shop --sort expires", "environments -o json"}},
		{name: "resources", group: groupShow, short: "list the resources of the recorded stacks", flags: recorded + "target stack type physical-id " + listed + "output " + where, run: listResources,
			long: `Lists the resources of the recorded stacks, as CloudFormation reports them now, or those that the flags select. It reads them with your own permissions, one
request for each stack: name a project or a stack where there are many.`,
			examples: []string{"resources --project shop --env prod", "resources --type 'AWS::RDS::*'", "resources --physical-id 'vpc-0a1*' -o json"}},
		{name: "audit", group: groupShow, short: "list who requested which change, newest first", flags: recorded + "output " + where, run: listAudit,
			long: `Lists the changes that were requested, newest first: runs, commands such as cancel and unlock, and answers to approvals, with who
requested each, when, from which IP address and why. What was refused is listed too, if it became a run. It goes back 90 days after the end of
a run. Without --project and --env, it also lists the changes of the installation: targets, the access file and policies.`,
			examples: []string{"audit", "audit --project shop --env prod -o json"}},
		{name: "history", args: "STACK", least: 1, most: 1, group: groupShow, short: "list what runs did to a stack, newest first", completes: recordedStacks,
			flags: recorded + "output " + where, run: listHistory,
			long: `Lists the steps of runs that changed a stack, or tried to, newest first, with who requested the run. STACK is its name in the
project, also of a stack that is deleted. It goes back 90 days, or to the update of the installation that began to record it.`,
			examples: []string{"history data/db", "history data/db --project shop --env prod -o json"}},
		{name: "revisions", args: "[DIR|FILE]", most: 1, group: groupShow, short: "list what was deployed, newest first",
			flags: "limit.revisions before " + recorded + "output " + where, run: listRevisions,
			long: `Lists the revisions of projects, newest first: what runs have deployed, or have started to deploy, each configuration once, with its newest
run. DEPLOYED marks the one that was last deployed successfully to all stacks. Runs are kept for 90 days; the newest 20 revisions that were deployed
successfully stay longer.` + ofLists + ofRev,
			examples: []string{"revisions", "revisions examples/shop --env prod", "revisions --project shop --env prod --limit 5 -o json"}},
		{name: "snapshots", args: "[DIR|FILE]", most: 1, group: groupShow, short: "list the snapshots, newest first",
			flags: recorded + "output " + where, run: listSnapshots,
			long: `Lists the snapshots of projects, each project's newest first: the name, the revision that a restore deploys, how many backups it has, and who made it, when and why.
With -o json, their ARNs are listed. DEPLOYED marks those whose revision was last deployed successfully to all stacks.` + ofLists,
			examples: []string{"snapshots", "snapshots --project shop --env prod -o json"}},
		{name: "prune", parent: "snapshots", operation: "prune-snapshots", args: "[DIR|FILE]", most: 1, short: "delete the snapshots that the project does not keep",
			flags: "reason refuse plan.kept exit-code.kept yes " + recorded + watching + where + hosted, run: pruneSnapshots,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes the snapshots, with their backups, that the project file does not keep: those that are not among the newest (snapshots: with keep:), and those that are
older (for:). The files that were deployed last count. A snapshot whose backup a stack was restored from, or refers to, stays, and a message names it. With --plan it
shows each snapshot, whether it would be deleted and why, and each backup, and deletes nothing; --exit-code and -o markdown are for such a plan. On a terminal it shows the plan and asks first, unless --yes is given.` + ofProject + codes,
			examples: []string{"snapshots prune", "snapshots prune --plan", "snapshots prune --project shop --env prod --yes"}},
		{name: "delete", parent: "snapshots", operation: "delete-snapshot", args: "NAME", least: 1, most: 1, short: "delete a snapshot", completes: snapshotNames,
			flags: "keep-backups reason refuse plan.kept exit-code.kept yes " + recorded + watching + where + hosted, run: onSnapshot,
			outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Deletes a snapshot and its backups, which cannot be undone; with --keep-backups, the backups stay in AWS. Its revision does not stay longer than others. The stacks stay as they are. A snapshot
whose backup a stack was restored from, or refers to, is refused. With --plan it shows the snapshot and each backup that would be deleted, and deletes nothing; --exit-code and -o markdown are for
such a plan. On a terminal it shows the plan and asks first, unless --yes is given.` + ofProject + codes,
			examples: []string{"snapshots delete before-migration --plan", "snapshots delete 2026-03-01 --project shop --env prod --yes"}},
		{name: "diff", args: "REVISION [REVISION]", least: 1, most: 2, group: groupShow, short: "show what differs between two revisions", completes: revisionWords,
			flags: recorded + "output " + where, run: compareRevisions, outputs: []string{"text", "json", "yaml", "markdown"},
			long: `Shows what differs between the files of two revisions: which stacks were added, removed or changed, which of their parameters, tags and other
keys, and the templates. With one REVISION it compares that with the current one. It shows no values of parameters and tags. REVISION may also be the ID of a run
that has read files and deployed none, such as a plan.` + ofProject + ofRev,
			examples: []string{"diff previous", "diff previous current", "diff mfrg ovsx --project shop --env prod -o markdown"}},
		{name: "why", args: "STACK [DIR|FILE]", least: 1, most: 2, group: groupShow, short: "say what decides whether the next deploy changes a stack", completes: recordedStacks,
			flags: "env.files fetch " + sceptred + "only " + selected + "output " + where, run: explainStack,
			long: `Compares a stack of the project with what is deployed, and says what a deploy would do with it and why: which input differs from what was last
deployed, by its name and by what it refers to, or that nothing differs and what was compared. It also says on which stacks the stack depends and which
depend on it, with the reason and its place in the files, and which runs changed the stack last.

It requests no run, takes no lock and changes nothing. It reads CloudFormation with your own permissions, and shows no values. Values from outside the
project and hooks are not compared: plan does so. STACK is its name in the project.` + ofDir,
			examples: []string{"why data/db", "why data/db examples/shop --env prod -o json"}},
		{name: "outputs", args: "[STACK [KEY]]", most: 2, exact: true, group: groupShow, short: "show the outputs of stacks", completes: stackNames,
			outputs: []string{"text", "json", "yaml", "env", "tfvars", "dotenv"},
			flags:   recorded + "output raw " + where, run: listOutputs,
			long: `Shows the recorded outputs of all stacks, of one, or one output of a stack. STACK is its name in the project. With --raw
it prints the value of one output and nothing else. -o env prints export lines for a shell, -o dotenv lines for a .env
file, -o tfvars lines for Terraform; the names are those of the stack and the output, such as NETWORK_VPC_SUBNETID and
network_vpc_subnetid. A name that changes what programs do, such as LD_PRELOAD, gets the prefix OUTPUT_. A value that readers
of .env files read differently is refused with -o dotenv.`,
			examples: []string{"outputs", "outputs network/vpc", "outputs network/vpc VpcId --raw", "outputs -o env --project shop --env prod"}},
		{name: "schedules", group: groupShow, short: "list scheduled operations and when each runs next", flags: recorded + "output " + where, run: listSchedules,
			long:     `Lists the scheduled operations, which the last deploy took from schedules: in the project file, and when each runs next.`,
			examples: []string{"schedules", "schedules --project shop --env prod -o json"}},
		{
			name: "export", args: "[PROJECT[@ENVIRONMENT]]", most: 1, group: groupShow, short: "write down everything known about a project",
			flags: "project.folder " + where, run: exportProject,
			long: `Prints everything that is known about a project as one JSON document: the records of its stacks, what CloudFormation reports about them, the schedules
and the runs. Without PROJECT it exports the only project. Values of NoEcho parameters are never in it.

With --project it writes a project folder in place of the document: stackwright.yaml, and the templates, parameters, tags, capabilities and protection of the
live stacks. A value that is the output of a stack that the stack depends on becomes a reference to it; the value of a NoEcho parameter, which cannot be read,
a reference to a secret. It replaces no file and changes nothing in AWS; plan of the folder says unchanged.`,
			examples: []string{"export", "export shop@prod", "export shop --project shop"},
		},
		{name: "graph", args: "[DIR|FILE]", most: 1, group: groupShow, short: "show which stack depends on which, and why", flags: "env.files fetch " + sceptred + "output " + where, run: drawGraph,
			outputs: []string{"text", "json", "yaml", "dot", "mermaid", "svg"},
			long: `Shows the project's stacks, each below its dependencies; -o dot and mermaid print the graph for programs that draw, and svg a drawing. With --installation or --api it asks for the account and region of the
installation, and for its targets if the project names one.` + ofDir,
			examples: []string{"graph", "graph examples/shop -o svg"}},
		{
			name: "init", args: "[DIR]", most: 1, group: groupShow, short: "write the project file of a new project", flags: "project.new from-live " + where, run: initialize,
			long: `Writes stackwright.yaml into a folder, by default the current one. If the folder has CloudFormation templates, each becomes a stack, with
the parameters of its parameter file; a parameter without a value becomes a comment. If it has none, init writes an example with two stacks.

With --from-live it reads the stacks of the installation's account and region whose names begin with the prefix, and writes their templates,
parameters, tags, capabilities and protection. It changes nothing in AWS. The value of a NoEcho parameter cannot be read: it becomes a reference to a
secret.

On a terminal it asks for the name of the project. It replaces no file: if one exists that it would write, it writes none.`,
			examples: []string{"init", "init infrastructure --project shop", "init shop --from-live shop- --installation stackwright"},
		},
		{
			name: "convert", args: "[DIR|FILE]", most: 1, group: groupShow, short: "write a project of Sceptre, or templates, as a project with a project file", flags: sceptred + "out.convert output", run: convertProject,
			long: `Writes stackwright.yaml and templates into the folder of --out. All environments have the same stacks as before, with the same templates,
parameters, tags, options and dependencies, so the next deploy updates none of them. convert compares them, and writes nothing if one differs.
Comments above parameters and tags, and those of the configuration of a stack, come along; Jinja2 is rendered. Variables have the values that they have now. It sends no request to AWS, and changes no
file of the project.` + ofDir,
			examples: []string{"convert infrastructure --out converted", "convert templates --out shop", "convert infrastructure --var-file prod.yaml --map prod=prod-ireland --out converted"},
		},
		{
			name: "validate", args: "[DIR|FILE]", most: 1, group: groupShow, short: "check a project's files, without AWS", flags: "env.all fetch " + sceptred + "yes.none output " + where, run: validate,
			long: `Reads, resolves and checks a project, and reports all problems at once, each with file, line and column. It sends no request to AWS
and needs no installation: a target that the project names is taken to be registered. Without --env it checks all environments that the project
lists, or default if it lists none. The exit code is 0 if the project is valid, and 2 if it has problems.
It takes the flags that say where an installation is, so that a script can give the same ones to all commands, and does not use them.` + ofDir,
			examples: []string{"validate", "validate examples/shop --env prod", "validate shop.zip -o json"},
		},
		{
			name: "policy", group: groupShow, short: "check and test policies, and put them into an installation", run: policyHelp,
			long:     `Policies are conditions that no plan may meet: those of the project file, and those of the installation.`,
			examples: []string{"policy check", "policy test examples/policies/tags.yaml"},
		},
		{
			name: "check", parent: "policy", args: "[FILE...]", most: math.MaxInt, short: "compile policies and list them, without AWS",
			flags: "output", run: checkPolicies,
			long: `Compiles the policies of each FILE, which is a file of policies or a project file, and lists them. CHECKED is for what each is checked:
for the plan once, for each stack, or for each resource. Without FILE it reads the project file of the current directory. It sends no request to AWS. The
exit code is 2 if something cannot be read or does not compile.`,
			examples: []string{"policy check", "policy check examples/policies/*.yaml", "policy check -o json"},
		},
		{
			name: "put", parent: "policy", args: "FILE...", least: 1, most: math.MaxInt, short: "put policies into an installation",
			flags: where, run: putPolicies,
			long: `Puts each FILE into the folder policies/ of the bucket, as its owner: its policies hold from the next plan on, for all projects. A
file whose policies do not compile, or whose tests fail, is refused, and then no file is put. A file with the same name is replaced: the bucket
keeps the versions before. To remove a file, delete the object.`,
			examples: []string{"policy put tags.yaml --installation stackwright"},
		},
		{
			name: "test", parent: "policy", args: "FILE...", least: 1, most: math.MaxInt, short: "check policies with example plans, without AWS",
			flags: "output", run: testPolicies,
			long: `Compiles the policies of each FILE, which is a file of policies or a project file, and checks the plans of its tests: by them. The
tests of FILE.yaml may be in FILE.test.yaml beside it. It sends no request to AWS. The exit code is 0 if all policies compile and all tests pass,
1 if a test fails, and 2 if something cannot be read or does not compile.`,
			examples: []string{"policy test examples/policies/tags.yaml", "policy test examples/policies/*.yaml -o json"},
		},
		{
			name: "render", args: "[DIR|FILE] [STACK...]", most: math.MaxInt, group: groupShow, short: "show what a deploy would send to CloudFormation", flags: "env.files fetch " + sceptred + "out output " + where, run: render,
			long: `Shows for each stack what a deploy would send to CloudFormation: the template's bytes, parameters, tags, options, roles and target. A value
that is known only after another stack is deployed is shown as its reference, such as ${network/vpc.VpcId}. STACK is a stack's name in the project;
network/ means all stacks below it. With --out it writes two files for each stack into a folder: STACK.template.yaml (or .json) and STACK.request.json,
which has the shape of the AWS CLI's --cli-input-json. With --installation it asks AWS for the account and region of the installation, and nothing else.` + ofDir,
			examples: []string{"render", "render examples/shop network/vpc", "render examples/shop --env prod --out build/rendered", "render examples/shop -o json"},
		},

		{
			name: "serve", group: groupInstall, short: "serve an installation on this laptop until stopped",
			flags: "listen exposed until-idle verbose data " + hosted + "output quiet", run: serve,
			long: `Serves an installation of Stackwright on emulators of S3, DynamoDB, CloudFormation, Step Functions, EventBridge, its
Scheduler, Lambda and STS at one address: what is uploaded to s3://stackwright/projects/PROJECT/ENVIRONMENT.zip is
deployed. The state is in the data folder, and the next serve continues with it.

It prints a line for each event. The metrics and the logs of the functions go to stackwright.log in the data folder, or
with --verbose to standard error.

To see what happens when something fails, inject a fault (the stack's name may be a pattern; DELETE ends all faults):

  curl -d '{"stack": "shop-data-db", "operation": "update", "times": 1}' http://127.0.0.1:4566/_faults`,
			examples: []string{"serve", "serve --listen 127.0.0.1:5000 --data /tmp/try --seconds 0.2"},
		},
		{
			name: "purge", group: groupInstall, short: "delete old runs, and objects that nothing names any more", flags: "older-than keep plan.purge yes output " + where, run: purgeInstallation,
			long: `Deletes the runs of all projects that ended long ago, with their steps, answers and events, except for the newest ones of each project and environment,
and then the specs, templates, artifacts, configurations and files from elsewhere in the bucket that were put long ago and that nothing names any more.

What is needed stays: what is deployed, the configurations of the newest 20 successful revisions, which rollback can deploy again, runs that have not ended and all that they use, runs
that are repeated or saved plans, and the newest upload of each project. Runs may start and end while it works, and it can be repeated at any time. On a terminal it shows first what would be
deleted, and asks, unless --yes is given. You have to be admin of all projects.`,
			examples: []string{"purge --older-than 90d --plan", "purge --older-than 60d --keep 20 --yes"},
		},
		{
			name: "open", group: groupInstall, short: "open the page of an installation on AWS in the browser",
			flags: "installation api console.page no-browser ", run: openInstallation,
			long: `Serves the page on this machine until Ctrl-C, and forwards its requests to the API of the installation, signed with your AWS
credentials or with the token in STACKWRIGHT_TOKEN. The browser gets neither. The address that it prints opens the page in one browser,
once: who opens it acts with your credentials until the command ends.`,
			examples: []string{"open --installation stackwright", "open --api https://abc123.execute-api.eu-west-1.amazonaws.com --no-browser"},
		},
		{
			name: "targets", group: groupInstall, short: "list the accounts and regions that stacks may be deployed to",
			flags: "output " + where, run: listTargets,
			long: `Lists the registered targets, which projects name under targets:. Each is an account and region, with the role that
Stackwright assumes there, the external ID that the role requires, and the projects that may use it. A target that stands for an
organizational unit is followed by its accounts, as AWS Organizations lists them now. default is the
installation's own account and region; the setting projects of the installation says which projects may use it.`,
			examples: []string{"targets", "targets -o json"},
		},
		{
			name: "add", parent: "targets", args: "NAME", least: 1, most: 1, short: "register a target, or change its roles and who may use it",
			flags: "account ou except region role execution-role projects " + where, run: altering((*session).addTarget),
			long: `Registers a target, or changes the roles of one and the projects that may use it. A project that is not among them cannot
deploy there; steps that have started are finished. A target that has stacks cannot be moved to another account or region.
The account is the installation's own unless --account names another. On a laptop every account has a role that may be
assumed, with the name of the one that infra/aws/target creates.

With --ou, the target stands for all accounts of an organizational unit, and of the units within it. A project that names it gets one stack for
each account that is active: NAME-ACCOUNT is the name of its target. The accounts are listed again at each plan: a new one gets the stacks,
and those of one that has left the unit are deleted. The roles have * in place of the account.`,
			examples: []string{"targets add near --region eu-west-1 --projects '*@*'", "targets add workloads --ou ou-abcd-12345678 --except 333333333333 --region eu-west-1 --projects 'baseline@*' --role 'arn:aws:iam::*:role/stackwright/stackwright-orchestrator' --execution-role 'arn:aws:iam::*:role/stackwright/stackwright-execution'", "targets add eu --projects 'shop@prod,team-*@*' --account 111111111111 --region eu-west-1 --role arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator"},
		},
		{
			name: "remove", parent: "targets", args: "NAME", least: 1, most: 1, short: "remove a target that has no stacks",
			flags: where, run: altering((*session).removeTarget),
			long:     `Removes a target. A target that has stacks is not removed.`,
			examples: []string{"targets remove eu"},
		},
		{
			name: "access", group: groupInstall, short: "show who may do what with which project",
			flags: "output " + where, run: listAccess,
			long: `Shows what the access file of the installation grants: roles to ARNs, tokens and the uploads of accounts, for projects and
environments. LINE is the line of the file, or owner for the owner of the installation. Without a file, all but the owner are
denied; if there is no owner either, IAM decides, and tokens are denied.`,
			examples: []string{"access", "access --installation stackwright -o json"},
		},
		{
			name: "check", parent: "access", args: "FILE", least: 1, most: 1, short: "check an access file, and show what it changes",
			flags: where, run: checkAccess,
			long:     `Checks a file as put does, and changes nothing. The exit code is 2 if the file is not valid, or locks everybody out.`,
			examples: []string{"access check access.yaml --installation stackwright"},
		},
		{
			name: "put", parent: "access", args: "FILE", least: 1, most: 1, short: "replace the access file",
			flags: where, run: putAccess,
			long: `Replaces the access file of the installation, and shows what changes. What the file does not grant is denied. A file that is
not valid, or under which nobody would have the role admin, is refused. The bucket keeps the versions before.`,
			examples: []string{"access put access.yaml --installation stackwright"},
		},
		{
			name: "invoke", args: "FILE", least: 1, most: 1, group: groupInstall, short: "send an event to a function's binary", run: invoke,
			long: `Sends the event in a file, events/FUNCTION.WHAT.json, to the function's binary (make build builds it) over Lambda's Runtime
API, and prints the answer, and the log to standard error. The function has an installation of its own, in memory: an
upload of project shop, environment prod, and the results of the events that come before. Nothing is kept.

The exit code is 0 if the function answers, and 1 if the answer is an error.`,
			examples: []string{"invoke events/start.upload.json"},
		},

		{
			name: "version", group: groupOther, short: "show the version of this program", flags: "output", run: showVersion,
			long:     `Shows the version, the commit and its date, and the version of Go that built this program.`,
			examples: []string{"version", "version -o json"},
		},
		{
			name: "man", args: "DIR", least: 1, most: 1, group: groupOther, hidden: true, short: "write the man pages into a folder", run: writeMan,
			long: `Writes a man page for each command into a folder.`, examples: []string{"man build/man"},
		},
		{
			name: "docs", args: "FILE", least: 1, most: 1, group: groupOther, hidden: true, short: "write the reference of the commands into a page", run: writeDocs,
			long:     `Replaces the part of a Markdown page that is the reference of the commands.`,
			examples: []string{"docs docs/commands.md"},
		},
	}
}

// exitCodes is what the help topic of that name says.
const exitCodes = `A command ends with one of these codes:

  0    it succeeded, or there was nothing to do
  1    a step failed, or the command could not be carried out
  2    refused: the request cannot be carried out, and nothing was changed
  3    the run was cancelled or superseded
  4    the run waits for a person: to continue it, or to approve it
  5    plan --exit-code, or destroy --plan --exit-code: there are changes;
       drift --exit-code: stacks have drifted;
       drift --accept: drift is left that could not be written
  6    the server or the network was lost for two minutes; the run continues
  130  Ctrl-C while the command followed the run; the run continues

If another run holds the project's lock, the run is queued, and the command
follows it. The command also follows the rollback of a failed run, but its exit
code is then still 1.
`
