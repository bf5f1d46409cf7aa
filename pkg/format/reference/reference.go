// Package reference has the kinds of references in values: how each is written in
// ${…}, and how it is resolved. A kind is one file and one row of the table.
package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// kinds is the table. The first kind that matches reads the reference.
var kinds = []Kind{
	ofProject, ofEnvironment, account, region,
	variable, file,
	stack, attribute, secret, ssm, ssmSecure, ssmValue, export, external, snapshot, restored,
	output, // every other body with a dot
}

// A Kind is one kind of reference.
type Kind struct {
	Name   string
	Syntax []string // how it is written, for messages
	Early  bool     // it is known before any stack is deployed, so options may hold it
	Output bool     // it is an output of a stack, which is known when the stack is deployed
	Target bool     // it follows from the stack's target, so targets cannot hold it

	Dynamic bool // CloudFormation resolves it, so that no function gets its value

	match   func(body string) (rest string, ok bool)          // whether the body of ${…} is of this kind
	parse   func(rest string) (r declared.Reference, ok bool) // without Written and Kind
	resolve func(s Scope, r declared.Reference) (result Result, err error)
}

// A Scope describes the stack and the value that contain a reference.
type Scope struct {
	Project, Environment, Node string
	Target                     project.Target
	Tag                        bool               // the value is of a tag
	Own                        bool               // it may be an output of the stack itself
	Parameter                  template.Parameter // of the template that the value is for; zero if it is not known
	Lookup                     Lookup
}

// A Lookup finds the stacks, variables and files that references name. Its errors
// do not quote the reference.
type Lookup interface {
	Variable(name string) (text string, value any, err error) // value is nil if the text is all
	File(path string) (string, error)
	Stack(name, target string) (node, physicalName string, err error)
	Attribute(name, target, key string) (project.Text, error)
	Target(name string) (project.Target, error)
}

// ErrReported is returned by a Lookup that has reported the reason itself.
var ErrReported = errors.New("reported already")

// A Result replaces a reference: a text, or an output of a node, which is known
// after the node is deployed.
type Result struct {
	Text         string
	Value        any          // a number, true or false, a list or a map; nil if the text is all. A map has no text
	Parts        project.Text // of several parts; nil if it is none
	Node, Output string
}

// Of returns the kind of a name.
func Of(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Resolve resolves a reference in a scope.
func Resolve(s Scope, r declared.Reference) (Result, error) {
	k, ok := Of(r.Kind)
	if !ok {
		return Result{}, fmt.Errorf("there is no kind of reference called %q", r.Kind)
	}
	return k.resolve(s, r)
}

// Early lists how the references are written that options may hold.
func Early() string {
	return list(func(k Kind) bool { return k.Early })
}

// Parse splits a text at its references. $${ is a literal ${.
func Parse(text string) ([]declared.Part, error) {
	var all []declared.Part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			all = append(all, declared.Part{Literal: literal.String()})
			literal.Reset()
		}
	}
	if !strings.Contains(text, "${") {
		return []declared.Part{{Literal: text}}, nil // shares the text's bytes
	}
	whole := text
	for text != "" {
		at := strings.Index(text, "${")
		if at < 0 {
			literal.WriteString(text)
			break
		}
		if at > 0 && text[at-1] == '$' {
			literal.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		literal.WriteString(text[:at])
		text = text[at:]
		p, n, err := part(whole, len(whole)-len(text))
		if err != nil {
			return nil, err
		}
		flush()
		all = append(all, p)
		text = text[n:]
	}
	flush()
	return all, nil
}

// part reads the reference or the expression that begins at an offset in a text, and returns how
// long it is.
func part(text string, at int) (p declared.Part, n int, err error) {
	written, _, closed := strings.Cut(text[at:], "}")
	if closed {
		written += "}"
		r, err := parse(written)
		if err == nil {
			return declared.Part{Reference: &r}, len(written), nil
		}
		if !isExpression(written) {
			return p, 0, err
		}
	} else if !isExpression(written) {
		return p, 0, fmt.Errorf("%q is not closed: write ${…}, or $${ for a literal ${", problem.Short(written))
	}
	x, n, err := parseExpression(text, at)
	return declared.Part{Expression: &x}, n, err
}

// parse reads one reference, ${ and } included.
func parse(written string) (declared.Reference, error) {
	body := written[2 : len(written)-1]
	for _, k := range kinds {
		rest, ok := k.match(body)
		if !ok {
			continue
		}
		r, ok := k.parse(rest)
		if !ok {
			return r, wrong(written, "write "+or(k.Syntax))
		}
		r.Written, r.Kind = written, k.Name
		return r, nil
	}
	if strings.Contains(body, ":") {
		return declared.Reference{}, wrong(written, "a reference with a colon is one of "+list(func(k Kind) bool { return strings.Contains(k.Syntax[0], ":") }))
	}
	return declared.Reference{}, wrong(written, "write "+list(func(Kind) bool { return true }))
}

func wrong(written, want string) error {
	return fmt.Errorf("%s is not a reference: %s; write $${ for a literal ${", problem.Short(written), want)
}

// list lists how references are written, each kind in its first form.
func list(which func(Kind) bool) string {
	var all []string
	for _, k := range kinds {
		if which(k) {
			all = append(all, k.Syntax[0])
		}
	}
	return or(all)
}

func or(all []string) string {
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// prefix matches bodies that begin with a prefix.
func prefix(p string) func(string) (string, bool) {
	return func(body string) (string, bool) { return strings.CutPrefix(body, p) }
}

// named is a reference that has a name and nothing else.
func named(name string) (declared.Reference, bool) {
	return declared.Reference{Name: name}, name != ""
}
