package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/loss"
)

// doubtful refuses texts that were written from live stacks, and of which CloudFormation has not returned all characters.
func (c *checker) doubtful(s *resolve.Stack) {
	for kind, entries := range map[string]map[string]declared.Entry{"parameter": s.Settings.Parameters, "tag": s.Settings.Tags} {
		texts := s.Node.Parameters
		if kind == "tag" {
			texts = s.Node.Tags
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if n := loss.Doubts(name + texts[name].String()); n > 0 {
				c.Add(entries[name].At, "stack %s: %s %s: %s", s.Name, kind, problem.Short(name), unreadable(n))
			}
		}
	}
	if s.Template == nil || c.doubted[s.Template] {
		return
	}
	c.doubted[s.Template] = true
	for i, line := range strings.Split(string(s.Template.Body), "\n") {
		if n := loss.Doubts(line); n > 0 {
			c.Add(s.Template.Where(i+1, 1), "stack %s: %s", s.Name, unreadable(n))
		}
	}
}

// unreadable says what a person has to do about characters that are not known.
func unreadable(n int) string {
	what := "a character"
	if n > 1 {
		what = fmt.Sprintf("%d characters", n)
	}
	return what + " of the live text cannot be read (\uFFFD?), because CloudFormation returns ? for each that is not ASCII: take the text from the source, or write ? where it is one"
}
