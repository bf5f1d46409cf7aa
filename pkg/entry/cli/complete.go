package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionTimeout is how long the completion of a word may take.
const completionTimeout = 2 * time.Second

// A completion lists words that an argument may be, each with a description
// after a tab. done are the arguments before it.
type completion func(ctx context.Context, s *session, done []string) ([]string, error)

// completions has a shell complete the arguments and flags of a command.
func (c *call) completions(cmd *cobra.Command) {
	fixed := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	all := map[string]cobra.CompletionFunc{
		"output": fixed(c.command.formats()...), "functions": fixed(inProcess, asBinaries),
		"env": c.recorded(parts(1)), "project": c.recorded(parts(0)), "only": c.recorded(stackNames), "exclude": c.recorded(stackNames),
		"to": c.recorded(revisionWords), "before": c.recorded(revisionWords), "from": c.recorded(parts(1)), "revision": c.recorded(promotedWords),
	}
	if slices.Contains(strings.Fields(c.command.flags), "to.promote") {
		all["to"] = c.recorded(parts(1))
	}
	for flag, words := range all {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, words) // it fails only for a flag that is not there
		}
	}
	if slices.Contains(strings.Fields(c.command.flags), "changed-since.files") {
		_ = cmd.RegisterFlagCompletionFunc("changed-since", c.recorded(revisionWords))
	}
	switch {
	case c.command.completes != nil:
		cmd.ValidArgsFunction = c.recorded(c.command.completes)
	case c.command.most == 0:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// recorded completes with names and IDs from the records of an installation. It
// starts no server. If no installation answers in time, it returns no words.
func (c *call) recorded(list completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, done []string, startedAt string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(done) >= c.command.most && c.command.most > 0 && cmd.ValidArgsFunction == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		var words []string
		if s := c.answering(ctx, cmd); s != nil {
			words, _ = list(ctx, s, done) // a shell has no place for an error
		}
		return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, startedAt) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// answering is a session with an installation that answers, or nil.
func (c *call) answering(ctx context.Context, cmd *cobra.Command) *session {
	if c.flags.complete(cmd.Flags(), c.Getenv) != nil {
		return nil
	}
	c.Asks = false
	if cmd.Flags().Lookup("installation") != nil && c.findPlace() != nil {
		return nil
	}
	c.named.confirmed = true // a completion changes nothing
	if !c.flags.onAWS() && c.flags.endpoint == "" {
		if url, _, err := c.Laptop.Holder(c.flags.data); err != nil || url == "" {
			return nil
		}
	}
	s, err := c.openReadOnly(ctx)
	if err != nil {
		return nil
	}
	return s
}

// runIDs lists the runs.
func runIDs(ctx context.Context, s *session, done []string) ([]string, error) {
	if len(done) > 0 {
		return nil, nil
	}
	runs, err := s.runs(ctx)
	var all []string
	for _, r := range runs {
		all = append(all, r.ID+"\t"+r.Operation+" of "+r.Project+", "+string(r.State))
	}
	return all, err
}

// stackNames lists the recorded stacks, and after one, its outputs.
func stackNames(ctx context.Context, s *session, done []string) ([]string, error) {
	rows, err := s.records(ctx)
	var all []string
	for _, r := range rows {
		switch {
		case len(done) == 0:
			all = append(all, r.Node)
		case r.Node == done[0] && len(done) == 1:
			for key := range r.Outputs {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// recordedStacks lists the recorded stacks that are not given yet.
func recordedStacks(ctx context.Context, s *session, done []string) ([]string, error) {
	all, err := stackNames(ctx, s, nil)
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(done, name) }), err
}

// parts lists a part of the IDs of all projects: 0 is the name, 1 the environment.
func parts(part int) completion {
	return func(ctx context.Context, s *session, _ []string) ([]string, error) {
		ids, err := s.to.Projects(ctx)
		var all []string
		for _, id := range ids {
			all = append(all, strings.SplitN(id+"@", "@", 3)[part])
		}
		slices.Sort(all)
		return slices.Compact(all), err
	}
}
