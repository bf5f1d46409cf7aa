package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/lib/unified"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Configuration is what was uploaded, and the project that it describes.
type Configuration struct {
	Files     map[string][]byte
	Nodes     map[string]project.Node
	Templates map[string][]byte // by digest
	Unread    string            // why the project cannot be read; empty if it can be
}

// ConfigurationOf is the configuration of a run. unread says why the project cannot be read; it is empty if it can be.
func ConfigurationOf(run string, files map[string][]byte, nodes map[string]project.Node, templates map[string][]byte, unread string) Configuration {
	if unread != "" {
		unread = "the stacks of run " + run + " cannot be compared: " + unread
	}
	return Configuration{files, nodes, templates, unread}
}

// A Change is how two revisions differ in something.
type Change string

// The changes.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Changed Change = "changed"
)

// A Difference is what differs between two revisions. It has no values of parameters and tags, nor files but templates: they may be
// secret, and the digest of a short value betrays it.
type Difference struct {
	From      ComparedRevision     `json:"from"`
	To        ComparedRevision     `json:"to"`
	Files     []NamedChange        `json:"files"`                // sorted by name
	Stacks    []StackDifference    `json:"stacks"`               // sorted by name
	Templates []TemplateDifference `json:"templates"`            // of stacks of both revisions; in the order of the stacks
	Messages  []string             `json:"messages,omitempty"`   // what cannot be compared, and why
	Next      int                  `json:"next_entry,omitempty"` // in a page of the API: the number of the first entry of the next page, of files, stacks and templates together
}

// A ComparedRevision is one of two revisions: the run that has deployed it, and its configuration.
type ComparedRevision struct {
	run.Source
	Run string `json:"run"`
}

// A NamedChange is a change of a file, a parameter or a tag.
type NamedChange struct {
	Name   string `json:"name"`
	Change Change `json:"change"`
}

// A StackDifference is what differs in a stack, as the project describes it.
type StackDifference struct {
	Stack      string        `json:"stack"`
	Change     Change        `json:"change"`
	Template   bool          `json:"template,omitempty"`   // the template is another one
	Parameters []NamedChange `json:"parameters,omitempty"` // sorted by name
	Tags       []NamedChange `json:"tags,omitempty"`       // sorted by name
	Other      []string      `json:"other,omitempty"`      // what else is different, such as needs and protect; sorted
}

// A TemplateDifference is what differs between two templates.
type TemplateDifference struct {
	Stacks  []string `json:"stacks"` // that have them; sorted
	Before  string   `json:"before"` // the digest
	After   string   `json:"after"`
	Text    string   `json:"text,omitempty"`    // in the unified format
	Omitted string   `json:"omitted,omitempty"` // why there is no text
}

// mostText is how many bytes the texts of a difference have together, so that an answer can contain them.
const mostText = 2 << 20

// DifferenceOf compares two configurations.
func DifferenceOf(before, after Configuration) Difference {
	d := Difference{Files: changes(before.Files, after.Files, bytes.Equal), Stacks: []StackDifference{}, Templates: []TemplateDifference{}}
	for _, c := range []Configuration{before, after} {
		if c.Unread != "" {
			d.Messages = append(d.Messages, c.Unread)
		}
	}
	if len(d.Messages) > 0 {
		return d
	}
	for _, c := range changes(before.Nodes, after.Nodes, same) {
		s := StackDifference{Stack: c.Name, Change: c.Change}
		if c.Change == Changed {
			b, a := before.Nodes[c.Name], after.Nodes[c.Name]
			s.Template = b.Template.Digest != a.Template.Digest
			s.Parameters, s.Tags, s.Other = changes(b.Parameters, a.Parameters, same), changes(b.Tags, a.Tags, same), others(b, a)
			d.addTemplate(c.Name, b.Template.Digest, a.Template.Digest)
		}
		d.Stacks = append(d.Stacks, s)
	}
	left := mostText
	for i := range d.Templates {
		d.Templates[i].fill(before.Templates[d.Templates[i].Before], after.Templates[d.Templates[i].After], &left)
	}
	return d
}

// addTemplate records that a stack has another template. Stacks that have had one template, and have one again, share the difference.
func (d *Difference) addTemplate(stack, before, after string) {
	if before == after {
		return
	}
	for i, t := range d.Templates {
		if t.Before == before && t.After == after {
			d.Templates[i].Stacks = append(t.Stacks, stack)
			return
		}
	}
	d.Templates = append(d.Templates, TemplateDifference{Stacks: []string{stack}, Before: before, After: after})
}

// fill writes the text of a difference, unless it may contain a secret, or is too long.
func (t *TemplateDifference) fill(before, after []byte, left *int) {
	for _, body := range [][]byte{before, after} {
		parsed, err := template.Parse("template", body)
		if err != nil {
			t.Omitted = "a template cannot be read, so it is not known whether it has secrets"
			return
		}
		for _, p := range parsed.Parameters {
			if p.NoEcho && p.Default != nil {
				t.Omitted = "parameter " + p.Name + " is NoEcho and has a default, which is secret"
				return
			}
		}
	}
	text := unified.Of(string(before), string(after))
	if *left -= len(text); *left < 0 {
		t.Omitted = "the texts of the templates are too long together: compare the files"
		return
	}
	t.Text = text
}

// changes compares what two maps have by name.
func changes[T any](before, after map[string]T, same func(a, b T) bool) []NamedChange {
	all := []NamedChange{}
	names := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b, was := before[name]
		a, is := after[name]
		switch {
		case !was:
			all = append(all, NamedChange{name, Added})
		case !is:
			all = append(all, NamedChange{name, Removed})
		case !same(b, a):
			all = append(all, NamedChange{name, Changed})
		}
	}
	return all
}

// same reports whether two values are the same in JSON.
func same[T any](a, b T) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// others lists the fields in which two nodes differ, but for the template, the parameters and the tags.
func others(before, after project.Node) []string {
	fields := func(n project.Node) map[string]json.RawMessage {
		n.Template, n.Parameters, n.Tags = project.Template{}, nil, nil
		all := map[string]json.RawMessage{}
		if text, err := json.Marshal(n); err != nil || json.Unmarshal(text, &all) != nil {
			return nil // it cannot fail: a node is written so into its spec
		}
		return all
	}
	var all []string
	for _, c := range changes(fields(before), fields(after), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		all = append(all, c.Name)
	}
	return all
}
