package cloudformation

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

const maxInline = 51_200 // bytes of a template in a request

// templateOf is the template in a request, or at the URL that the request gives; "" if it has neither.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
func (s *Service) templateOf(ctx context.Context, body, at *string) (string, error) {
	switch {
	case body != nil && at != nil:
		return "", invalid("Only one of TemplateBody or TemplateURL can be specified.")
	case body != nil:
		if len(*body) > maxInline {
			return "", tooLong("templateBody", *body, maxInline)
		}
		if *body == "" {
			return "", tooShort("templateBody")
		}
		return *body, nil
	case at != nil:
		return s.fetch(ctx, *at)
	}
	return "", nil
}

func (s *Service) fetch(ctx context.Context, at string) (string, error) {
	bucket, key, version, ok := object(at)
	if !ok {
		return "", invalid("TemplateURL must be a supported URL.")
	}
	if s.options.Fetch == nil {
		return "", invalid("S3 error: the local emulator has no S3 to read %s from", at)
	}
	body, err := s.options.Fetch(ctx, bucket, key, version)
	if err != nil {
		return "", invalid("S3 error: %v\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html", err)
	}
	if len(body) > template.MaxBytes {
		return "", invalid("Template may not exceed %d bytes in size.", template.MaxBytes)
	}
	return string(body), nil
}

var s3Host = regexp.MustCompile(`^(?:(.+)\.)?s3[.-](?:(?:dualstack\.)?[a-z0-9-]+\.)?amazonaws\.com(?:\.cn)?$`)

// object reads bucket, key and version from a URL of S3: virtual-hosted or path style of any region, or path style of
// any other host, such as the local emulator's.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
func object(at string) (bucket, key, version string, ok bool) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", "", "", false
	}
	key = strings.TrimPrefix(u.Path, "/")
	if m := s3Host.FindStringSubmatch(u.Hostname()); m != nil {
		bucket = m[1]
	} else if strings.HasSuffix(u.Hostname(), "amazonaws.com") {
		return "", "", "", false
	}
	if bucket == "" {
		bucket, key, _ = strings.Cut(key, "/")
	}
	return bucket, key, u.Query().Get("versionId"), bucket != "" && key != ""
}

// desired is what a request asks of a stack.
type desired struct {
	body          string
	parameters    []types.Parameter
	tags          []types.Tag // nil keeps those of the stack
	capabilities  []types.Capability
	role          *string
	triggers      *types.RollbackConfiguration // nil keeps those of the stack
	notifications []string                     // nil keeps those of the stack
	types         []string                     // of the resources that the request may contain; none is all
	during        *string                      // the body of the stack policy that counts for this update instead of that of the stack
	identified    map[string]string
	unchecked     []string // types and properties that are not compared with the schemas of AWS, beside those of before
	reverts       bool     // resources that differ from the stack's version are brought back
	macros        bool     // a change set expands macros, so the request needs no capability for them
}

// version combines what a request asks for with the version before; nil if there is none.
func (s *Service) version(w desired, before *version) (*version, *template.Template, error) {
	t, err := parseTemplate(w.body)
	if err != nil {
		return nil, nil, err
	}
	v := &version{Template: w.body, Description: t.Description, Capabilities: w.capabilities, Role: aws.ToString(w.role), Identified: w.identified, RevertsDrift: w.reverts}
	if before == nil {
		before = &version{}
	}
	v.Unchecked = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Unchecked, w.unchecked))))
	if err := refuseUnknownTypes(t, v.Unchecked); err != nil {
		return nil, nil, err
	}
	if v.Parameters, err = s.parameters(t, w.parameters, before); err != nil {
		return nil, nil, err
	}
	if v.Tags, err = tagsOf(w.tags); err != nil {
		return nil, nil, err
	}
	if w.tags == nil {
		v.Tags = before.Tags
	}
	if v.Notifications = w.notifications; w.notifications == nil {
		v.Notifications = before.Notifications
	}
	if err := v.setTriggers(w.triggers, before); err != nil {
		return nil, nil, err
	}
	if w.role == nil {
		v.Role = before.Role
	}
	if err := checkTypes(t, w.types, w.capabilities); err != nil {
		return nil, nil, err
	}
	if err := checkCapabilities(t, w.capabilities, w.macros); err != nil {
		return nil, nil, err
	}
	return v, t, nil
}

func parseTemplate(body string) (*template.Template, error) {
	if body == "" {
		return nil, invalid("Either Template URL or Template Body must be specified.")
	}
	t, err := template.Parse("", []byte(body))
	if err != nil {
		return nil, formatError(err)
	}
	return t, nil
}

// parameters are the values that apply, in the order in which the template declares them.
func (s *Service) parameters(t *template.Template, given []types.Parameter, before *version) ([]parameter, error) {
	values, err := givenValues(t, given, before)
	if err != nil {
		return nil, err
	}
	var all []parameter
	var missing []string
	for _, name := range t.ParameterNames() {
		declared := t.Parameters[name]
		value, ok := values[name]
		if !ok && declared.Default != nil {
			value, ok = *declared.Default, true
		}
		if !ok {
			missing = append(missing, name)
			continue
		}
		if err := declared.Check(value); err != nil {
			return nil, templateError(err)
		}
		if err := checkVersion(value); err != nil {
			return nil, err
		}
		p := parameter{Key: name, Value: value, Secret: declared.NoEcho}
		if declared.Stored() {
			if p.Resolved, ok = s.stored(value); !ok {
				return nil, invalid("Unable to fetch parameters [%s] from parameter store for this account.", value)
			}
		}
		all = append(all, p)
	}
	if len(missing) > 0 {
		return nil, invalid("Parameters: [%s] must have values", strings.Join(missing, ", "))
	}
	return all, nil
}

