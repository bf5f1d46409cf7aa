package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stackwright/stackwright/pkg/lib/suggest"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"

	"github.com/stackwright/stackwright/pkg/remote"
)

// program is the name of this program in its help.
const program = "stackwright"

// A command is a command of the program, a row of its table of commands.
type command struct {
	name, parent string // parent is the command that it is a subcommand of, if it is one
	args         string // as shown in its usage
	least, most  int    // number of arguments
	group        string
	operation    string // that it requests, if that has another name
	hidden       bool
	short, long  string
	examples     []string
	outputs      []string   // that -o takes; nil is text, json and yaml
	exact        bool       // programs read what it prints, as it is
	flags        string     // the words of their definitions
	completes    completion // of arguments; nil is files
	selects      bool       // its arguments are the stacks that it is about, as for --only
	run          func(context.Context, *call) (int, error)

	shows func(*session, context.Context, plan.Changes) error // prints what a plan changes; nil prints the plan
}

// A call is a command with its flags and arguments.
type call struct {
	Shell
	flags            flags
	args             []string
	command          command
	screen           io.Writer              // Out, for what draws on a terminal
	fetched          map[string]remote.File // by --fetch, by address
	tree             *cobra.Command         // of all commands
	installationSite *site                  // of the installation on AWS, once it was read
	named            naming
	requester        string // of requests, once it was looked up
	withholds        bool   // it has said which files are not uploaded
}

// Execute runs the command that args name and returns its exit code.
func Execute(ctx context.Context, s Shell, args []string) int {
	s.Err = &term.Safe{To: s.Err, Commands: s.Getenv("GITHUB_ACTIONS") == "true"}
	code := ExitOK
	root := s.tree(&code)
	root.SetArgs(slices.Concat(args, []string{})) // not nil, for which cobra takes os.Args
	at, err := root.ExecuteContextC(ctx)
	switch {
	case closed(err):
		return ExitOK
	case err != nil:
		path := strings.TrimSpace(strings.TrimPrefix(at.CommandPath(), program))
		fmt.Fprintf(s.Err, "%s\nsee %s\n", err, strings.Join(strings.Fields(s.Self+" "+path+" --help"), " "))
		return ExitRefused
	}
	return code
}

