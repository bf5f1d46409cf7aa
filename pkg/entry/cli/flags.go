package cli

import (
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
	given                                                           map[string]bool // by name: those that somebody has typed
	seconds                                                         float64
	yes, exitCode, force, follow, untilIdle, rollback, refuse       bool
	deletions                                                       count
	only                                                            []string
}

// A count is a flag that may be left out, which is not the same as 0.
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
		return fault.New(fault.Invalid, "a number of stacks is wanted, 0 or more")
	}
	c.n = &n
	return nil
}

// Type is pflag.Value.
func (*count) Type() string { return "int" }

const (
	defaultData    = ".stackwright"
	defaultListen  = "127.0.0.1:4566"
	defaultSeconds = 1.5
)

// common adds the flags that every command has.
func common(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.installation, "installation", "", "CloudFormation stack of an installation on AWS, which is used instead of a laptop's (default $"+envInstallation+")")
	set.StringVar(&f.data, "data", defaultData, "folder where the stand-ins keep their state")
	set.StringVar(&f.endpoint, "endpoint", "", "URL of a running serve, which is used instead of this folder's")
	set.StringVarP(&f.output, "output", "o", "text", "text or json; graph has dot and mermaid too")
	set.Float64Var(&f.seconds, "seconds", defaultSeconds, "simulated seconds that an operation on a stack takes")
	set.StringVar(&f.functions, "functions", "inprocess", "how functions run: inprocess, or binaries (make build makes them)")
	set.BoolVar(&f.yes, "yes", false, "do not ask")
}

// ofProject adds the flag for the environment of a project's files.
func ofProject(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.env, "env", project.DefaultEnvironment, "environment of the project")
}

// ofDeploy adds what deploy has.
func ofDeploy(set *pflag.FlagSet, f *flags) {
	ofChange(set, f)
	mayDelete(set, f)
	mayRollBack(set, f)
}

// ofChange adds what every command has that takes files and the project's lock.
func ofChange(set *pflag.FlagSet, f *flags) {
	ofProject(set, f)
	mayRefuse(set, f)
	mayChoose(set, f)
}

// mayChoose adds the flag of what may be about some stacks.
func mayChoose(set *pflag.FlagSet, f *flags) {
	set.StringSliceVar(&f.only, "only", nil, "only these stacks, and what they need: network/vpc, or network/ for all below it")
}

// mayRefuse adds the flag of what waits in line.
func mayRefuse(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.refuse, "refuse", false, "be refused if another run holds the lock, instead of waiting in line")
}

// mayRollBack adds the flag of what may fail.
func mayRollBack(set *pflag.FlagSet, f *flags) {
	set.BoolVar(&f.rollback, "rollback", false, "if it fails, go back to what was last deployed well")
}

// ofWish adds what every command has that steers a run.
func ofWish(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.reason, "reason", "", "why, for the record")
}

// ofCancel adds what cancel has.
func ofCancel(set *pflag.FlagSet, f *flags) {
	ofWish(set, f)
	set.BoolVar(&f.rollback, "rollback", false, "then go back to what was last deployed well")
	set.BoolVar(&f.force, "force", false, "cancel what is being updated, too")
}

// ofUnlock adds what unlock has.
func ofUnlock(set *pflag.FlagSet, f *flags) {
	ofWish(set, f)
	ofRecords(set, f)
}

// mayDelete adds the flag of what deletes no more than it may.
func mayDelete(set *pflag.FlagSet, f *flags) {
	set.Var(&f.deletions, "max-deletions", "how many stacks may be deleted for good (default what the project says, else ten or half of them)")
}

// ofPreview adds what plan has.
func ofPreview(set *pflag.FlagSet, f *flags) {
	ofProject(set, f)
	mayDelete(set, f)
	mayChoose(set, f)
	set.BoolVar(&f.exitCode, "exit-code", false, "end with 5 if there are changes")
}

// ofRetry adds what retry has.
func ofRetry(set *pflag.FlagSet, f *flags) {
	mayRefuse(set, f)
	mayDelete(set, f)
	mayRollBack(set, f)
	set.BoolVar(&f.force, "force", false, "retry though something newer was deployed since")
}

