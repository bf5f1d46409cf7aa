package template

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

var (
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
	versionedSSM = pattern.New(`^ssm(-secure)?:.+:[0-9]+$`)
	// {{resolve:secretsmanager:secret-id:SecretString:json-key:version-stage:version-id}}
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
	versionedSecret = pattern.New(`^secretsmanager:.+:SecretString:[^:]*:[^:]*:[^:]+$`)
)

// looseParameters records the parameters whose values CloudFormation looks up. One that
// only rules use, such as the CDK's BootstrapVersion, decides nothing that is deployed.
func (p *parser) looseParameters() {
	for _, name := range p.t.parameters {
		if q := p.t.Parameters[name]; q.Stored() && p.used[name] {
			p.loose(q.Line, q.Column, "parameter "+q.Name+" of type "+q.Type)
		}
	}
}

// looseResource records the parts of a resource that its bytes do not pin.
func (p *parser) looseResource(r Resource) {
	switch {
	case r.Type == "AWS::CloudFormation::Stack", r.Type == "AWS::Serverless::Application":
		p.t.loose = append(p.t.loose, Loose{What: "TemplateURL of nested stack " + r.Name, NestedStack: r.Name, Line: r.Line, Column: r.Column})
	case r.module():
		p.loose(r.Line, r.Column, "module "+r.Type)
	}
	for _, x := range r.expressions() {
		x.walk(func(x *Expr) {
			for _, reference := range Unversioned(x.written()) {
				p.loose(x.Line, x.Column, reference)
			}
		})
	}
}

// written is the text that an expression itself holds.
func (x *Expr) written() string {
	if s, ok := x.Literal(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range x.parts {
		if p.reference {
			b.WriteString("${" + p.text + "}")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// Unversioned lists the dynamic references in a text that name no version: what
// CloudFormation puts in their place may be another at any time. Names in them
// may be written as ${…}.
func Unversioned(text string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(text, opening)
		if !ok {
			return found
		}
		reference, after, _ := strings.Cut(rest, closing)
		text = after
		if !versionedSSM.MatchString(reference) && !versionedSecret.MatchString(reference) {
			found = append(found, opening+reference+closing)
		}
	}
}
