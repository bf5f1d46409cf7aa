package cli

import "slices"

// exits is told by the commands that follow a run.
const exits = `

It ends with 0 if the run succeeded or there was nothing to do, 1 if it failed, 2 if it was refused, 3 if it was
cancelled or superseded, 4 if it is parked, 130 after Ctrl-C: the run then goes on, or waits, without its watcher. While
another run holds the project's lock it waits in line. A rollback that follows a run is followed too; the run has failed
all the same.`

// commands are all the commands, in the order in which they are shown.
func commands() []command {
	return slices.Concat(changing(), steering(), showing(), keeping(), trying())
}

// changing are the commands that take a project's files.
func changing() []command {
	return []command{
		{
			name: "serve", short: "stand in for AWS until stopped", flags: ofServe, run: serve,
			long: `Serves S3, DynamoDB, CloudFormation, Step Functions, EventBridge, its Scheduler, Lambda and STS at one address, with Stackwright
installed: what is uploaded to s3://stackwright/projects/PROJECT/ENVIRONMENT.zip is deployed. The state is kept in the
data folder: stop it, start it, all is still there.

To see what happens when something fails, tell it so (the stack's name may be a pattern; DELETE ends all faults):

  curl -d '{"stack": "shop-data-db", "operation": "update", "times": 1}' http://127.0.0.1:4566/_faults`,
			examples: []string{"serve", "serve --listen 127.0.0.1:5000 --data /tmp/try --seconds 0.2"},
		},
		{
			name: "deploy", args: "DIR|FILE", least: 1, most: 1, short: "bring the stacks to what the files say", flags: ofDeploy, run: deploy,
			long: `Checks the project, uploads it, and follows the run that the upload starts. What is wrong with the files is told
before anything is asked of AWS. So is a deploy that would delete more stacks than it may: max_deletions in the project
file says how many, or --max-deletions for this once.

A newer upload supersedes an older one: a deploy that is under way begins nothing more, and one that waits does not begin
at all. With --rollback, --refuse, --only or --max-deletions it is no upload but a request: it supersedes nothing, waits
its turn, and is not superseded.

With --only it brings up some stacks and what they need, and leaves all others as they are.` + exits,
			examples: []string{"deploy examples/shop", "deploy examples/shop --rollback", "deploy examples/shop --only data/,network/vpc", "deploy examples/shop --max-deletions 12", "deploy examples/shop --env prod -o json", "deploy shop.zip --endpoint http://127.0.0.1:4566", "deploy examples/shop --installation stackwright"},
		},
		{
			name: "plan", args: "DIR|FILE", least: 1, most: 1, short: "show what deploy would do", flags: ofPreview, run: preview,
			long:     `Shows the steps that a deploy would take now. It takes no lock and changes nothing.` + exits + ` With --exit-code it ends with 5 if there are changes.`,
			examples: []string{"plan examples/shop", "plan examples/shop --exit-code -o json"},
		},
		{
			name: "destroy", args: "DIR|FILE", least: 1, most: 1, short: "delete all stacks of the project", flags: ofChange, run: destroy,
			long: `Deletes every stack that is recorded for the project and environment, users before what they use. It asks first, unless told --yes.
With --only it deletes some of them; it is refused if another one uses them.` + exits,
			examples: []string{"destroy examples/shop --yes"},
		},
		{
			name: "refresh", args: "DIR|FILE", least: 1, most: 1, short: "read the live stacks into the records", flags: ofChange, run: refresh,
			long:     `Reads every recorded stack as it is now. It changes records, never stacks.` + exits,
			examples: []string{"refresh examples/shop --env prod"},
		},
	}
}

