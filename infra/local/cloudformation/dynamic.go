package cloudformation

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// lost is why a resource fails whose reference leads nowhere, in CloudFormation's words.
type lost string

func (l lost) Error() string { return string(l) }

const (
	noSecret lost = "Secrets Manager can't find the specified secret. (Service: AWSSecretsManager; Status Code: 400; Error Code: ResourceNotFoundException)"
	noKey    lost = "Could not find a value associated with JSONKey in SecretString"
)

// pinned refuses what CloudFormation does not take as a parameter: a reference to
// a plain parameter of the store that names no version.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
func pinned(value string) error {
	for _, ref := range template.Dynamics(value) {
		if ref.Service == template.SSM && ref.Version == "" {
			return invalid("Incorrect format is used in the following SSM reference: [%s]", ref)
		}
	}
	return nil
}

// resolve finds what the dynamic references in a resource's properties stand
// for; the properties themselves keep them as they are written. What is not in
// the parameter store is refused at once; a secret that is not there is why the
// resource fails.
func (d *evaluation) resolve(r *resource, properties any) error {
	if strings.HasPrefix(r.Type, "Custom::") || r.Type == "AWS::CloudFormation::CustomResource" {
		return nil // gets them as they are written
	}
	at := place{d, r, []string{r.Type, "Properties"}}
	actual, err := at.resolve(properties)
	if why, ok := errors.AsType[lost](err); ok {
		if r.Faults == nil {
			r.Faults = map[string]string{}
		}
		r.Faults["create"], r.Faults["update"] = string(why), string(why)
		return nil
	}
	if err != nil {
		return err
	}
	r.actual, err = compactJSON(actual)
	return err
}

// place is where in a resource's properties a value stands.
type place struct {
	draft    *evaluation
	resource *resource
	path     []string
}

func (p place) resolve(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return template.Resolve(v, p.value)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			one, err := p.resolve(item)
			if err != nil {
				return nil, err
			}
			items[i] = one
		}
		return items, nil
	case map[string]any:
		values := make(map[string]any, len(v))
		for _, key := range sorted(v) {
			at := place{p.draft, p.resource, append(slices.Clone(p.path), key)}
			one, err := at.resolve(v[key])
			if err != nil {
				return nil, err
			}
			values[key] = one
		}
		return values, nil
	}
	return v, nil
}

// secure are the properties that take secure strings, by the last of their path.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm-secure-strings.html
var secure = []string{
	"AWS::DirectoryService::MicrosoftAD/Password", "AWS::DirectoryService::SimpleAD/Password",
	"AWS::ElastiCache::ReplicationGroup/AuthToken", "AWS::IAM::User/Password", "AWS::KinesisFirehose::DeliveryStream/Password",
	"AWS::OpsWorks::App/Password", "AWS::OpsWorks::Stack/Password", "AWS::OpsWorks::Stack/DbPassword",
	"AWS::RDS::DBCluster/MasterUserPassword", "AWS::RDS::DBInstance/MasterUserPassword", "AWS::Redshift::Cluster/MasterUserPassword",
}

// value is what one reference stands for.
func (p place) value(ref template.Dynamic) (string, error) {
	if ref.Service == template.SSMSecure && !slices.Contains(secure, p.resource.Type+"/"+p.path[len(p.path)-1]) {
		return "", invalid("SSM Secure reference is not supported in: [%s]", strings.Join(p.path, "/"))
	}
	value, ok := p.draft.held(ref)
	switch {
	case ok && ref.Key != "":
		return key(value, ref.Key)
	case ok:
		return value, nil
	case ref.Service == template.Secrets:
		return "", noSecret
	}
	name := strings.TrimSuffix(strings.TrimPrefix(ref.String(), "{{resolve:"), "}}")
	return "", invalid("Parameters: [%s] cannot be found.", name)
}

// key is one value of a secret that is a JSON object.
func key(secret, name string) (string, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(secret), &all); err != nil {
		return "", noKey
	}
	text, ok := template.Text(all[name])
	if !ok {
		return "", noKey
	}
	return text, nil
}

// held is what the parameter store or Secrets Manager holds: what the options
// say, or what a stack has made, in its first version.
func (d *evaluation) held(ref template.Dynamic) (string, bool) {
	if held := d.service.options.Held; held != nil {
		if value, ok := held(ref); ok {
			return value, true
		}
	}
	if ref.Stage != "" && ref.Stage != "AWSCURRENT" {
		return "", false
	}
	if ref.Service == template.Secrets {
		if ref.Version != "" {
			return "", false
		}
		return d.secret(ref.Name)
	}
	if r := d.resourceNamed("AWS::SSM::Parameter", ref.Name); r != nil && ref.Service == template.SSM && (ref.Version == "" || ref.Version == "1") {
		return r.property("Value")
	}
	return "", false
}

// secret is what a secret holds that a stack has made, by its name or ARN, or that RDS keeps for one.
func (d *evaluation) secret(name string) (string, bool) {
	made := hexa(hash(name, "secret"), 32)
	if strings.HasPrefix(name, "arn:") && strings.Contains(name, ":secret:rds!") {
		return `{"username":"admin","password":"` + made + `"}`, true
	}
	r := d.resourceNamed("AWS::SecretsManager::Secret", name)
	if r == nil {
		return "", false
	}
	if text, ok := r.property("SecretString"); ok {
		return text, true
	}
	var how struct {
		GenerateSecretString struct{ SecretStringTemplate, GenerateStringKey string }
	}
	if err := json.Unmarshal([]byte(r.properties()), &how); err != nil || how.GenerateSecretString.GenerateStringKey == "" {
		return made, true
	}
	all := map[string]any{}
	if err := json.Unmarshal([]byte(how.GenerateSecretString.SecretStringTemplate), &all); err != nil {
		return made, true
	}
	all[how.GenerateSecretString.GenerateStringKey] = made
	text, err := compactJSON(all)
	return text, err == nil
}

// holder is the resource of a type that has a name or physical ID, of this stack as far as it is worked out, or of another.
func (d *evaluation) resourceNamed(kind, name string) *resource {
	is := func(r *resource) bool {
		own, _ := r.property("Name")
		return r.Type == kind && (r.Physical == name || own == name)
	}
	for _, logical := range sorted(d.evaluated) {
		if is(d.evaluated[logical]) {
			return d.evaluated[logical]
		}
	}
	for _, st := range d.service.stacks {
		here := st.existing()
		for _, logical := range sorted(here) {
			if st != d.stack && st.exists() && is(here[logical]) {
				return here[logical]
			}
		}
	}
	return nil
}
