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

// A Stack is a stack of a new project.
type Stack struct {
	Name         string               // in the project
	Template     string               // the path of its template
	StackName    string               // in CloudFormation; "" if it follows from Name
	Parameters   map[string]string    // their values, in which ${ is text
	References   map[string]string    // of further parameters: values with references
	Missing      []template.Parameter // those without a value
	Tags         map[string]string    // likewise
	Capabilities []string
	Protect      bool
	Targets      []string              // none is the default target
	Needs        []string              // further dependencies, by name
	Approve      project.ApprovalLevel // which of its changes have to be approved
}

// File writes a project file, with an environment unless it is "". The stacks are listed in their order.
func File(project, environment string, stacks []Stack) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\nproject: %s\n\n", Schema, project)
	if environment != "" {
		fmt.Fprintf(&b, "environments:\n  %s: {}\n\n", scalar(environment))
	}
	b.WriteString("stacks:\n")
	for _, s := range stacks {
		s.write(&b)
	}
	return b.Bytes()
}

func (s Stack) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "  %s:\n    template: %s\n", scalar(s.Name), scalar(s.Template))
	if s.StackName != "" {
		fmt.Fprintf(b, "    stack_name: %s\n", scalar(s.StackName))
	}
	parameters := escaped(s.Parameters)
	maps.Copy(parameters, s.References)
	switch {
	case len(parameters) > 0:
		b.WriteString("    parameters:\n")
	case len(s.Missing) > 0: // a key without values is not allowed
		b.WriteString("    # parameters:\n")
	}
	texts(b, parameters)
	for _, p := range s.Missing {
		fmt.Fprintf(b, "      # %s: %s\n", p.Name, about(p))
	}
	if len(s.Tags) > 0 {
		b.WriteString("    tags:\n")
		texts(b, escaped(s.Tags))
	}
	if len(s.Capabilities) > 0 {
		fmt.Fprintf(b, "    capabilities: [%s]\n", strings.Join(s.Capabilities, ", "))
	}
	if s.Protect {
		b.WriteString("    protect: true\n")
	}
	if s.Approve != project.ApproveNever {
		fmt.Fprintf(b, "    approve: %s\n", s.Approve)
	}
	list(b, "targets", s.Targets)
	list(b, "needs", s.Needs)
}

// list writes a key with a list.
func list(b *bytes.Buffer, key string, values []string) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(b, "    %s:\n", key)
	for _, v := range values {
		fmt.Fprintf(b, "      - %s\n", scalar(v))
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

// escaped returns texts without references.
func escaped(all map[string]string) map[string]string {
	with := make(map[string]string, len(all))
	for name, text := range all {
		with[name] = strings.ReplaceAll(text, "${", "$${")
	}
	return with
}

// texts writes the entries of a key.
func texts(b *bytes.Buffer, all map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(b, "      %s: %s\n", scalar(name), scalar(all[name]))
	}
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