// tree makes the cobra command with all commands. A command writes its exit code
// to code.
func (s Shell) tree(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Deploy many CloudFormation stacks in dependency order",
		Long: wrapped(`Stackwright deploys many CloudFormation stacks in dependency order: through an installation on AWS, or on this laptop with
emulators of AWS.

Each flag can also be set by an environment variable: --max-deletions by STACKWRIGHT_MAX_DELETIONS, for instance. A flag
on the command line comes first.`, helpWidth),
		Example:       "  stackwright deploy examples/shop\n  stackwright status --follow\n  stackwright runs --installation stackwright",
		SilenceErrors: true, SilenceUsage: true,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, // so that an unknown command is reported, and not its flags
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Invalid, "there is no command %s%s", quoted(args[0]), didYouMean(args[0], names(cmd)))
			}
			cmd.SetOut(s.Err)
			*code = ExitRefused
			return cmd.Help()
		},
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", helpWidth)))
	for _, g := range []string{groupChange, groupControl, groupShow, groupInstall, groupOther} {
		root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	root.SetCompletionCommandGroupID(groupOther)
	for _, c := range commands() {
		under := root
		if c.parent != "" {
			under, _, _ = root.Find([]string{c.parent}) // it comes before
		}
		under.AddCommand(c.cobra(s, root, code))
	}
	root.AddCommand(&cobra.Command{Use: "exit-codes", Short: "The codes that commands end with", Long: strings.TrimSpace(exitCodes)})
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command", GroupID: groupOther,
		RunE: func(_ *cobra.Command, args []string) error {
			at, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fault.New(fault.Invalid, "there is no command %s%s", quoted(strings.Join(args, " ")), didYouMean(args[0], names(root)))
			}
			return at.Help()
		},
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// cobra is the command for cobra.
func (c command) cobra(s Shell, root *cobra.Command, code *int) *cobra.Command {
	call := &call{Shell: s, command: c, flags: defaults(), tree: root}
	cmd := &cobra.Command{
		Use: strings.TrimSpace(c.name + " " + c.args), Short: upper(c.short), Long: wrapped(c.long, helpWidth), GroupID: c.group, Hidden: c.hidden,
		Example: "  " + program + " " + strings.Join(c.examples, "\n  "+program+" "),
		RunE: func(cmd *cobra.Command, args []string) error {
			if call.args = args; c.selects {
				call.flags.only = args
			}
			if err := c.check(cmd, call); err != nil {
				return err
			}
			got, err := c.run(cmd.Context(), call.prepared())
			if err != nil {
				got = call.reportError(err)
			}
			*code = got
			return nil
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	call.flags.add(set, c.flags+" no-color")
	if o := set.Lookup("output"); o != nil {
		o.Usage = "`format` of what is printed: " + strings.Join(c.formats(), ", ")
	}
	call.completions(cmd)
	return cmd
}

// formats are those that -o takes.
func (c command) formats() []string {
	if c.outputs == nil {
		return []string{"text", "json", "yaml"}
	}
	return c.outputs
}

// check completes the flags from the environment, and refuses a number of
// arguments, or values of flags, that c does not take.
func (c command) check(cmd *cobra.Command, call *call) error {
	switch n := len(call.args); {
	case n < c.least:
		return fault.New(fault.Invalid, "%s: give %s", c.path(), c.args)
	case n > c.most && c.most == 0 && cmd.HasSubCommands():
		return fault.New(fault.Invalid, "there is no command %s %s%s", c.path(), quoted(call.args[0]), didYouMean(call.args[0], names(cmd)))
	case n > c.most && c.most == 0:
		return fault.New(fault.Invalid, "%s takes no arguments: %s", c.path(), quoted(call.args[0]))
	case n > c.most:
		return fault.New(fault.Invalid, "%s: %s is one too many: it takes %s", c.path(), quoted(call.args[c.most]), c.args)
	}
	if slices.Contains(call.args, "") {
		return fault.New(fault.Invalid, "%s: an argument is empty: give %s, or leave it out", c.path(), c.args)
	}
	if err := call.flags.complete(cmd.Flags(), call.Getenv); err != nil {
		return err
	}
	if cmd.Flags().Lookup("installation") != nil {
		if err := call.findPlace(); err != nil {
			return err
		}
	}
	if err := errors.Join(checkVariables(call.Environment), call.flags.check(c.formats())); err != nil {
		return err
	}
	return call.checkPlace()
}

// path is how the command is called: "targets add".
func (c command) path() string { return strings.TrimSpace(c.parent + " " + c.name) }

// prepared sets up the output of the call as its flags say.
func (c *call) prepared() *call {
	c.screen = c.Out
	switch pipeline := c.Getenv("GITHUB_ACTIONS") == "true"; {
	case c.Window != nil:
		c.Out = &term.Safe{To: c.Out}
	case pipeline && !c.Kept && !c.command.exact && c.flags.output != "json" && c.flags.output != "yaml":
		c.Out = &term.Safe{To: c.Out, Commands: true}
	}
	if c.flags.output == "yaml" {
		c.flags.output, c.Out = "json", &yamlWriter{to: c.Out}
	}
	if c.flags.noColor {
		getenv := c.Getenv
		c.Getenv = func(name string) string {
			if name == "NO_COLOR" {
				return "1"
			}
			return getenv(name)
		}
	}
	return c
}

// reportError prints an error, and returns its exit code.
func (c *call) reportError(err error) int {
	if closed(err) {
		return ExitOK
	}
	if errors.Is(err, syscall.ECONNREFUSED) && c.flags.endpoint != "" {
		fmt.Fprintf(c.Err, "nothing listens at %s: is serve running there?\n", c.flags.endpoint)
	}
	c.explain(err)
	switch {
	case isLost(err):
		return ExitLost
	case fault.Is(err, fault.Invalid, fault.Refused, fault.Missing):
		return ExitRefused
	}
	return ExitFailed
}

// closed reports whether the reader of the output has closed it. That is no error.
func closed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// explain prints an error, and what to do.
func (c *call) explain(err error) {
	for _, m := range fault.Messages(err) {
		fmt.Fprintln(c.Err, m)
	}
	if run, is := errors.AsType[*followError](err); is {
		fmt.Fprintln(c.Err, run.hint())
	}
}

// flagError says what is wrong with a flag, and suggests a similar flag.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		name := unknown.GetSpecifiedName()
		return fault.New(fault.Invalid, "unknown flag: %s%s", dashed(name), otherFlag(cmd, name))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		return fault.New(fault.Invalid, "--%s %s: %s", wrong.GetFlag().Name, quoted(wrong.GetValue()), wanted(wrong.GetFlag()))
	}
	return err
}

// otherFlag says which commands have a flag that cmd does not have, or suggests
// a similar flag of cmd.
func otherFlag(cmd *cobra.Command, name string) string {
	var have, all []string
	for _, c := range append(cmd.Root().Commands(), cmd.Commands()...) {
		if c.Flags().Lookup(name) != nil && !c.Hidden {
			have = append(have, c.Name())
		}
	}
	if len(have) > 0 {
		if len(have) > 4 {
			have = append(have[:3], "others")
		}
		return fmt.Sprintf(": %s does not have this flag (only %s)", cmd.Name(), andList(have))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
	return didYouMean("--"+name, all)
}

// andList is words in a sentence: "a, b and c".
func andList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// dashed is a flag as a person types it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// didYouMean names the word that is most like the given one, or the only one that
// begins with it, if there is one.
func didYouMean(word string, all []string) string {
	longer := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !strings.HasPrefix(w, word) })
	best := suggest.Closest(word, all)
	if len(longer) == 1 {
		best = cmp.Or(best, longer[0])
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// names lists the commands below cmd.
func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			all = append(all, c.Name())
		}
	}
	return all
}

// helpWidth is how many columns the help takes.
const helpWidth = 79

// wrapped is a text with its paragraphs, but not its indented lines, broken anew
// to fit a width.
func wrapped(text string, width int) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(p, " ") {
			out = append(out, p)
			continue
		}
		out = append(out, strings.Join(term.Wrap(p, width, ""), "\n"))
	}
	return strings.Join(out, "\n\n")
}

// upper is a text that begins with a capital letter.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
