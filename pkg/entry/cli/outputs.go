package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An output is an output of a stack.
type output struct{ environment, name, stack, key, value string }

// listOutputs shows the recorded outputs: of all stacks, of one, or one of them.
func listOutputs(ctx context.Context, c *call) (int, error) {
	format := map[string]func(output) (string, error){"env": exported, "dotenv": dotenv, "tfvars": tfvars}[c.flags.output]
	switch {
	case c.flags.raw && len(c.args) < 2:
		return c.refuse(fault.New(fault.Invalid, "--raw prints one value: give a stack and the key of an output"))
	case c.flags.raw || format != nil:
		return c.printOutputs(ctx, format)
	}
	return c.show(ctx, []string{"STACK", "OUTPUT", "VALUE", "PROJECT", "ENVIRONMENT"}, func(s *session) (objects []any, cells [][]string, err error) {
		rows, err := s.rowsOf(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range rows {
			objects = append(objects, map[string]any{"project": r.project, "stack": r.Node, "outputs": r.Outputs})
		}
		for _, o := range outputsOfRows(rows) {
			cells = append(cells, []string{o.stack, o.key, o.value, o.name, o.environment})
		}
		return objects, cells, nil
	})
}

// printOutputs prints a line for each output; without a format, the value of the
// only one.
func (c *call) printOutputs(ctx context.Context, format func(output) (string, error)) (int, error) {
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		rows, err := s.rowsOf(ctx)
		if err != nil {
			return ExitFailed, err
		}
		all, seen := outputsOfRows(rows), make(map[string]output)
		if format == nil && len(all) > 1 {
			return ExitFailed, fault.New(fault.Invalid, "%d stacks have this output: give --project and --env", len(all))
		}
		for _, o := range all {
			text := o.value
			if format != nil {
				if text, err = format(o); err != nil {
					return ExitFailed, err
				}
				if twin, is := seen[o.variable()]; is {
					return ExitFailed, fault.New(fault.Invalid, "output %s of %s in %s@%s and output %s of %s in %s@%s have the same name %s: give a stack, or --project and --env",
						twin.key, twin.stack, twin.name, twin.environment, o.key, o.stack, o.name, o.environment, o.variable())
				}
				seen[o.variable()] = o
			}
			if _, err := fmt.Fprintln(c.Out, text); err != nil {
				return ExitFailed, err
			}
		}
		return ExitOK, nil
	})
}

// rowsOf are the records that the call's arguments choose, with the outputs that
// they choose.
func (s *session) rowsOf(ctx context.Context) ([]row, error) {
	rows, err := s.records(ctx)
	if err != nil || len(s.call.args) == 0 {
		return rows, err
	}
	chosen := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return s.call.args[0] != r.Node && s.call.args[0] != r.Stack })
	if len(chosen) == 0 {
		return nil, s.call.noStack(rows)
	}
	if len(s.call.args) < 2 {
		return chosen, nil
	}
	key := s.call.args[1]
	var having []row
	var keys []string
	for _, r := range chosen {
		keys = slices.AppendSeq(keys, maps.Keys(r.Outputs))
		if value, is := r.Outputs[key]; is {
			r.Outputs = map[string]string{key: value}
			having = append(having, r)
		}
	}
	if len(having) == 0 {
		slices.Sort(keys)
		return nil, fault.New(fault.Missing, "stack %s has no output %s%s", quoted(s.call.args[0]), quoted(key), didYouMean(key, keys))
	}
	return having, nil
}

// outputsOfRows lists the outputs of records, sorted by key.
func outputsOfRows(rows []row) []output {
	var all []output
	for _, r := range rows {
		name, environment, _ := strings.Cut(r.project, "@")
		for _, key := range slices.Sorted(maps.Keys(r.Outputs)) {
			all = append(all, output{environment, name, r.Node, key, r.Outputs[key]})
		}
	}
	return all
}
