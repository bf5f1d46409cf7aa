package cli

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// alters reports whether the called command changes something, and does not only show it.
func (c *call) alters() bool {
	if o := plan.AllOperations().Of(c.operation()); o.Preview || o.Compares {
		return false
	}
	changes := c.command.group == groupChange || c.command.parent == "snapshots" && c.command.operation != ""
	return c.command.group == groupControl || changes && !c.flags.plan
}

// checkPlace refuses a command that changes something if CI is set and nothing says where: a pipeline whose setting is
// missing or misspelt would deploy to emulators, and end well.
func (c *call) checkPlace() error {
	if ci := c.Getenv("CI"); ci == "" || ci == "false" || ci == "0" || c.flags.located || !c.alters() {
		return nil
	}
	return fault.New(fault.Refused, "%s: CI is set, and nothing says where to %s: name the installation on AWS with --installation or --api, "+
		"or with installation: in the project file, or the emulators with --endpoint or --data (or %s, for instance)", c.command.path(), c.command.path(), variable("installation"))
}

// otherVariables are the variables STACKWRIGHT_… that set no flag: for tokens, and for tests.
func otherVariables() []string {
	return []string{"STACKWRIGHT_TOKEN", "STACKWRIGHT_INPUTS", "STACKWRIGHT_SMOKE", "STACKWRIGHT_CHROMIUM", "STACKWRIGHT_TEST_AS_PROGRAM"}
}

// checkVariables refuses variables that look as if they set a flag, and set none. The environment is that of
// os.Environ.
func checkVariables(environment []string) error {
	known := otherVariables()
	for name := range maps.Keys(new(flags).definitions()) {
		flag, _, _ := strings.Cut(name, ".")
		known = append(known, variable(flag))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	var wrong []error
	for _, one := range environment {
		name, _, _ := strings.Cut(one, "=")
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(known, name) {
			wrong = append(wrong, fault.New(fault.Invalid, "the variable %s sets no flag%s: correct it, or remove it from the environment", name, didYouMean(name, known)))
		}
	}
	return errors.Join(wrong...)
}

// place says where the site is, for people.
func (s site) place() string {
	return report.Place(s.emulated, s.home.Target, cmp.Or(s.stack, s.label))
}

// says reports whether the first and the last line of the output say where the command changes something. With
// --quiet, only the last line does.
func (s *session) says() bool { return s.call.alters() && s.call.flags.output == "text" }