// steering are the commands that take a run.
func steering() []command {
	return []command{
		{
			name: "retry", args: "RUN", least: 1, most: 1, short: "plan and carry out a run's operation anew", flags: ofRetry, run: retry,
			long: `Makes a new run of the same operation on the same files: what is done is left alone, what failed is mended. It is
refused if something newer was deployed since, unless told --force.` + exits,
			examples: []string{"retry mfrggzdfmztwq2lknnwg"},
		},
		{
			name: "pause", args: "RUN", least: 1, most: 1, short: "start nothing more until continued", flags: ofWish, run: pause,
			long:     `Lets what is in flight end, and starts nothing more: the run is then parked. It ends with 0 when it is.`,
			examples: []string{"pause mfrggzdfmztwq2lknnwg"},
		},
		{
			name: "continue", args: "RUN", least: 1, most: 1, short: "let a paused run go on", flags: ofWish, run: goOn,
			long:     `Lets a paused run go on, and follows it.` + exits,
			examples: []string{"continue mfrggzdfmztwq2lknnwg"},
		},
		{
			name: "cancel", args: "RUN", least: 1, most: 1, short: "end a run early", flags: ofCancel, run: cancel,
			long: `Lets what is in flight end, and skips the rest. A run that waits in line leaves it. With --force what is
being updated is cancelled too, and rolled back by CloudFormation; what is created or deleted is never broken off. With
--rollback a deploy is followed by a rollback to what was last deployed well, which is followed too. It ends with 0 when
the run is cancelled, and the rollback, if there is one, has succeeded.`,
			examples: []string{"cancel mfrggzdfmztwq2lknnwg", "cancel mfrggzdfmztwq2lknnwg --force", "cancel mfrggzdfmztwq2lknnwg --rollback --reason 'wrong branch'"},
		},
		{
			name: "unlock", args: "[RUN]", most: 1, short: "take the lock away from a run, which ends", flags: ofUnlock, run: unlock,
			long: `Ends a run that holds its project's lock, as cancelled, whoever drives it and whatever it does; the next one in line then has
the lock. What is in flight at CloudFormation goes on there, and the next run finds it. It needs a reason, which is kept
with the run. Without RUN it is the only run that holds a lock. Cancel is what you want if the run still obeys.

It ends with 0 when the run has ended, 2 if it was refused: no run holds a lock, or that one does not.`,
			examples: []string{"unlock --reason 'the run hangs since noon'", "unlock mfrggzdfmztwq2lknnwg --reason 'the role is gone'"},
		},
	}
}

// keeping are the commands that keep the installation.
func keeping() []command {
	return []command{
		{
			name: "targets", args: "[add NAME|remove NAME]", most: 2, short: "list the accounts and regions that stacks may go to", flags: ofTargets, run: targets,
			long: `Lists the registered targets, which projects name under targets:. Each is an account and region, with the role that is
assumed there and the external ID that the role is to ask for. default is the installation's own account and region.

add registers one, or gives one that is there other roles; remove takes it away. A target that has stacks is neither
removed nor moved. The account is the installation's own unless --account says another. On a laptop every account has a
role that may be assumed, called as the one that infra/aws/target makes.`,
			examples: []string{"targets", "targets add near --region eu-west-1", "targets add eu --account 111111111111 --region eu-west-1 --role arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator", "targets remove eu"},
		},
	}
}

// trying are the commands that try out functions.
func trying() []command {
	return []command{
		{
			name: "invoke", args: "FILE", least: 1, most: 1, short: "send an event to a function's binary", run: invoke,
			long: `Sends the event in a file, events/FUNCTION.WHAT.json, to the function's binary (make build makes it) over Lambda's Runtime
API, prints the answer, and the log to stderr. The function finds an installation of its own, in memory: an upload of
project shop, environment prod, and what the events came to that have to come before. Nothing is kept.

It ends with 0 if the function answers, 1 if that is an error.`,
			examples: []string{"invoke events/start.upload.json"},
		},
	}
}

// showing are the commands that change nothing.
func showing() []command {
	return []command{
		{
			name: "status", args: "[RUN]", most: 1, short: "show a run, or the newest one and who holds the locks", flags: ofStatus, run: status,
			long: `Shows how a run stands, with the reasons of what failed. Without RUN it shows the newest one, and which run holds each
project's lock, which ones wait for it, in order, and what each does when it is its turn.`,
			examples: []string{"status", "status mfrggzdfmztwq2lknnwg --follow"},
		},
		{name: "runs", short: "list the runs, newest first", flags: ofRecords, run: listRuns,
			long: `Lists the runs of all projects, newest first.`, examples: []string{"runs", "runs --project shop --env prod -o json"}},
		{name: "stacks", short: "list the stacks that are recorded", flags: ofRecords, run: listStacks,
			long: `Lists the stacks that are recorded, with what CloudFormation says of them now.`, examples: []string{"stacks", "stacks --project shop -o json"}},
		{name: "schedules", short: "list the schedules, and when they next come up", flags: ofRecords, run: listSchedules,
			long: `Lists what is done with projects though nobody asks: what the files that were last deployed say under schedules:, and
when each next comes up.`, examples: []string{"schedules", "schedules --project shop --env prod -o json"}},
		{name: "outputs", args: "[STACK]", most: 1, short: "show the outputs of the stacks, or of one", flags: ofRecords, run: listOutputs,
			long: `Shows the recorded outputs of all stacks, or of one, by its name in the project.`, examples: []string{"outputs", "outputs network/vpc", "outputs -o json"}},
		{name: "graph", args: "DIR|FILE", least: 1, most: 1, short: "show which stack comes after which, and why", flags: ofProject, run: drawGraph,
			outputs: []string{"text", "json", "dot", "mermaid"},
			long: `Shows the project's stacks, each below what it comes after. Of AWS it asks nothing but, with
--installation, which account and region that is.`,
			examples: []string{"graph examples/shop", "graph examples/shop -o dot"}},
	}
}
