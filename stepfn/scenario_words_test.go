package stepfn_test

// A word begins a line of a scenario. Its form lists the arguments: kinds of
// scenario_kinds_test.go, in brackets if they may be left out, with "..." if
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
	isRequest              // asks Stackwright for something
	isCheck                // compares what is there with the scenario
)

// words are all words of scenarios.
var words = []word{
	// The project file, from this line on.
	{"project", "[PROJECT-STACK...]", (*scenario).project, isGiven},
	{"max-deletions", "NUMBER", (*scenario).maxDeletions, isGiven},
	{"on-failure", "POLICY", (*scenario).onFailure, isGiven},
	{"timeout", "[STACK] SECONDS", (*scenario).timeout, isGiven},
	{"schedules", "[SCHEDULE=OPERATION...]", (*scenario).schedules, isGiven},

	// Requests. With an outcome the scenario waits until no run can go on, and
	// the run must have that outcome; with "begins", and with none, it goes on.
	{"deploy", "[DEPLOY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"destroy", "[DESTROY-OPTION...] [OUTCOME]", (*scenario).request, isRequest},
	{"refresh", "[OUTCOME]", (*scenario).request, isRequest},
	{"plan", "[OUTCOME]", (*scenario).request, isRequest},
	{"retry", "[RUN] [OUTCOME]", (*scenario).request, isRequest},
	{"fires", "SCHEDULE [OUTCOME]", (*scenario).fires, isRequest},          // a schedule comes due
	{"pause", "[RUN]", (*scenario).command, isRequest},                     // of the current run, if none is named
	{"continue", "[RUN]", (*scenario).command, isRequest},                  //
	{"cancel", "[RUN] [CANCEL-OPTION...]", (*scenario).command, isRequest}, //
	{"unlock", "[RUN]", (*scenario).command, isRequest},                    //
	{"rollback", "OUTCOME", (*scenario).rollback, isRequest},               // the rollback that follows the current run is the current run now
	{"ends", "[RUN] END", (*scenario).ends, isRequest},                     // the run that it names is the current run now
	{"name", "NEW-RUN", (*scenario).nameRun, isRequest},                    // the current run has this name

	{"answer", "[RUN] STEP ANSWER [TEXT...]", (*scenario).answer, isRequest}, // a user answers the question of the step; the text says why

	// What happens outside Stackwright.
	{"pass", "SECONDS", (*scenario).pass, isGiven},
	{"slow", "STACK SECONDS", (*scenario).slow, isGiven},                         // each operation on the stack takes so long
	{"fail", "STACK/OPERATION", (*scenario).fail, isGiven},                       // the next such operation fails
	{"crash-before", "STACK/REQUEST", (*scenario).fault, isGiven},                // the function dies before its next such request to CloudFormation
	{"crash-after", "STACK/REQUEST", (*scenario).fault, isGiven},                 // and after it
	{"answer-lost", "STACK/REQUEST", (*scenario).fault, isGiven},                 // the request arrives, its answer does not
	{"throttled", "STACK/REQUEST", (*scenario).fault, isGiven},                   // CloudFormation refuses the request once
	{"events", "[SECONDS...]", (*scenario).events, isGiven},                      // each event arrives once per number, so late; never if there is none
	{"asks", "STEP...", (*scenario).asks, isGiven},                               // the step asks a user before it ends: in memory only
	{"outage", "SECONDS", (*scenario).outage, isGiven},                           // nobody can reach CloudFormation for so long
	{"abort", "[RUN]", (*scenario).abort, isGiven},                               // somebody stops the execution that has the run
	{"deny", "TARGET", (*scenario).access, isGiven},                              // the role of the target cannot be assumed
	{"allow", "TARGET", (*scenario).access, isGiven},                             // it can again
	{"live", "STACK STACK-STATUS", (*scenario).live, isGiven},                    // somebody brings the stack to this status
	{"foreign", "STACK STACK-STATUS STACK-STATUS", (*scenario).foreign, isGiven}, // somebody starts an operation that ends so in five minutes
	{"uses", "STACK STACK", (*scenario).uses, isGiven},                           // somebody makes a stack that imports from ours

	// Checks of the current run.
	{"path", "PATH...", (*scenario).path, isCheck}, // the states of the machine that its executions entered: see scenario_path_test.go
	{"epoch", "NUMBER", (*scenario).epoch, isCheck},
	{"steps", "[STEP...]", (*scenario).steps, isCheck},
	{"step", "STEP STEP-STATUS [TEXT...]", (*scenario).step, isCheck}, // the reason begins with the text
	{"attempts", "STEP NUMBER", (*scenario).attempts, isCheck},
	{"gap", "STEP STEP SECONDS", (*scenario).gap, isCheck},         // the most that passes from the end of one to the start of the other
	{"left-broken", "[STACK...]", (*scenario).leftBroken, isCheck}, // the stacks that failed steps left in a bad state; its last execution ended as Failed dirty if there are any
	{"unchanged", "NUMBER", (*scenario).unchanged, isCheck},
	{"says", "TEXT...", (*scenario).says, isCheck}, // the messages contain the text

	// Checks of everything else.
	{"run", "RUN STATE", (*scenario).runState, isCheck},
	{"lock", "LOCK-OWNER [RUN...]", (*scenario).lock, isCheck},       // who holds the lock, and who waits for it in this order
	{"requests", "[STEP-REQUEST...]", (*scenario).requests, isCheck}, // what was requested of CloudFormation since the last such line
	{"stack", "STACK STACK-STATUS", (*scenario).stack, isCheck},
	{"made", "STACK VERSION", (*scenario).made, isCheck},           // the version that is live
	{"passed", "STACK STACK", (*scenario).passed, isCheck},         // the first has the output of the second
	{"recorded", "[STACK...]", (*scenario).recorded, isCheck},      // the records there are
	{"scheduled", "[SCHEDULE...]", (*scenario).scheduled, isCheck}, // the schedules there are
}

// wordNamed finds a word; nil if there is none of that name.
func wordNamed(name string) *word {
	for i := range words {
		if words[i].name == name {
			return &words[i]
		}
	}
	return nil
}
