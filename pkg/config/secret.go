package config

import (
	"regexp"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

var (
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
	inStore = regexp.MustCompile(`^([a-zA-Z0-9_.\-/]+)(?::([0-9]+))?$`)
	// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html (Name, ClientRequestToken)
	inSecrets = regexp.MustCompile(`^([a-zA-Z0-9/_+=.@-]{1,512}|arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@-]+)` +
		`(?:#([^:#\\[:cntrl:]]*)(?::([a-zA-Z0-9-]{32,64}))?)?$`)
)

// readDynamic reads what comes after the colon of ${ssm:…}, ${ssm-secure:…} and
// ${secret:…}: what CloudFormation resolves, so that nobody here ever knows the
// value. If it cannot be read, want says how it is written.
func readDynamic(f form, rest string) (d template.Dynamic, want string) {
	if f == secret {
		m := inSecrets.FindStringSubmatch(rest)
		if m == nil {
			return d, "write ${secret:name}, ${secret:name#key} or ${secret:name#key:version}, with the ID of a version"
		}
		return template.Dynamic{Service: template.Secrets, Name: m[1], Key: m[2], Version: m[3]}, ""
	}
	m := inStore.FindStringSubmatch(rest)
	if m == nil {
		return d, "write ${" + string(f) + ":path} or ${" + string(f) + ":path:version}, with the number of a version"
	}
	return template.Dynamic{Service: string(f), Name: m[1], Version: m[2]}, ""
}

// dynamic writes such a reference as CloudFormation takes it for what it is of.
func (r *reader) dynamic(what, of string, s *stack, at place, p part) (string, bool) {
	name, isParameter := strings.CutPrefix(of, "parameter ")
	if !isParameter {
		r.add(at, "%s%s: %s: CloudFormation resolves it in the properties of resources, not in tags of a stack: tag the resources in the template", what, of, short(p.written))
		return "", false
	}
	if s.source == nil {
		return p.dynamic.String(), true
	}
	t := s.source.template.Parameters[name]
	switch {
	case !t.Stored():
		return p.dynamic.String(), true
	case p.form == ssm && p.dynamic.Version == "":
		return p.dynamic.Name, true // the type says that the value is a name
	}
	r.add(at, "%s%s: %s: the template's type is %s, which gives the newest version of a plain parameter: write ${ssm:path}, or make it a String in the template",
		what, of, short(p.written), t.Type)
	return "", false
}

// checkDynamic refuses what would be stored though the template says NoEcho,
// and references that CloudFormation would not resolve. It reports whether the
// value is as it stands what the template will see.
func (r *reader) checkDynamic(s *stack, p template.Parameter, at place, text project.Text) bool {
	what := "stack " + s.name + ": parameter " + p.Name
	written := text.String()
	all := template.Dynamics(written)
	known, ok := text.Known()
	if p.NoEcho && !p.Stored() && ok && known != "" && len(all) == 0 {
		r.add(at, "%s: its template says NoEcho, and what stands here would be stored and shown: write ${secret:name#key} or ${ssm-secure:path}", what)
		return false
	}
	if !strings.Contains(written, "{{resolve:") {
		return ok
	}
	if len(template.Unversioned(written)) > 0 {
		s.node.Template.Pinned = false
	}
	switch p.Type {
	case "String", "CommaDelimitedList", "List<String>":
	default:
		r.add(at, "%s: the template's type is %s, which CloudFormation checks before it resolves a reference: make it a String in the template, or AWS::SSM::Parameter::Value<…> for ${ssm:path}", what, p.Type)
		return false
	}
	for _, d := range all {
		if d.Service == template.SSM && d.Version == "" {
			r.add(at, "%s: %s has no version, and CloudFormation takes none without in a parameter: write ${ssm:%s:1} or whatever its version is, or make the type in the template AWS::SSM::Parameter::Value<String>",
				what, d, d.Name)
		}
	}
	if err := p.Check(known); ok && err != nil {
		r.add(at, "stack %s: %v: CloudFormation holds the reference itself against it, not what is behind it: take this out of the template", s.name, err)
	}
	return false
}