// givenValues are the values that a request gives, or keeps from the version before.
func givenValues(t *template.Template, given []types.Parameter, before *version) (map[string]string, error) {
	values := map[string]string{}
	var strange []string
	for _, p := range given {
		key := aws.ToString(p.ParameterKey)
		if _, declared := t.Parameters[key]; !declared {
			strange = append(strange, key)
			continue
		}
		if !aws.ToBool(p.UsePreviousValue) {
			values[key] = aws.ToString(p.ParameterValue)
			continue
		}
		if p.ParameterValue != nil {
			return nil, invalid("Invalid input for parameter key %s. Cannot specify usePreviousValue as true and non empty value for a parameter", key)
		}
		i := slices.IndexFunc(before.Parameters, func(old parameter) bool { return old.Key == key })
		if i < 0 {
			return nil, invalid("Invalid input for parameter key %s. Cannot specify usePreviousValue as true for a parameter key not in the previous template", key)
		}
		values[key] = before.Parameters[i].Value
	}
	if len(strange) > 0 {
		return nil, invalid("Parameters: [%s] do not exist in the template", strings.Join(strange, ", "))
	}
	return values, nil
}

// stored reads a parameter of the parameter store: what the options return, or what a stack has created. The public
// parameters of AWS hold the IDs of images.
func (s *Service) stored(name string) (string, bool) {
	if s.options.Stored != nil {
		if value, ok := s.options.Stored(name); ok {
			return value, true
		}
	}
	if r := (&evaluation{service: s}).resourceNamed("AWS::SSM::Parameter", name); r != nil {
		return r.property("Value")
	}
	if strings.HasPrefix(name, "/aws/service/") {
		return "ami-0" + hexa(hash(name), 16), true
	}
	return "", false
}

// checkCapabilities refuses a request that does not acknowledge what the template can do.
func checkCapabilities(t *template.Template, given []types.Capability, macros bool) error {
	for _, needed := range t.Capabilities() {
		c := types.Capability(needed)
		named := c == types.CapabilityCapabilityIam && slices.Contains(given, types.CapabilityCapabilityNamedIam)
		if named || slices.Contains(given, c) || macros && c == types.CapabilityCapabilityAutoExpand {
			continue
		}
		return refusal("InsufficientCapabilitiesException", "Requires capabilities : [%s]", needed)
	}
	return nil
}

// checkTypes refuses a request with a resource of a type that it does not list. "Only one of the Capabilities and ResourceType parameters
// can be specified."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func checkTypes(t *template.Template, allowed []string, capabilities []types.Capability) error {
	if len(allowed) == 0 {
		return nil
	}
	if len(capabilities) > 0 {
		return invalid("Only one of Capabilities and ResourceTypes can be specified.")
	}
	for _, name := range t.ResourceNames() {
		kind := t.Resources[name].Type
		if !slices.ContainsFunc(allowed, func(one string) bool {
			start, all := strings.CutSuffix(one, "*")
			return one == kind || all && strings.HasPrefix(kind, start)
		}) {
			return invalid("Resource type %s of %s is not one of the ResourceTypes [%s]", kind, name, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// setTriggers sets the rollback triggers. "To use the rollback triggers previously specified for this stack, if any, don't specify this
// parameter. […] To remove all currently specified triggers, specify an empty list for this parameter."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_RollbackConfiguration.html
func (v *version) setTriggers(c *types.RollbackConfiguration, before *version) error {
	v.Triggers, v.Monitoring = before.Triggers, before.Monitoring
	if c == nil {
		return nil
	}
	if c.MonitoringTimeInMinutes != nil {
		if v.Monitoring = *c.MonitoringTimeInMinutes; v.Monitoring < 0 || v.Monitoring > 180 {
			return unsatisfied("rollbackConfiguration.monitoringTimeInMinutes", itoa(int(v.Monitoring)), "have value less than or equal to 180")
		}
	}
	if c.RollbackTriggers == nil {
		return nil
	}
	v.Triggers = nil
	if len(c.RollbackTriggers) > 5 {
		return unsatisfied("rollbackConfiguration.rollbackTriggers", itoa(len(c.RollbackTriggers)), "have length less than or equal to 5")
	}
	for _, t := range c.RollbackTriggers {
		one := rollbackTrigger{aws.ToString(t.Arn), aws.ToString(t.Type)}
		if one.Type != "AWS::CloudWatch::Alarm" && one.Type != "AWS::CloudWatch::CompositeAlarm" || one.ARN == "" {
			return invalid("Invalid rollback trigger: %s of the type %s", one.ARN, one.Type)
		}
		v.Triggers = append(v.Triggers, one)
	}
	return nil
}

// describeTriggers are the rollback triggers as DescribeStacks shows them.
func (v *version) describeTriggers() *types.RollbackConfiguration {
	c := &types.RollbackConfiguration{MonitoringTimeInMinutes: &v.Monitoring, RollbackTriggers: []types.RollbackTrigger{}}
	for _, t := range v.Triggers {
		c.RollbackTriggers = append(c.RollbackTriggers, types.RollbackTrigger{Arn: &t.ARN, Type: &t.Type})
	}
	return c
}
