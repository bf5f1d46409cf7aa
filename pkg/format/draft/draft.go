// Package draft writes the project file of a new project.
package draft

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// Schema is where editors find the JSON schema of a project file.
const Schema = "https://raw.githubusercontent.com/stackwright/stackwright/main/docs/project.schema.json"

// A Project is what a new project file says.
type Project struct {
	Name         string
	Defaults     Stack // the settings that all stacks have
	Stacks       []Stack
	Environments []Environment
}

// An Environment is an environment of a new project, with the stacks that only it has.
type Environment struct {
	Name   string
	Stacks []Stack
}

// A Stack is a stack of a new project.
type Stack struct {
	Comment      string               // lines above it
	Name         string               // in the project
	Template     string               // the path of its template
	StackName    string               // in CloudFormation; "" if it follows from Name
	Parameters   map[string]Value     // by name
	Missing      []template.Parameter // those without a value
	Tags         map[string]Value     // likewise
	Capabilities []string
	Protect      bool
	Timeout      string                // as in the file; "" is none
	Targets      []string              // none is the default target
	Needs        []string              // further dependencies, by name
	Approve      project.ApprovalLevel // which of its changes have to be approved

	Notifications   []string // texts with references; as literals, those of live stacks
	Ignored         bool     // operations leave it alone
	Obsolete        bool     // the same, but a prune deletes it
	OnFailure       string   // as in the file; "" is none
	DisableRollback bool
	Triggers        project.RollbackTriggers // of live stacks
	Policy          string                   // the body of the stack policy
	Hooks           []Hook                   // those of one moment after one another
}

// A Hook is a hook of a stack.
type Hook struct {
	Moment project.Moment // as in the file
	Name   string
	Keys   []Key // the first says its type
}

// A Key is a key of a hook with its value, a text with references.
type Key struct{ Name, Value string }

// A Value is the value of a parameter or a tag, with references.
type Value struct {
	Comment string   // lines above it
	Items   []string // one for a text
	List    bool
}

// Literal is a text without references.
func Literal(text string) Value { return Reference(strings.ReplaceAll(text, "${", "$${")) }

// Reference is a text with references.
func Reference(text string) Value { return Value{Items: []string{text}} }

// Equal reports whether two values are the same, but for their comments.
func (v Value) Equal(other Value) bool {
	return v.List == other.List && slices.Equal(v.Items, other.Items)
}

// File writes a project file. The environments and the stacks are listed in their order.
func File(p Project) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\nproject: %s\n\n", Schema, p.Name)
	var defaults bytes.Buffer
	p.Defaults.settings(&defaults, "    ")
	if defaults.Len() > 0 {
		fmt.Fprintf(&b, "defaults:\n  \"\":\n%s\n", defaults.Bytes())
	}
	if len(p.Stacks) > 0 {
		writeStacks(&b, "", p.Stacks)
	}
	if len(p.Environments) == 0 {
		return b.Bytes()
	}
	if len(p.Stacks) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("environments:\n")
	for _, e := range p.Environments {
		if len(e.Stacks) == 0 {
			fmt.Fprintf(&b, "  %s: {}\n", scalar(e.Name))
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", scalar(e.Name))
		writeStacks(&b, "    ", e.Stacks)
	}
	return b.Bytes()
}

// writeStacks writes the key stacks of a layer.
func writeStacks(b *bytes.Buffer, indent string, stacks []Stack) {
	fmt.Fprintf(b, "%sstacks:\n", indent)
	for _, s := range stacks {
		comment(b, indent+"  ", s.Comment)
		fmt.Fprintf(b, "%s  %s:\n%s    template: %s\n", indent, scalar(s.Name), indent, scalar(s.Template))
		if s.StackName != "" {
			fmt.Fprintf(b, "%s    stack_name: %s\n", indent, scalar(s.StackName))
		}
		s.settings(b, indent+"    ")
	}
}

