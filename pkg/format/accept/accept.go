// Package accept writes what a drift detection has found in live stacks into copies of their templates.
//
// Only the bytes of the values that differ change. Every change is read again, and is left out unless it has made exactly the
// template that it should make.
package accept

import (
	"cmp"
	"maps"
	slashes "path"
	"slices"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Detected is what a drift detection has found in a stack.
type Detected struct {
	Findings []plan.Finding
	More     int // how many further findings were not kept
}

// A Result is what became of the findings.
type Result struct {
	Files   archive.Files // templates with live values; only those that differ from the files of the project
	Written []Value       // in the order of the templates
	Already []Value       // that the templates have already
	Left    []Left        // what the user has to do, sorted by position
	Shared  []Shared      // the changed templates that other environments have too
}

// A Value is a live value that a template has now.
type Value struct {
	problem.Position          // in the template of the project
	Stacks           []string `json:"stacks"` // that have the template, and this drift
	Resource         string   `json:"resource"`
	Property         string   `json:"property"`
	Expected         string   `json:"expected,omitempty"`
	Actual           string   `json:"actual,omitempty"` // empty if it is not there any more
}

// A Left is a finding that is not in the copies of the templates.
type Left struct {
	problem.Position                   // in the template, as far as it is known
	Stack            string            `json:"stack"`
	Resource         string            `json:"resource,omitempty"`
	Property         string            `json:"property,omitempty"`
	Parameter        string            `json:"parameter,omitempty"`    // that the value is
	ParameterAt      *problem.Position `json:"parameter_at,omitempty"` // where the value of the parameter is written
	Why              string            `json:"why"`                    // and what to do
}

// String is the finding as it is printed.
func (l Left) String() string {
	what := "stack " + l.Stack
	if l.Resource != "" {
		what += ": " + l.Resource
	}
	if l.Property != "" {
		what += " " + l.Property
	}
	return problem.Problem{Position: l.Position, Text: what + ": " + l.Why}.String()
}

// A Shared is a changed template that stacks of other environments have, whose drift was not detected.
type Shared struct {
	File         string   `json:"file"`
	Environments []string `json:"environments"`
}

// Project puts the live values of a project into copies of its templates. detected has what was found in each stack whose resources
// were compared; uncompared are other stacks that may exist, so that whether they have the same drift is not known.
func Project(files archive.Files, l format.Loaded, detected map[string]Detected, uncompared []string) Result {
	r := Result{Files: archive.Files{}}
	byFile := map[string][]Stack{}
	for _, node := range slices.Sorted(maps.Keys(detected)) {
		d := detected[node]
		if d.More > 0 {
			r.Left = append(r.Left, Left{Stack: node, Why: plural(d.More, "finding was", "findings were") + " not kept: write the others first, deploy, and detect the drift again"})
		}
		s := Stack{Name: node, Findings: differing(d.Findings), Parameters: l.Origins[node].Parameters, Compared: true}
		if why := unwritable(l, node); why != "" {
			r.leave(s, why)
			continue
		}
		byFile[l.Origins[node].File] = append(byFile[l.Origins[node].File], s)
	}
	for _, node := range uncompared {
		file := l.Origins[node].File
		byFile[file] = append(byFile[file], Stack{Name: node})
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if file == "" || !slices.ContainsFunc(byFile[file], func(s Stack) bool { return len(s.Findings) > 0 }) {
			continue
		}
		done := Template(file, files[file], byFile[file])
		r.Written, r.Already, r.Left = append(r.Written, done.Written...), append(r.Already, done.Already...), append(r.Left, done.Left...)
		if len(done.Written) == 0 {
			continue
		}
		r.Files[file] = done.Body
		if others := elsewhere(files, l.Project.Environment, file); len(others) > 0 {
			r.Shared = append(r.Shared, Shared{file, others})
		}
	}
	slices.SortStableFunc(r.Left, func(a, b Left) int { return a.Compare(b.Position) })
	return r
}

// leave leaves all findings of a stack.
func (r *Result) leave(s Stack, why string) {
	for _, f := range s.Findings {
		r.Left = append(r.Left, Left{Stack: s.Name, Resource: f.Resource, Property: f.Property, Why: reason(f, why)})
	}
}

// differing are the findings about something that differs.
func differing(all []plan.Finding) []plan.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f plan.Finding) bool { return !f.Differs() })
}

// elsewhere lists the other environments in which a stack has a template, in their order.
func elsewhere(files archive.Files, environment, file string) []string {
	d := format.Declared(files)
	has := func(t *declared.Template) bool { return t != nil && t.Path != "" && slashes.Clean(t.Path) == file }
	var all []string
	here, _ := d.Environment(environment)
	for _, name := range d.EnvironmentNames() {
		e, _ := d.Environment(name)
		templates := map[string]*declared.Template{}
		for i, l := range d.Layers(e) {
			for _, s := range l.Stacks {
				if s.Template != nil && (i > 0 || s.In(e)) {
					templates[s.Name] = s.Template
				}
			}
		}
		if name != cmp.Or(here.Pattern, here.Name) && slices.ContainsFunc(slices.Collect(maps.Values(templates)), has) {
			all = append(all, name)
		}
	}
	return all
}
