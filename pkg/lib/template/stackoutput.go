package template

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// getStackOutput is the function that reads an output of another stack, also of one in another account or region. The
// reference is weak: CloudFormation reads the value when it creates or updates the stack that has the function.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
const getStackOutput = "Fn::GetStackOutput"

const stackOutputComplaint = "Template error: every Fn::GetStackOutput object requires the parameters StackName and OutputName, " +
	"and may have Region and RoleArn, each with text or a function that returns text"

// A StackOutput is an output of a stack that Fn::GetStackOutput names. It may be a map's key.
type StackOutput struct {
	Stack, Output   string
	Account, Region string // "" if they are those of the reader and not known
}

// A Read is an Fn::GetStackOutput that may be evaluated.
type Read struct {
	StackOutput       // zero in HiddenReads
	Maybe        bool // a condition that is not known decides whether it is evaluated
	Line, Column int
}

// stackOutput fills a call of Fn::GetStackOutput: the mapping of its parameters is its only item.
func (p *parser) stackOutput(x *Expr, n *yaml.Node) {
	parameters := p.express(n, x.block)
	x.items = []*Expr{parameters}
	opaque := parameters.form == call && parameters.name == "Fn::Transform"
	switch {
	case x.block == "Conditions":
		p.failAt(x, "Template error: Cannot use Fn::GetStackOutput in the Conditions block of the template")
	case opaque:
	case parameters.form != mapping || parameters.key("StackName") == nil || parameters.key("OutputName") == nil:
		p.failAt(x, "%s", stackOutputComplaint)
		p.forget(x)
		return
	}
	for i, key := range parameters.keys {
		known := slices.Contains([]string{"StackName", "OutputName", "Region", "RoleArn"}, key)
		if value := parameters.items[i]; !known || value.form == list || value.form == mapping {
			p.failAt(value, "%s", stackOutputComplaint)
		}
	}
	p.warnShort(n)
	p.t.loose = append(p.t.loose, Loose{What: getStackOutput, Read: true, Line: x.Line, Column: x.Column})
}

// warnShort warns of other short forms in the short form, which AWS's page of the function does not allow.
func (p *parser) warnShort(n *yaml.Node) {
	if n.Tag != "" {
		return // the long form
	}
	for _, pair := range document.Pairs(n) {
		if tag := document.Tagged(document.Resolve(pair.Value)); tag != "" {
			p.t.warnings.Add(p.t.File, document.Resolve(pair.Value),
				"%s stands in the short form !GetStackOutput, which CloudFormation does not "+
					"support: write Fn::GetStackOutput: instead", tag)
		}
	}
}

// stackOutput evaluates Fn::GetStackOutput.
func (r *running) stackOutput(x *Expr, parameters any) (any, *document.Error) {
	of, ok := r.e.s.stackOutput(parameters)
	if !ok {
		return nil, r.fail(x, "%s", stackOutputComplaint)
	}
	if r.e.s.StackOutput != nil {
		if v, ok := r.e.s.StackOutput(of); ok {
			return v, nil
		}
	}
	return Unknown{}, nil
}

// stackOutput reads the parameters of an Fn::GetStackOutput, which are known. "RoleArn […] Defaults to the current
// stack's execution role. […] Region […] Defaults to the Region of the stack being created or updated."
func (s Scope) stackOutput(parameters any) (of StackOutput, ok bool) {
	all, _ := parameters.(map[string]any)
	text := func(key string) string { // AWS::NoValue removes a parameter
		v, has := all[key]
		if !has {
			return ""
		}
		word, isText := Text(v)
		if !isText || strings.Contains(word, opening) {
			all = nil
		}
		return word
	}
	of = StackOutput{Stack: stackNameOf(text("StackName")), Output: text("OutputName"), Region: cmp.Or(text("Region"),
		s.Region), Account: s.AccountID}
	if role := text("RoleArn"); role != "" { // arn:aws:iam::ACCOUNT:role/NAME
		parts := strings.SplitN(role, ":", 6)
		if len(parts) < 6 {
			return of, false
		}
		of.Account = parts[4]
	}
	return of, all != nil && of.Stack != "" && of.Output != ""
}

// stackNameOf is the name of a stack, of which the ID may be given:
// arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UUID.
func stackNameOf(nameOrID string) string {
	if rest, isID := strings.CutPrefix(nameOrID, "arn:"); isID {
		if _, path, ok := strings.Cut(rest, ":stack/"); ok {
			name, _, _ := strings.Cut(path, "/")
			return name
		}
	}
	return nameOrID
}

// Reads lists the outputs of other stacks that the stack reads as far as their names are known, in the order of
// resources and outputs: those in resources and outputs whose condition is not known to be false, and there in
// branches of Fn::If that may be taken.
func (e *Evaluation) Reads() []Read {
	known, _ := e.reads()
	return known
}

// HiddenReads lists the places of reads whose stack or output is not known in this scope.
func (e *Evaluation) HiddenReads() []Read {
	_, hidden := e.reads()
	return hidden
}

func (e *Evaluation) reads() (known, hidden []Read) {
	r := e.begin()
	e.visitLive(func(x *Expr, maybe bool) {
		if x.form != call || x.name != getStackOutput {
			return
		}
		one := Read{Maybe: maybe, Line: x.Line, Column: x.Column}
		v, err := r.eval(x.items[0])
		of, ok := e.s.stackOutput(v)
		if err != nil || !Known(v) || !ok {
			hidden = append(hidden, one)
			return
		}
		one.StackOutput = of
		known = append(known, one)
	})
	return known, hidden
}