// settings writes the keys that a stack and defaults may have.
func (s Stack) settings(b *bytes.Buffer, indent string) {
	switch {
	case len(s.Parameters) > 0:
		fmt.Fprintf(b, "%sparameters:\n", indent)
	case len(s.Missing) > 0: // a key without values is not allowed
		fmt.Fprintf(b, "%s# parameters:\n", indent)
	}
	values(b, indent+"  ", s.Parameters)
	for _, p := range s.Missing {
		fmt.Fprintf(b, "%s  # %s: %s\n", indent, p.Name, about(p))
	}
	if len(s.Tags) > 0 {
		fmt.Fprintf(b, "%stags:\n", indent)
		values(b, indent+"  ", s.Tags)
	}
	if len(s.Capabilities) > 0 {
		fmt.Fprintf(b, "%scapabilities: [%s]\n", indent, strings.Join(s.Capabilities, ", "))
	}
	if s.Ignored {
		fmt.Fprintf(b, "%senabled: false\n", indent)
	}
	if s.Obsolete {
		fmt.Fprintf(b, "%sobsolete: true\n", indent)
	}
	if s.Protect {
		fmt.Fprintf(b, "%sprotect: true\n", indent)
	}
	if s.Timeout != "" {
		fmt.Fprintf(b, "%stimeout: %s\n", indent, s.Timeout)
	}
	list(b, indent, "notifications", s.Notifications)
	if s.OnFailure != "" {
		fmt.Fprintf(b, "%son_failure: %s\n", indent, s.OnFailure)
	}
	if t := s.Triggers; !t.IsZero() {
		fmt.Fprintf(b, "%srollback_triggers:\n", indent)
		list(b, indent+"  ", "alarms", t.Alarms)
		list(b, indent+"  ", "composite_alarms", t.CompositeAlarms)
		if t.Minutes > 0 {
			fmt.Fprintf(b, "%s  minutes: %d\n", indent, t.Minutes)
		}
	}
	if s.Policy != "" {
		fmt.Fprintf(b, "%sstack_policy: %s\n", indent, s.Policy)
	}
	if s.DisableRollback {
		fmt.Fprintf(b, "%sdisable_rollback: true\n", indent)
	}
	if s.Approve != project.ApproveNever {
		fmt.Fprintf(b, "%sapprove: %s\n", indent, s.Approve)
	}
	list(b, indent, "targets", s.Targets)
	list(b, indent, "needs", s.Needs)
	writeHooks(b, indent, s.Hooks)
}

// writeHooks writes the key hooks of a stack.
func writeHooks(b *bytes.Buffer, indent string, hooks []Hook) {
	for i, h := range hooks {
		if i == 0 {
			fmt.Fprintf(b, "%shooks:\n", indent)
		}
		if i == 0 || h.Moment != hooks[i-1].Moment {
			fmt.Fprintf(b, "%s  %s:\n", indent, h.Moment)
		}
		fmt.Fprintf(b, "%s    - name: %s\n", indent, scalar(h.Name))
		for _, k := range h.Keys {
			fmt.Fprintf(b, "%s      %s: %s\n", indent, k.Name, scalar(k.Value))
		}
	}
}

// list writes a key with a list.
func list(b *bytes.Buffer, indent, key string, values []string) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(b, "%s%s:\n", indent, key)
	for _, v := range values {
		fmt.Fprintf(b, "%s  - %s\n", indent, scalar(v))
	}
}

// values writes the entries of a key.
func values(b *bytes.Buffer, indent string, all map[string]Value) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		comment(b, indent, v.Comment)
		switch {
		case !v.List:
			fmt.Fprintf(b, "%s%s: %s\n", indent, scalar(name), scalar(strings.Join(v.Items, "")))
		case len(v.Items) == 0:
			fmt.Fprintf(b, "%s%s: []\n", indent, scalar(name))
		default:
			list(b, indent, scalar(name), v.Items)
		}
	}
}

// comment writes lines as comments.
func comment(b *bytes.Buffer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s\n", strings.TrimRight(indent+"# "+strings.TrimRight(line, "\r\n"), " "))
	}
}

// about is a parameter without a value, in one line: what to write, and what it is for.
func about(p template.Parameter) string {
	value := "VALUE"
	if p.NoEcho {
		value = "${secret:NAME}"
	}
	text := strings.Join(strings.Fields(p.Type+": "+p.Description), " ")
	if short := []rune(text); len(short) > 100 {
		text = string(short[:100]) + "…"
	}
	return value + " # " + strings.TrimSuffix(text, ":")
}

// A bare scalar is text in every version of YAML, and needs no quotes.
var (
	bare   = pattern.New(`^[A-Za-z/][-A-Za-z0-9_./]*$`)
	worded = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
)

// scalar writes a text as YAML.
func scalar(text string) string {
	if bare.MatchString(text) && !slices.Contains(worded, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text) // its escapes are those of YAML, too
}