// ofStatus adds what status has.
func ofStatus(set *pflag.FlagSet, f *flags) {
	ofRecords(set, f)
	set.BoolVarP(&f.follow, "follow", "f", false, "follow the run to its end")
}

// ofRecords adds the flags that choose among what is recorded.
func ofRecords(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.project, "project", "", "only this project")
	set.StringVar(&f.env, "env", "", "only this environment")
}

// ofTargets adds what targets has.
func ofTargets(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.account, "account", "", "of a target to add: its account (default the installation's own)")
	set.StringVar(&f.region, "region", "", "its region, such as eu-west-1")
	set.StringVar(&f.role, "role", "", "ARN of the role that is assumed there; none where the account is the installation's own")
	set.StringVar(&f.execution, "execution-role", "", "ARN of the role that CloudFormation works with there (default the installation's own, in its account)")
}

// ofServe adds what serve has.
func ofServe(set *pflag.FlagSet, f *flags) {
	set.StringVar(&f.listen, "listen", defaultListen, "address to listen at")
	set.BoolVar(&f.untilIdle, "until-idle", false, "end when no run goes on")
}

// complete writes out what may be left out. Where to work says the environment
// only if no flag does.
func (f *flags) complete(set *pflag.FlagSet, getenv func(string) string) {
	f.given = make(map[string]bool)
	set.Visit(func(one *pflag.Flag) { f.given[one.Name] = true })
	if f.endpoint != "" && !strings.Contains(f.endpoint, "://") {
		f.endpoint = "http://" + f.endpoint
	}
	if !f.given["installation"] && !f.onLaptop() {
		f.installation = getenv(envInstallation)
	}
}

// onLaptop reports whether a flag says that it is about a laptop.
func (f flags) onLaptop() bool { return f.given["data"] || f.given["endpoint"] }

// check refuses values that no command takes.
func (f flags) check(outputs ...string) error {
	switch {
	case !among(f.output, outputs...):
		return fault.New(fault.Invalid, "-o %s: there is %s", f.output, strings.Join(outputs, ", "))
	case !among(f.functions, "inprocess", "binaries"):
		return fault.New(fault.Invalid, "--functions %s: there is inprocess and binaries", f.functions)
	case f.seconds < 0:
		return fault.New(fault.Invalid, "--seconds %v: time does not run backwards", f.seconds)
	case f.data == "":
		return fault.New(fault.Invalid, "--data: name a folder")
	case f.given["installation"] && f.installation == "":
		return fault.New(fault.Invalid, "--installation: name its CloudFormation stack")
	case f.given["installation"] && f.onLaptop():
		return fault.New(fault.Invalid, "--installation is on AWS, --data and --endpoint are a laptop: say one of them")
	}
	return nil
}

// fits refuses what only a laptop has, of a call that is about AWS.
func (f flags) fits(command string) error {
	switch {
	case f.installation == "" || among(command, "serve", "invoke") && !f.given["installation"]:
		return nil
	case command == "invoke":
		return fault.New(fault.Invalid, "invoke tries a function out on a laptop, and installation %s is on AWS: leave it out", f.installation)
	case command == "serve":
		return fault.New(fault.Invalid, "serve stands in for AWS on a laptop, and installation %s is on AWS: nothing is to be served there", f.installation)
	}
	for _, only := range []string{"seconds", "functions"} {
		if f.given[only] {
			return fault.New(fault.Invalid, "--%s is about a laptop, and installation %s is on AWS: leave it out, or say --data or --endpoint", only, f.installation)
		}
	}
	return nil
}

// among reports whether s is one of all.
func among(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}

// where spells the flags by which another command finds the same run.
func (f flags) where() []string {
	switch {
	case f.given["installation"]:
		return []string{"--installation", f.installation}
	case f.installation != "":
		return nil // the environment says so
	case f.endpoint != "":
		return []string{"--endpoint", f.endpoint}
	case f.data != defaultData || f.given["data"]:
		return []string{"--data", f.data}
	}
	return nil
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
