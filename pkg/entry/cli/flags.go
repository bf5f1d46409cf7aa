package cli

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// flags are those of all commands; each command has some of them.
type flags struct {
	env, project, data, endpoint, output, functions, listen, reason string
	account, region, role, execution                                string
	installation                                                    string          // on AWS; "" is a laptop
	given                                                           map[string]bool // by name: those on the command line
	seconds                                                         float64
	yes, exitCode, force, follow, untilIdle, rollback, refuse       bool
	quiet, noColor, raw, verbose                                    bool
	deletions                                                       count
	only                                                            []string
}

// A flagSet adds some flags to those of a command.
type flagSet func(*pflag.FlagSet, *flags)

const (
	envPrefix      = "STACKWRIGHT_" // of the variables that set flags
	defaultData    = ".stackwright"
	defaultListen  = "127.0.0.1:4566"
	defaultSeconds = 1.5
	inProcess      = "inprocess"
	asBinaries     = "binaries"
)

// defaults are the flags of a command that has none of them.
func defaults() flags {
	return flags{data: defaultData, output: "text", seconds: defaultSeconds, functions: inProcess, env: ""}
}

// A count is a number that may be absent: absent is not the same as 0.
type count struct{ n *int }

// String is pflag.Value.
func (c *count) String() string {
	if c.n == nil {
		return ""
	}
	return strconv.Itoa(*c.n)
}

// Set is pflag.Value.
func (c *count) Set(word string) error {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return fault.New(fault.Invalid, "give a whole number, 0 or more")
	}
	c.n = &n
	return nil
}

// Type is pflag.Value.
func (*count) Type() string { return "int" }

// where adds the flags that say which installation a command is about.
func where(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.installation, "installation", "", "use the installation on AWS that this CloudFormation `stack` is")
	set.StringVar(&f.endpoint, "endpoint", "", "use the laptop's installation that serve serves at this `URL`")
	ofData(set, f)
}

// ofData adds the flag for the state of a laptop's installation.
func ofData(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.data, "data", defaultData, "`folder` with the state of a laptop's installation")
}

// hosted adds the flags of commands that host a laptop's installation.
func hosted(set *pflag.FlagSet, f *flags) {
	set.Float64Var(&f.seconds, "seconds", defaultSeconds, "on a laptop: simulated `seconds` that an operation on a stack takes")
	set.StringVar(&f.functions, "functions", inProcess, "on a laptop: `how` functions run, inprocess or binaries (make build builds them)")
}

// ofOutput adds the flag for the form of what a command prints.
func ofOutput(set *pflag.FlagSet, f *flags) {
	set.StringVarP(&f.output, "output", "o", "text", "") // its usage names the formats of the command
}

// ofQuiet adds the flag that leaves only results.
func ofQuiet(set *pflag.FlagSet, f *flags) {
	set.BoolVarP(&f.quiet, "quiet", "q", false, "print results and errors only, no progress")
}

// ofWatch adds the flags of commands that follow a run.
func ofWatch(set *pflag.FlagSet, f *flags) {
	ofOutput(set, f)
	ofQuiet(set, f)
}

// ofProject adds the flag for the environment of a project's files.
func ofProject(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.env, "env", project.DefaultEnvironment, "`environment` of the project")
}

// mayChoose adds the flag of operations that can be limited to some stacks.
func mayChoose(set *pflag.FlagSet, f *flags) {
	set.StringSliceVar(&f.only, "only", nil, "only these `stacks`, separated by commas, and their dependencies: network/vpc, or network/ for all below it")
}

// mayRefuse adds the flag of operations that are queued.
func mayRefuse(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.refuse, "refuse", false, "be refused if another run holds the lock, instead of being queued")
}

// mayRollBack adds the flag of operations that can be rolled back.
func mayRollBack(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.rollback, "rollback", false, "if it fails, roll back to the last successful deploy")
}

// mayDelete adds the flag of operations that limit how much they delete.
func mayDelete(set *pflag.FlagSet, f *flags) {
	set.Var(&f.deletions, "max-deletions", "how `many` stacks may be deleted for good (default max_deletions of the project, else ten or half of its stacks)")
}

// mayAsk adds the flag of commands that ask a person.
func mayAsk(set *pflag.FlagSet, f *flags) { set.BoolVar(&f.yes, "yes", false, "do not ask") }

// mayReason adds the flag of commands whose reason is recorded.
func mayReason(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.reason, "reason", "", "`why`: it is recorded with the run")
}

// mayForceRetry adds the flag of retry alone.
func mayForceRetry(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.force, "force", false, "retry although something newer was deployed since")
}

// ofCancel adds the flags of cancel alone.
func ofCancel(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.rollback, "rollback", false, "then roll back to the last successful deploy")
	set.BoolVar(&f.force, "force", false, "have CloudFormation cancel the updates in progress, too")
}

