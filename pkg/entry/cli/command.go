package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/agext/levenshtein"
	"github.com/spf13/pflag"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A command is one thing that the program does.
type command struct {
	name     string
	args     string // as shown in its usage
	least    int    // number of arguments
	most     int
	short    string
	long     string
	examples []string
	outputs  []string // that -o takes; text and json if none are listed
	flags    func(*pflag.FlagSet, *flags)
	run      func(context.Context, *call) (int, error)
}

// A call is a command with its flags and arguments.
type call struct {
	Shell
	flags   flags
	args    []string
	command command
	place   *site // of the installation on AWS, once it was asked for
}

// Execute carries out what args ask for and returns the code to exit with.
func Execute(ctx context.Context, s Shell, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(s.Err, usage(s.Self))
		return ExitRefused
	}
	if among(args[0], "help", "-h", "--help") {
		return help(s, args[1:])
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.carryOut(ctx, s, args[1:])
		}
	}
	fmt.Fprintf(s.Err, "there is no command %s%s\n%s", quoted(args[0]), didYouMean(args[0], names()), usage(s.Self))
	return ExitRefused
}

// help shows the usage of a command, or of all.
func help(s Shell, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(s.Out, usage(s.Self))
		return ExitOK
	}
	return Execute(context.Background(), s, []string{args[0], "--help"})
}

// carryOut parses the flags and runs the command.
func (c command) carryOut(ctx context.Context, s Shell, args []string) int {
	call := &call{Shell: s, command: c}
	set := c.set(&call.flags)
	err := set.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(s.Out, c.usage(s.Self, set))
		return ExitOK
	}
	if err == nil {
		call.args = set.Args()
		call.flags.complete(set, s.Getenv)
		err = c.check(call)
	}
	if err != nil {
		fmt.Fprintf(s.Err, "%s%s\nsee %s %s --help\n", err, suggestion(err, set), s.Self, c.name)
		return ExitRefused
	}
	code, err := c.run(ctx, call)
	if err != nil {
		return call.tell(err)
	}
	return code
}

// set is the command's flags.
func (c command) set(f *flags) *pflag.FlagSet {
	set := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {}
	if c.flags != nil {
		c.flags(set, f)
	}
	common(set, f)
	return set
}

// check refuses a number of arguments, or values of flags, that c does not take.
func (c command) check(call *call) error {
	switch n := len(call.args); {
	case n < c.least:
		return fault.New(fault.Invalid, "%s: give %s", c.name, c.args)
	case n > c.most && c.most == 0:
		return fault.New(fault.Invalid, "%s takes no arguments: %s", c.name, quoted(call.args[0]))
	case n > c.most:
		return fault.New(fault.Invalid, "%s: %s is one too many: it takes %s", c.name, quoted(call.args[c.most]), c.args)
	}
	outputs := c.outputs
	if outputs == nil {
		outputs = []string{"text", "json"}
	}
	if err := call.flags.check(outputs...); err != nil {
		return err
	}
	return call.flags.fits(c.name)
}

// tell says what went wrong, and returns the code for it.
func (c *call) tell(err error) int {
	if errors.Is(err, syscall.ECONNREFUSED) && c.flags.endpoint != "" {
		fmt.Fprintf(c.Err, "nothing listens at %s: is serve running there?\n", c.flags.endpoint)
	}
	c.explain(err)
	if fault.Is(err, fault.Invalid, fault.Refused, fault.Missing) {
		return ExitRefused
	}
	return ExitFailed
}

// explain says what went wrong, and what to do.
func (c *call) explain(err error) {
	for _, m := range fault.Messages(err) {
		fmt.Fprintln(c.Err, m)
	}
	if advice := c.advice(err); advice != "" {
		fmt.Fprintln(c.Err, advice)
	}
}

// suggestion names the flag that was probably meant by an unknown one.
func suggestion(err error, set *pflag.FlagSet) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var all []string
	set.VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
	return didYouMean("--"+unknown.GetSpecifiedName(), all)
}

// didYouMean names the word that is most like the given one, if any is.
func didYouMean(word string, all []string) string {
	best, least := "", len(word)/2+1
	for _, w := range all {
		if d := levenshtein.Distance(word, w, nil); d < least {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// names lists the commands.
func names() []string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return all
}

// usage shows all commands.
func usage(self string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Stackwright deploys many CloudFormation stacks in the right order: on a laptop, where nothing is AWS, or, with\n--installation, on AWS.\n\nusage: %s COMMAND [ARGUMENTS] [FLAGS]\n\n", self)
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-24s%s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	fmt.Fprintf(&b, "\n%s COMMAND --help tells more.\n", self)
	return b.String()
}

// usage shows one command.
func (c command) usage(self string, set *pflag.FlagSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: %s [FLAGS]\n", c.long, strings.TrimSpace(self+" "+c.name+" "+c.args))
	if len(c.examples) > 0 {
		b.WriteString("\nexamples:\n")
	}
	for _, e := range c.examples {
		fmt.Fprintf(&b, "  %s %s\n", self, e)
	}
	fmt.Fprintf(&b, "\nflags:\n%s", set.FlagUsages())
	return b.String()
}
