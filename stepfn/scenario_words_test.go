package stepfn_test

// A word begins a line of a scenario. Its form lists the kinds of its arguments, which
// scenario_kinds_test.go defines: in brackets if the argument is optional, with "..." if
// there may be several.
type word struct {
	name, form string
	does       func(*scenario, statement)
	group      group
}

// A group says what a word is for.
type group int

const (
	isGiven   group = iota // the project, and what happens outside Stackwright
	isRequest              // sends a request or command to Stackwright
	isCheck                // compares the result with the scenario
)

// words are all words of scenarios.
var words = []word{
	// The project file, from this line on.
	{"project", "[PROJECT-STACK...]", (*scenario).project, isGiven},
	{"templates", "[PROJECT-STACK...]", (*scenario).templates, isGiven},                                        // templates instead, without a project file
	{"as", "PROJECT", (*scenario).as, isGiven},                                                                 // the project of the lines that follow, with stacks of the same names
	{"environments", "[ENVIRONMENT...]", func(s *scenario, st statement) { s.Environments(st.args) }, isGiven}, // of the project, besides default
	{"environment", "ENVIRONMENT", func(s *scenario, st statement) { s.In(st.args[0]) }, isGiven},              // the environment of the lines that follow; elsewhere, staging-vpc is the stack vpc of staging
	{"pipeline", "[ENVIRONMENT...]", (*scenario).order, isGiven},                                               // the environments in the order in which each is promoted to the next one by itself
	{"soak", "SECONDS", (*scenario).soaks, isGiven},                                                            // for how long
	{"watched", "[TEXT...]", (*scenario).watches, isGiven},                                                     // the alarms that have to be OK then
	{"max-deletions", "NUMBER", (*scenario).maxDeletions, isGiven},
	{"approve-nothing", "", func(s *scenario, _ statement) { s.ApprovePlans(0) }, isGiven},                  // from now on
	{"approve-plans", "[NUMBER]", (*scenario).approvePlans, isGiven},                                        // plans have to be approved, within the given number of seconds
	{"few-at-once", "NUMBER", func(s *scenario, st statement) { s.FewAtOnce(number(st.args[0])) }, isGiven}, // how many stacks of the group few change at the same time; the project has no such group otherwise
	{"max-failures", "NUMBER", func(s *scenario, st statement) { s.MaxFailures(number(st.args[0])) }, isGiven},
	{"on-failure", "POLICY", (*scenario).onFailure, isGiven},
	{"timeout", "[STACK] SECONDS", (*scenario).timeout, isGiven},
	{"ttl", "SECONDS", (*scenario).ttl, isGiven},               // how long the environment lives after a deploy; 0 is for ever
	{"assets", "STACK [TEXT...]", (*scenario).assets, isGiven}, // that the stack needs in a bucket of its account: in memory only
	{"schedules", "[SCHEDULE=OPERATION...]", (*scenario).schedules, isGiven},
	{"rule", "LEVEL [TEXT...]", (*scenario).rule, isGiven}, // the project has one policy, with this expression; without an expression it has none

	// Requests. With an outcome, the scenario waits until no run can continue, and the
	// run must have that outcome. With "begins" or without an outcome it does not wait.
	{"deploy", "[DEPLOY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"destroy", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"refresh", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"check", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"drift", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"revert-drift", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-revert-drift", "[PLAN-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"suspend", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"resume", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-suspend", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-resume", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan", "[PLAN-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"adopt", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"forget", "FORGET-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"prune", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-prune", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-destroy", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-adopt", "[FORGET-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-forget", "FORGET-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"replace", "REPLACE-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"plan-replace", "REPLACE-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"rollback-to", "[TO-OPTION...] [OUTCOME]", (*scenario).request, isRequest}, // to a run that has a name, or to current, previous or current~N
	{"plan-rollback-to", "[TO-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"promote", "FROM-OPTION... [OUTCOME]", (*scenario).request, isRequest}, // from another environment, and its revision of a run that has a name
	{"plan-promote", "FROM-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"snapshot", "SNAPSHOT-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"delete-snapshot", "SNAPSHOT-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"prune-snapshots", "[SNAPSHOT-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"plan-delete-snapshot", "SNAPSHOT-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"plan-prune-snapshots", "[OUTCOME]", (*scenario).request, isRequest},
	{"restore", "RESTORE-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"plan-restore", "RESTORE-OPTION... [OUTCOME]", (*scenario).request, isRequest},
	{"retry", "[RUN] [OUTCOME]", (*scenario).request, isRequest},
	{"fires", "SCHEDULE [OUTCOME]", (*scenario).fires, isRequest},          // the schedule starts a run
	{"extend", "SECONDS [OUTCOME]", (*scenario).extend, isRequest},         // the environment lives so long from now on
	{"extend-until", "SECONDS [OUTCOME]", (*scenario).extend, isRequest},   // the same, as a time
	{"warn-expiry", "[OUTCOME]", (*scenario).warn, isRequest},              // the newest warning that the environment expires becomes the current run
	{"newest", "TEXT [OUTCOME]", (*scenario).newest, isRequest},            // the newest run of this operation becomes the current run
	{"pause", "[RUN]", (*scenario).command, isRequest},                     // of the current run, if none is named
	{"continue", "[RUN]", (*scenario).command, isRequest},                  //
	{"cancel", "[RUN] [CANCEL-OPTION...]", (*scenario).command, isRequest}, //
	{"unlock", "[RUN]", (*scenario).command, isRequest},                    //
	{"approve", "[RUN] [STEP]", (*scenario).command, isRequest},            // of the plan that the run has now
	{"reject", "[RUN] [STEP]", (*scenario).command, isRequest},             //
	{"approve-other", "[RUN]", (*scenario).command, isRequest},             // of another plan
	{"rollback", "OUTCOME", (*scenario).rollback, isRequest},               // the rollback that follows the current run becomes the current run
	{"promotion", "OUTCOME", (*scenario).promotion, isRequest},             // the promotion that follows the current run becomes the current run
	{"ends", "[RUN] END", (*scenario).ends, isRequest},                     // the named run becomes the current run
	{"name", "NEW-RUN", (*scenario).nameRun, isRequest},                    // names the current run

	{"answer", "[RUN] STEP ANSWER [TEXT...]", (*scenario).answer, isRequest}, // a user answers the question of the step; the text says why

	// What happens outside Stackwright.
	{"installed", "LEVEL [TEXT...]", (*scenario).rule, isGiven}, // the installation has one policy, with this expression; without an expression it has none
	{"pass", "SECONDS", (*scenario).pass, isGiven},
	{"slow", "STACK SECONDS", (*scenario).slow, isGiven},                                                          // each operation on the stack takes so long
	{"fail", "STACK/OPERATION", (*scenario).fail, isGiven},                                                        // the next such operation fails
	{"crash-before", "STACK/REQUEST", (*scenario).fault, isGiven},                                                 // the function crashes before its next such request to CloudFormation
	{"crash-after", "STACK/REQUEST", (*scenario).fault, isGiven},                                                  // the function crashes after it
	{"answer-lost", "STACK/REQUEST", (*scenario).fault, isGiven},                                                  // the request arrives, its answer does not
	{"throttled", "STACK/REQUEST", (*scenario).fault, isGiven},                                                    // CloudFormation throttles the request once
	{"events", "[SECONDS...]", (*scenario).events, isGiven},                                                       // the delays of each event, one for each time that it arrives; without any, all events are lost
	{"lag", "SECONDS", (*scenario).lag, isGiven},                                                                  // DescribeStacks shows each change of a stack so late
	{"events-shown-after", "SECONDS", (*scenario).eventsLag, isGiven},                                             // DescribeStackEvents shows each event so late: in memory only
	{"misrecord", "STACK", (*scenario).misrecord, isGiven},                                                        // the record of the stack has outputs that it does not have
	{"asks", "STEP...", (*scenario).asks, isGiven},                                                                // the step asks a user before it ends: in memory only
	{"outage", "SECONDS", (*scenario).outage, isGiven},                                                            // CloudFormation cannot be reached for so long
	{"abort", "[RUN]", (*scenario).abort, isGiven},                                                                // a user stops the execution of the run
	{"deny", "TARGET", (*scenario).access, isGiven},                                                               // the role of the target cannot be assumed
	{"allow", "TARGET", (*scenario).access, isGiven},                                                              // the role can be assumed again
	{"withhold", "TARGET", (*scenario).permission, isGiven},                                                       // the target is not for the project
	{"permit", "TARGET", (*scenario).permission, isGiven},                                                         // the target is for the project again
	{"account", "ACCOUNT CHANGE", func(s *scenario, st statement) { s.Account(st.args[0], st.args[1]) }, isGiven}, // joins the unit for which the target org stands, leaves it, and so on
	{"organizations", "DOES", func(s *scenario, st statement) { s.Organization(st.args[0]) }, isGiven},            // with each request from now on
	{"live", "STACK STACK-STATUS", (*scenario).live, isGiven},                                                     // a user brings the stack to this status, outside Stackwright and with other tags
	{"foreign", "STACK STACK-STATUS STACK-STATUS", (*scenario).foreign, isGiven},                                  // a user starts an operation: its status now, and the one with which it ends after five minutes
	{"by-hand", "STACK...", (*scenario).byHand, isGiven},                                                          // a user has created the stacks as the project has them, without Stackwright
	{"set-parameter", "STACK STACK TEXT", (*scenario).setParameter, isGiven},                                      // a pipeline updates the parameter of the first stack that gets the output of the second; all else stays
	{"update-outside", "PROJECT-STACK", (*scenario).updateOutside, isGiven},                                       // a user updates the stack so that it is as this one; its tags stay
	{"drifts", "STACK [DRIFT]", (*scenario).drifts, isGiven},                                                      // somebody changes the topic of the stack without CloudFormation, or deletes it
	{"drifts-inside", "STACK", func(s *scenario, st statement) { s.DriftInside(s.at(st.args[0])) }, isGiven},      // somebody changes the topic of its nested stack without CloudFormation
	{"delete-change-sets", "STACK", (*scenario).deleteChangeSets, isGiven},                                        // a user deletes the change sets of the stack
	{"set-outside", "STACK SETTING", (*scenario).setOutside, isGiven},                                             // a user changes this setting of the stack, which is no operation
	{"restore-outside", "STACK TEXT", (*scenario).restoreOutside, isGiven},                                        // a user updates the stack so that its database is restored from its backup in a snapshot
	{"stack-limit", "NUMBER", (*scenario).stackLimit, isGiven},                                                    // so many stacks there may be in each account and region from now on
	{"lose-template", "STACK", func(s *scenario, st statement) { s.LoseTemplate(st.args[0]) }, isGiven},           // that the stack was deployed with is no longer in the bucket
	{"unreadable", "STACK", (*scenario).unreadable, isGiven},                                                      // nobody may read its template from now on
	{"uses", "STACK STACK", (*scenario).uses, isGiven},                                                            // a user creates the first stack, which imports from the second

	{"hook", "[STACK] MOMENT NEW-HOOK [HOOK-OPTION...]", (*scenario).hook, isGiven},                                   // in project files from now on: of the stack, or of the project
	{"unhook", "HOOK", (*scenario).unhook, isGiven},                                                                   // no longer
	{"fail-hook", "HOOK", (*scenario).failHook, isGiven},                                                              // its next call fails
	{"slow-hook", "HOOK SECONDS", (*scenario).slowHook, isGiven},                                                      // the executions that it starts take so long
	{"hook-fault", "HOOK-FAULT HOOK", (*scenario).hookFault, isGiven},                                                 // of its next call
	{"throttle-hook", "HOOK NUMBER", (*scenario).throttleHook, isGiven},                                               // so many of its next calls are throttled: in memory only
	{"group", "TEXT", (*scenario).group, isGiven},                                                                     // an Auto Scaling group exists from now on
	{"resize", "TEXT NUMBER NUMBER NUMBER", (*scenario).resize, isGiven},                                              // a user sets the minimum, the maximum and the desired capacity of an Auto Scaling group
	{"scale", "TEXT NUMBER", (*scenario).scale, isGiven},                                                              // a user sets how many tasks an ECS service has
	{"group-fault", "HOOK-FAULT TEXT", (*scenario).groupFault, isGiven},                                               // of the next request that sets the sizes of the group
	{"list-backups-after", "SECONDS", func(s *scenario, st statement) { s.LagBackups(seconds(st.args[0])) }, isGiven}, // lists show each backup of a table so late
	{"fail-backup", "TEXT", func(s *scenario, st statement) { s.FailBackup(st.args[0]) }, isGiven},                    // the next backup of a DB instance or cluster fails
	{"keep-snapshots", "NUMBER [SECONDS]", (*scenario).keepSnapshots, isGiven},                                        // in project files from now on: the newest ones, and how long; 0 is all
	{"fill", "TEXT NUMBER", (*scenario).fill, isGiven},                                                                // a bucket has so many objects from now on
	{"alarm", "TEXT ALARM-STATE", (*scenario).alarm, isGiven},                                                         // has this state from now on, as errors or errors@eu

	// Checks of the current run.
	{"path", "PATH...", (*scenario).path, isCheck}, // the states that its executions entered: see scenario_path_test.go
	{"epoch", "NUMBER", (*scenario).epoch, isCheck},
	{"steps", "[STEP...]", (*scenario).steps, isCheck},
	{"step", "STEP STEP-STATUS [TEXT...]", (*scenario).step, isCheck}, // the reason begins with the text
	{"cause", "STEP [TEXT...]", (*scenario).cause, isCheck},           // the kind of its cause, and the step of it; nothing if it has none
	{"express", "[STEP...]", (*scenario).express, isCheck},            // the steps in express mode
	{"attempts", "STEP NUMBER", (*scenario).attempts, isCheck},
	{"gap", "STEP STEP SECONDS", (*scenario).gap, isCheck},         // the longest time between the end of the first and the start of the second
	{"apart", "STEP STEP SECONDS", (*scenario).apart, isCheck},     // the shortest time between the end of the first and the start of the second
	{"left-broken", "[STACK...]", (*scenario).leftBroken, isCheck}, // the stacks that failed steps left in a bad state; if there are any, the last execution ends in Failed dirty
	{"unchanged", "NUMBER", (*scenario).unchanged, isCheck},
	{"exact", "[STACK...]", (*scenario).exact, isCheck},             // the stacks whose changes in the plan are those of a change set
	{"switches", "STACK [TEXT...]", (*scenario).switches, isCheck},  // what the plan of a suspend or a resume stops or starts in the stack
	{"stays", "STACK TEXT...", (*scenario).stays, isCheck},          // what stays as it is by that plan, and why, contains the text
	{"estimate", "STACK TEXT...", (*scenario).estimate, isCheck},    // what the plan says it does not know about the stack contains the text
	{"says", "TEXT...", (*scenario).says, isCheck},                  // the messages contain the text
	{"reason", "STACK TEXT...", (*scenario).reason, isCheck},        // a reason that the plan gives for its steps on the stack contains the text
	{"hint", "TEXT...", (*scenario).hint, isCheck},                  // what the plan says beside its stacks, also of the selection, contains the text
	{"deletes", "[TEXT...]", (*scenario).deletesSnapshots, isCheck}, // the snapshots that the plan deletes, newest first, with how many backups it deletes with them, and then + and those that stay
	{"loses", "STACK [TEXT...]", (*scenario).loses, isCheck},        // the resources of the stack whose data is lost by the plan
	{"data-loss", "[STACK...]", (*scenario).dataLoss, isCheck},      // the stacks of which the plan says that data is lost, or that it may be, or that this is not known

	// Checks of everything else.
	{"run", "RUN STATE", (*scenario).runState, isCheck},
	{"lock", "LOCK-OWNER [RUN...]", (*scenario).lock, isCheck},       // the run that owns the lock, then the queue
	{"published", "[TEXT...]", (*scenario).published, isCheck},       // the assets that were published since the last such line, with how often
	{"requests", "[STEP-REQUEST...]", (*scenario).requests, isCheck}, // the requests to CloudFormation since the last such line
	{"stack", "STACK STACK-STATUS", (*scenario).stack, isCheck},
	{"made", "STACK VERSION", (*scenario).made, isCheck},                // the version of the live stack
	{"passed", "STACK STACK", (*scenario).passed, isCheck},              // a parameter of the first is the output of the second
	{"kept", "STACK STACK", (*scenario).kept, isCheck},                  // the same parameter has another value
	{"drifted", "[STACK...]", (*scenario).drifted, isCheck},             // the stacks that the last drift detection has found to differ, by their records
	{"recorded", "[STACK...]", (*scenario).recorded, isCheck},           // the names of all records
	{"lives", "[SECONDS]", (*scenario).lives, isCheck},                  // how long the environment still lives, but for ten minutes; nothing is for ever
	{"scheduled", "[SCHEDULE...]", (*scenario).scheduled, isCheck},      // the names of all schedules
	{"snapshots", "[TEXT...]", (*scenario).listsSnapshots, isCheck},     // the names of all snapshots, newest first
	{"holds", "STACK TABLE", (*scenario).holds, isCheck},                // the live stack has the table
	{"topics", "STACK [TEXT...]", (*scenario).topics, isCheck},          // the names of the topics of the live stack
	{"change-sets", "[STACK...]", (*scenario).changeSets, isCheck},      // the stacks that have change sets
	{"suspended", "TEXT [TEXT...]", (*scenario).suspended, isCheck},     // the processes of an Auto Scaling group
	{"size", "TEXT NUMBER NUMBER NUMBER", (*scenario).size, isCheck},    // the minimum, the maximum and the desired capacity of an Auto Scaling group
	{"database", "TEXT DATABASE-STATUS", (*scenario).database, isCheck}, // the status of a DB instance or cluster, as RDS calls it
	{"state", "TEXT STACK [TEXT...]", (*scenario).state, isCheck},       // the states of the resources of a type that the stack has
	{"tasks", "TEXT NUMBER", (*scenario).tasks, isCheck},                // how many an ECS service keeps running
	{"restored", "TEXT [TEXT]", (*scenario).restored, isCheck},          // the snapshot from whose backup the database of the stack was restored, or its resource as in data.Warehouse, by its parameter; none if there is no second text
	{"backups", "[TEXT...]", (*scenario).listsBackups, isCheck},         // the snapshots that backups of the lock belong to, with how many they have; all these exist, and no others
	{"asleep", "[STACK...]", (*scenario).asleep, isCheck},               // the suspended stacks
	{"bucket", "TEXT NUMBER", (*scenario).holdsObjects, isCheck},        // a bucket has so many objects
	{"contents", "TEXT [TEXT...]", (*scenario).contents, isCheck},       // a bucket has exactly these objects
	{"called", "[HOOK...]", (*scenario).called, isCheck},                // the hooks that were called since the last such line, each as often as it was called
}

// wordNamed returns the word of a name, or nil.
func wordNamed(name string) *word {
	for i := range words {
		if words[i].name == name {
			return &words[i]
		}
	}
	return nil
}
