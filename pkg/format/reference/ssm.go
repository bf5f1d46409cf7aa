package reference

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// ${ssm:path} is a plain parameter of the Systems Manager parameter store, and
// ${ssm-secure:path} a secure string. CloudFormation resolves both.
var (
	ssm       = stored(template.SSM)
	ssmSecure = stored("ssm-secure")
)

// ${ssm-value:path} is the value of a plain parameter, which is read when a plan is made.
var ssmValue = Kind{
	Name: "ssm-value", Syntax: []string{"${ssm-value:path}", "${ssm-value:path@target}", "${ssm-value:path:version}, with the number of a version"},
	match: prefix("ssm-value:"),
	parse: func(body string) (declared.Reference, bool) {
		rest, target, has := strings.Cut(body, "@")
		return declared.Reference{Name: rest, Target: target}, inStore.MatchString(rest) && (!has || project.TargetName.MatchString(target))
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		return outside(s, r, project.Source{Parameter: r.Name})
	},
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
var inStore = pattern.New(`^([a-zA-Z0-9_.\-/]+)(?::([0-9]+))?$`)

func stored(service string) Kind {
	return Kind{
		Name: service, Syntax: []string{"${" + service + ":path}", "${" + service + ":path:version}, with the number of a version"},
		Dynamic: true, match: prefix(service + ":"),
		parse: func(rest string) (declared.Reference, bool) {
			m := inStore.FindStringSubmatch(rest)
			if m == nil {
				return declared.Reference{}, false
			}
			return declared.Reference{Name: m[1], Version: m[2]}, true
		},
		resolve: func(s Scope, r declared.Reference) (Result, error) { return dynamic(s, r, service) },
	}
}

// dynamic writes a reference as CloudFormation reads it.
func dynamic(s Scope, r declared.Reference, service string) (Result, error) {
	d := template.Dynamic{Service: service, Name: r.Name, Key: r.Key, Version: r.Version}
	switch {
	case s.Tag:
		return Result{}, errors.New("CloudFormation resolves it in the properties of resources, not in tags of a stack: tag the resources in the template")
	case !s.Parameter.Stored():
		return Result{Text: d.String()}, nil
	case service == template.SSM && r.Version == "":
		return Result{Text: r.Name}, nil // the type says that the value is a name
	}
	return Result{}, fmt.Errorf("the template's type is %s, which gives the newest version of a plain parameter: write ${ssm:%s}, or make it a String in the template",
		s.Parameter.Type, problem.Short(r.Name))
}
