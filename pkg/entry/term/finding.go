package term

import (
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxFindingLines is how many lines of findings a summary has. The run has them all.
const maxFindingLines = 200

// findingLines lists what the steps of a run have found in resources: the stack, the resource, and each property as expected and as it is.
func findingLines(r run.Run) []string {
	var lines []string
	for _, s := range r.Steps {
		lines = append(lines, resourceLines(s)...)
	}
	if more := len(lines) - maxFindingLines; more > 0 {
		lines = append(lines[:maxFindingLines], fmt.Sprintf("  and %d more lines: print the run with -o json", more))
	}
	return lines
}

// resourceLines lists what a step has found in the resources of its stack.
func resourceLines(s run.Step) []string {
	var lines []string
	resource := ""
	for _, f := range s.Result.Findings {
		if f.Resource == "" {
			continue
		}
		if len(lines) == 0 {
			lines = append(lines, "  "+s.Node)
		}
		if f.Resource != resource {
			lines = append(lines, "    "+f.Resource+"  "+f.Type+" "+f.Kind)
		}
		if resource = f.Resource; f.Property != "" || f.Why != "" {
			lines = append(lines, "      "+propertyText(f))
		}
	}
	if s.Result.More > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("    and %d more", s.Result.More))
	}
	return lines
}

// propertyText is a property as expected and as it is.
func propertyText(f plan.Finding) string {
	value := func(text string) string {
		if text == "" {
			return "(none)"
		}
		return oneLine(text)
	}
	switch {
	case f.Property == "":
		return oneLine(f.Why)
	case f.Secret:
		return f.Property + ": differs (secret)"
	}
	return fmt.Sprintf("%s: %s → %s", f.Property, value(f.Expected), value(f.Actual))
}
