package template

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// The services that dynamic references read.
const (
	SSM       = "ssm"            // the plain parameters of the parameter store
	SSMSecure = "ssm-secure"     // its secure strings
	Secrets   = "secretsmanager" // secrets
)

// A Dynamic is a dynamic reference: in the properties of a resource
// CloudFormation puts in its place what another service holds.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
type Dynamic struct {
	Service string
	Name    string // of the parameter; of the secret, or its ARN
	Key     string // of a secret that is a JSON object; "" is all of it
	Stage   string // of a secret; "" is AWSCURRENT
	Version string // "" is the newest
}

// String writes the reference as CloudFormation reads it.
func (d Dynamic) String() string {
	text := opening + d.Service + ":" + d.Name
	switch {
	case d.Service != Secrets && d.Version != "":
		text += ":" + d.Version
	case d.Service != Secrets:
	case d.Stage != "" || d.Version != "":
		text += strings.TrimSuffix(":SecretString:"+d.Key+":"+d.Stage+":"+d.Version, ":")
	case d.Key != "":
		text += ":SecretString:" + d.Key
	}
	return text + closing
}

// Dynamics lists the dynamic references in a text. What is not one of a service
// that there is, is passed over.
func Dynamics(text string) []Dynamic {
	var all []Dynamic
	_, _ = Resolve(text, func(d Dynamic) (string, error) {
		all = append(all, d)
		return "", nil
	})
	return all
}

const opening, closing = "{{resolve:", "}}"

// Resolve puts what lookup returns in the place of each dynamic reference in a
// text. The error is lookup's first.
func Resolve(text string, lookup func(Dynamic) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, opening)
		reference, after, closed := strings.Cut(rest, closing)
		if !found || !closed {
			b.WriteString(text)
			return b.String(), nil
		}
		b.WriteString(before)
		text = after
		d, ok := dynamic(reference)
		if !ok {
			b.WriteString(opening + reference + closing)
			continue
		}
		value, err := lookup(d)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
	}
}

var (
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
	ofStore = pattern.New(`^(ssm|ssm-secure):([a-zA-Z0-9_.\-/]+)(?::([0-9]+))?$`)
	// {{resolve:secretsmanager:secret-id:SecretString:json-key:version-stage:version-id}}
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
	ofSecrets = pattern.New(`^secretsmanager:(arn:[^:]*:secretsmanager:[^:]*:[^:]*:secret:[^:]+|[^:]+)` +
		`(?::(?:SecretString)?(?::([^:]*)(?::([^:]*)(?::([^:]*))?)?)?)?$`)
)

// dynamic reads what stands between the braces, after "resolve:".
func dynamic(reference string) (Dynamic, bool) {
	if m := ofStore.FindStringSubmatch(reference); m != nil {
		return Dynamic{Service: m[1], Name: m[2], Version: m[3]}, true
	}
	if m := ofSecrets.FindStringSubmatch(reference); m != nil {
		return Dynamic{Service: Secrets, Name: m[1], Key: m[2], Stage: m[3], Version: m[4]}, true
	}
	return Dynamic{}, false
}
