package reference

import (
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// ${secret:name#key} is a secret of Secrets Manager. CloudFormation resolves it,
// so that Stackwright never knows the value.
var secret = Kind{
	Name: "secret", Syntax: []string{"${secret:name}", "${secret:name#key}", "${secret:name#key:version}, with the ID of a version"},
	Dynamic: true, match: prefix("secret:"),
	parse: func(rest string) (declared.Reference, bool) {
		m := inSecrets.FindStringSubmatch(rest)
		if m == nil {
			return declared.Reference{}, false
		}
		return declared.Reference{Name: m[1], Key: m[2], Version: m[3]}, true
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		return dynamic(s, r, template.Secrets)
	},
}

// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html (Name, ClientRequestToken)
var inSecrets = pattern.New(`^([a-zA-Z0-9/_+=.@-]{1,512}|arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@-]+)` +
	`(?:#([^:#\\[:cntrl:]]*)(?::([a-zA-Z0-9-]{32,64}))?)?$`)
