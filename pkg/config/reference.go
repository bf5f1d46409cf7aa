package config

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A form is what a reference asks for.
type form string

// The forms of references.
const (
	outputOf  form = "output"      // ${stack.Output}, ${stack@target.Output}
	stackOf   form = "stack"       // ${stack:name}, ${stack:name@target}
	variable  form = "var"         // ${var.x}
	file      form = "file"        // ${file:path}
	ofProject form = "project"     // ${project}
	ofEnv     form = "environment" // ${environment}
	account   form = "account"     // ${account}
	region    form = "region"      // ${region}
	ssm       form = "ssm"         // ${ssm:path}, ${ssm:path:version}
	ssmSecure form = "ssm-secure"  // ${ssm-secure:path}, ${ssm-secure:path:version}
	secret    form = "secret"      // ${secret:name}, ${secret:name#key}, ${secret:name#key:version}
	export    form = "export"      // ${export:name}
	external  form = "external"    // ${external:stack.Output}
)

// A part is either literal text or a reference.
type part struct {
	literal string
	written string // the reference as it stands; "" for literal text
	form    form
	name    string // of the stack, the variable, the file …
	target  string // "" where none is given
	output  string
	dynamic template.Dynamic // what CloudFormation resolves in its place
}

// parts splits a text at its references. $${ is a literal ${.
func parts(text string) ([]part, error) {
	var all []part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			all = append(all, part{literal: literal.String()})
			literal.Reset()
		}
	}
	if !strings.Contains(text, "${") {
		return []part{{literal: text}}, nil // shares the text's bytes
	}
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
		end := strings.IndexByte(text[at:], '}')
		if end < 0 {
			return nil, fmt.Errorf("%q is not closed: write ${…}, or $${ for a literal ${", short(text[at:]))
		}
		p, err := reference(text[at : at+end+1])
		if err != nil {
			return nil, err
		}
		flush()
		all = append(all, p)
		text = text[at+end+1:]
	}
	flush()
	return all, nil
}

// reference reads one reference, ${ and } included.
func reference(written string) (part, error) {
	body := written[2 : len(written)-1]
	p := part{written: written}
	wrong := func(want string) (part, error) {
		return part{}, fmt.Errorf("%s is not a reference: %s; a literal ${ is written $${", short(written), want)
	}
	switch form(body) {
	case ofProject, ofEnv, account, region:
		p.form = form(body)
		return p, nil
	}
	if kind, rest, ok := strings.Cut(body, ":"); ok {
		p.form, p.name = form(kind), rest
		switch p.form {
		case stackOf:
			p.name, p.target = atTarget(rest)
			if !stackName.MatchString(p.name) || strings.Contains(rest, "@") && !targetName.MatchString(p.target) {
				return wrong("write ${stack:name} or ${stack:name@target}")
			}
		case ssm, ssmSecure, secret:
			var want string
			if p.dynamic, want = readDynamic(p.form, rest); want != "" {
				return wrong(want)
			}
		case file, export, external:
			if rest == "" {
				return wrong("what comes after the colon is missing")
			}
		default:
			return wrong("before a colon stands stack, file, secret, ssm, ssm-secure, export or external")
		}
		return p, nil
	}
	dot := strings.LastIndexByte(body, '.')
	if dot < 0 {
		return wrong("write ${stack.Output}, ${stack:name}, ${var.x}, ${file:path}, ${project}, ${environment}, ${account} or ${region}")
	}
	if name, ok := strings.CutPrefix(body, "var."); ok {
		p.form, p.name = variable, name
		if !variableName.MatchString(name) {
			return wrong("a variable's name begins with a letter and has letters, digits, - and _")
		}
		return p, nil
	}
	p.form, p.output = outputOf, body[dot+1:]
	p.name, p.target = atTarget(body[:dot])
	if !stackName.MatchString(p.name) || !outputName.MatchString(p.output) || strings.Contains(body, "@") && !targetName.MatchString(p.target) {
		return wrong("write ${stack.Output} or ${stack@target.Output}")
	}
	return p, nil
}

func atTarget(name string) (stack, target string) {
	stack, target, _ = strings.Cut(name, "@")
	return stack, target
}

// short cuts what would make a message unreadable.
func short(s string) string {
	if r := []rune(s[:min(len(s), 400)]); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