// ofPlan adds the flag of plan alone.
func ofPlan(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.exitCode, "exit-code", false, "end with 5 if there are changes")
}

// mayFollow adds the flag of status alone.
func mayFollow(set *pflag.FlagSet, f *flags) {
	set.BoolVarP(&f.follow, "follow", "f", false, "follow the run to its end")
}

// mayRaw adds the flag of outputs alone.
func mayRaw(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.raw, "raw", false, "print the value of one output, and nothing else")
}

// ofRecords adds the flags that choose among what is recorded.
func ofRecords(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.project, "project", "", "only this `project`")
	set.StringVar(&f.env, "env", "", "only this `environment`")
}

// ofTarget adds the flags of targets add.
func ofTarget(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.account, "account", "", "`ID` of the account (default the installation's own)")
	set.StringVar(&f.region, "region", "", "`region` of the target")
	set.StringVar(&f.role, "role", "", "`ARN` of the role that Stackwright assumes there, which another account needs")
	set.StringVar(&f.execution, "execution-role", "", "`ARN` of the role that CloudFormation uses there (default, in the own account, that of the installation)")
}

// ofServe adds the flags of serve alone.
func ofServe(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.listen, "listen", defaultListen, "`address` to listen at")
	set.BoolVar(&f.untilIdle, "until-idle", false, "end when no run goes on")
	set.BoolVar(&f.verbose, "verbose", false, "print metrics and the logs of the functions, too")
}

// variable is the environment variable that sets a flag.
func variable(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// complete takes from the environment what the command line leaves out. If the
// command line names an installation, the environment does not name another.
func (f *flags) complete(set *pflag.FlagSet, getenv func(string) string) error {
	f.given = make(map[string]bool)
	set.Visit(func(one *pflag.Flag) { f.given[one.Name] = true })
	place := []string{"installation", "endpoint", "data"}
	placed := slices.ContainsFunc(place, func(name string) bool { return f.given[name] })
	var err error
	set.VisitAll(func(one *pflag.Flag) {
		value := getenv(variable(one.Name))
		if value == "" || err != nil || f.given[one.Name] || one.Name == "help" || placed && slices.Contains(place, one.Name) {
			return
		}
		if wrong := one.Value.Set(value); wrong != nil {
			err = fault.New(fault.Invalid, "%s=%s: %s", variable(one.Name), quoted(value), wanted(one))
		}
	})
	if f.endpoint != "" && !strings.Contains(f.endpoint, "://") {
		f.endpoint = "http://" + f.endpoint
	}
	return err
}

// wanted says what a flag takes.
func wanted(one *pflag.Flag) string {
	switch one.Value.Type() {
	case "bool":
		return "give true or false"
	case "float64":
		return "give a number"
	case "int":
		return "give a whole number, 0 or more"
	}
	return "this value cannot be used"
}

// check refuses values that no command takes.
func (f flags) check(outputs []string) error {
	switch {
	case !slices.Contains(outputs, f.output):
		return fault.New(fault.Invalid, "-o %s: use one of %s", quoted(f.output), strings.Join(outputs, ", "))
	case !slices.Contains([]string{inProcess, asBinaries}, f.functions):
		return fault.New(fault.Invalid, "--functions %s: use inprocess or binaries", quoted(f.functions))
	case f.seconds < 0:
		return fault.New(fault.Invalid, "--seconds %v: give 0 or more", f.seconds)
	case f.data == "":
		return fault.New(fault.Invalid, "--data: name a folder")
	case f.given["installation"] && f.installation == "":
		return fault.New(fault.Invalid, "--installation: name its CloudFormation stack")
	case f.given["installation"] && (f.given["data"] || f.given["endpoint"]):
		return fault.New(fault.Invalid, "--installation is on AWS, --data and --endpoint are on a laptop: give one of them")
	}
	for _, only := range []string{"seconds", "functions"} {
		if f.given[only] && f.installation != "" {
			return fault.New(fault.Invalid, "--%s is for a laptop, and installation %s is on AWS: leave it out, or give --data or --endpoint", only, f.installation)
		}
	}
	return nil
}

// where spells the flags by which another command finds the same installation.
func (f flags) where() []string {
	switch {
	case f.given["installation"]:
		return []string{"--installation", f.installation}
	case f.given["endpoint"]:
		return []string{"--endpoint", f.endpoint}
	case f.given["data"]:
		return []string{"--data", f.data}
	}
	return nil // the environment says so, or it is the default
}

// spell writes a command as a person types it.
func (c *call) spell(words ...string) string {
	all := []string{c.Self}
	for _, w := range append(words, c.flags.where()...) {
		all = append(all, quoted(w))
	}
	return strings.Join(all, " ")
}

// quoted puts a word in quotes if a shell would not take it as it is.
func quoted(word string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@=,%+~", r)
	}
	if word != "" && !strings.ContainsFunc(word, odd) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// number shows a number of seconds as a flag takes it.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
