package cloudformation

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// notFound is why a resource fails whose dynamic reference cannot be resolved, in CloudFormation's words.
type notFound string

func (l notFound) Error() string { return string(l) }

const (
	noSecret notFound = "Secrets Manager can't find the specified secret. (Service: AWSSecretsManager; Status Code: 400; Error Code: ResourceNotFoundException)"
	noKey    notFound = "Could not find a value associated with JSONKey in SecretString"
)

// checkVersion refuses what CloudFormation does not accept as the value of a parameter: a dynamic reference to a plain
// parameter of the parameter store without a version.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html
func checkVersion(value string) error {
	for _, ref := range template.Dynamics(value) {
		if ref.Service == template.SSM && ref.Version == "" {
			return invalid("Incorrect format is used in the following SSM reference: [%s]", ref)
		}
	}
	return nil
}

// resolve resolves the dynamic references in the properties of a resource; the stored properties keep the references. A
// parameter that is not in the parameter store is refused at once. A secret that does not exist makes the resource
// fail.
func (d *evaluation) resolve(r *resource, properties any) error {
	if strings.HasPrefix(r.Type, "Custom::") || r.Type == "AWS::CloudFormation::CustomResource" {
		return nil // gets the references unresolved
	}
	at := place{d, r, []string{r.Type, "Properties"}}
	actual, err := at.resolve(properties)
	if why, ok := errors.AsType[notFound](err); ok {
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

// place is the path of a value in the properties of a resource.
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

// secure are the properties that accept secure strings, by the last part of their path.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm-secure-strings.html
var secure = []string{
	"AWS::DirectoryService::MicrosoftAD/Password", "AWS::DirectoryService::SimpleAD/Password",
	"AWS::ElastiCache::ReplicationGroup/AuthToken", "AWS::IAM::User/Password", "AWS::KinesisFirehose::DeliveryStream/Password",
	"AWS::OpsWorks::App/Password", "AWS::OpsWorks::Stack/Password", "AWS::OpsWorks::Stack/DbPassword",
	"AWS::RDS::DBCluster/MasterUserPassword", "AWS::RDS::DBInstance/MasterUserPassword", "AWS::Redshift::Cluster/MasterUserPassword",
}

// value is the value of one dynamic reference.
func (p place) value(ref template.Dynamic) (string, error) {
	if ref.Service == template.SSMSecure && !slices.Contains(secure, p.resource.Type+"/"+p.path[len(p.path)-1]) {
		return "", invalid("SSM Secure reference is not supported in: [%s]", strings.Join(p.path, "/"))
	}
	value, ok := p.draft.storedReference(ref)
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

// key reads one value of a secret that is a JSON object.
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

// storedReference reads the parameter store or Secrets Manager: what the options return, or what a stack has created, in its
// first version.
func (d *evaluation) storedReference(ref template.Dynamic) (string, bool) {
	if held := d.service.options.ResolveDynamic; held != nil {
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
	if ref.Service == template.SSM && (ref.Version == "" || ref.Version == "1") {
		return d.service.stored(ref.Name)
	}
	return "", false
}

// StoredParameter returns the type and the value of a parameter of the parameter store that a stack has created.
func (s *Service) StoredParameter(name string) (kind, value string, ok bool) {
	err := s.locked(func() error {
		if r := (&evaluation{service: s}).resourceNamed("AWS::SSM::Parameter", name); r != nil {
			kind, _ = r.property("Type")
			value, ok = r.property("Value")
		}
		return nil
	})
	return kind, value, ok && err == nil
}

// HasResource reports whether a stack has a resource of a type and name.
func (s *Service) HasResource(kind, name string) bool {
	_, _, found := s.Properties(kind, name)
	return found
}

// Properties returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack. It reports false
// if there is none.
func (s *Service) Properties(kind, name string) (properties, stack string, ok bool) {
	err := s.locked(func() error {
		r := (&evaluation{service: s}).resourceNamed(kind, name)
		if r == nil {
			return nil
		}
		properties, ok = r.properties(), true
		for _, st := range s.stacksInside() {
			if slices.Contains(slices.Collect(maps.Values(st.existing())), r) {
				stack = st.ID
			}
		}
		return nil
	})
	return properties, stack, ok && err == nil
}

// Referring returns the physical IDs of the resources of a type that stacks have and whose property is a text, sorted. A closed emulator has none.
func (s *Service) Referring(kind, property, text string) []string {
	return s.having(kind, func(r *resource) bool {
		is, _ := template.Text(properties(r.properties())[property])
		return is == text
	})
}

// Having returns the physical IDs of the resources of a type that stacks have, sorted. A closed emulator has none.
func (s *Service) Having(kind string) []string {
	return s.having(kind, func(*resource) bool { return true })
}

func (s *Service) having(kind string, is func(*resource) bool) []string {
	var ids []string
	err := s.locked(func() error {
		for _, st := range s.stacksInside() {
			for _, r := range st.existing() {
				if r.Type == kind && is(r) {
					ids = append(ids, r.Physical)
				}
			}
		}
		return nil
	})
	if err != nil { // it is closed
		return nil
	}
	slices.Sort(ids)
	return ids
}

// secret reads a secret that a stack has created, by name or ARN, or that RDS manages for a database.
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

// resourceNamed finds a resource of a type by its name or physical ID: of this stack, as far as it is evaluated, or of
// another stack.
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
	for _, st := range d.service.stacksInside() {
		here := st.existing()
		for _, logical := range sorted(here) {
			if st != d.stack && is(here[logical]) {
				return here[logical]
			}
		}
	}
	return nil
}
