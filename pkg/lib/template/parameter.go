package template

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"go.yaml.in/yaml/v4"
)

// Parameter is one entry of the Parameters section.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
type Parameter struct {
	Name, Type, Description               string
	Default                               *string // a list is written with commas; nil when a value must be given
	AllowedValues                         []string
	AllowedPattern, ConstraintDescription string
	MinLength, MaxLength                  *int
	MinValue, MaxValue                    *float64
	NoEcho                                bool
	Line, Column                          int

	vague bool // the versions of YAML differ about the value of Default
}

var numeral = pattern.New(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Check says in CloudFormation's words why it would refuse the value, nil if it
// would not. For a list each item is checked. For AWS::SSM::Parameter::Value<…>
// the value is the name of the parameter in the store; what is behind it is not
// checked. An AllowedPattern that Go's regular expressions cannot express
// (Java's poll-ahead, back references) is left to CloudFormation.
func (p Parameter) Check(value string) error {
	if len(value) > 4096 {
		return fmt.Errorf("Parameter '%s' must contain at most 4096 bytes", p.Name)
	}
	items := []string{value}
	if p.List() && !p.Stored() {
		items = splitList(value)
	}
	for _, item := range items {
		complaint := p.complaint(item)
		if complaint == "" {
			continue
		}
		if p.ConstraintDescription != "" {
			return fmt.Errorf("Parameter %s failed to satisfy constraint: %s", p.Name, p.ConstraintDescription)
		}
		return fmt.Errorf("Parameter '%s' %s", p.Name, complaint)
	}
	return nil
}

func (p Parameter) complaint(value string) string {
	if p.Type == "Number" || p.Type == "List<Number>" {
		if !numeral.MatchString(value) {
			return "must be a number"
		}
		number, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || math.IsInf(number, 0):
			return "must be a number"
		case p.MinValue != nil && number < *p.MinValue:
			return "must be a number not less than " + plain(*p.MinValue)
		case p.MaxValue != nil && number > *p.MaxValue:
			return "must be a number not greater than " + plain(*p.MaxValue)
		}
	}
	length := utf8.RuneCountInString(value)
	switch {
	case len(p.AllowedValues) > 0 && !slices.Contains(p.AllowedValues, value):
		return "must be one of AllowedValues"
	case p.MinLength != nil && length < *p.MinLength:
		return fmt.Sprintf("must contain at least %d characters", *p.MinLength)
	case p.MaxLength != nil && length > *p.MaxLength:
		return fmt.Sprintf("must contain at most %d characters", *p.MaxLength)
	case p.AllowedPattern != "":
		pattern, err := regexp.Compile(`^(?:` + p.AllowedPattern + `)$`)
		if err == nil && !pattern.MatchString(value) {
			return "must match pattern " + p.AllowedPattern
		}
	}
	return ""
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// List says whether a Ref to the parameter gives a list: CommaDelimitedList, List<…>,
// AWS::SSM::Parameter::Value<List<…>>, AWS::SSM::Parameter::Value<CommaDelimitedList>.
func (p Parameter) List() bool {
	inner := storedInner(p.Type)
	return inner == "CommaDelimitedList" || strings.HasPrefix(inner, "List<")
}

// Stored says whether the value is the name of a parameter in the Systems
// Manager parameter store, and the Ref gives what is stored there.
func (p Parameter) Stored() bool { return storedInner(p.Type) != p.Type }

func storedInner(t string) string {
	if inner, ok := strings.CutPrefix(t, "AWS::SSM::Parameter::Value<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return t
}

// splitList splits a list's value; each member is trimmed of spaces.
func splitList(value string) []string {
	items := strings.Split(value, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// knownType says whether a parameter can have the type.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html
func knownType(t string) bool {
	if t == "Number" || t == "List<Number>" || t == "AWS::SSM::Parameter::Name" {
		return true
	}
	inner := storedInner(t)
	switch inner {
	case "String", "CommaDelimitedList", "List<String>":
		return true // List<String> is not documented, and accepted
	}
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, "List<"), ">")
	switch inner {
	case "AWS::EC2::AvailabilityZone::Name", "AWS::EC2::Image::Id", "AWS::EC2::Instance::Id", "AWS::EC2::KeyPair::KeyName",
		"AWS::EC2::SecurityGroup::GroupName", "AWS::EC2::SecurityGroup::Id", "AWS::EC2::Subnet::Id",
		"AWS::EC2::Volume::Id", "AWS::EC2::VPC::Id", "AWS::Route53::HostedZone::Id":
		return true
	}
	return false
}

func (p *parser) parameter(key, n *yaml.Node) {
	q := Parameter{Name: key.Value, Line: key.Line, Column: key.Column}
	if !p.isMapping(n, "Parameters/"+q.Name) {
		return
	}
	for _, pair := range document.Pairs(n) {
		p.parameterAttribute(&q, pair.Key, document.Resolve(pair.Value))
	}
	switch {
	case q.Type == "":
		p.fail(key, "Template format error: Every Parameters object must contain a Type member.")
	case !knownType(q.Type):
		p.fail(key, "Template format error: Unrecognized parameter type: %s", q.Type)
	}
	if q.Default != nil {
		for _, reference := range Unversioned(*q.Default) {
			p.loose(q.Line, q.Column, reference)
		}
	}
	p.t.parameters = append(p.t.parameters, q.Name)
	p.t.Parameters[q.Name] = q
}

func (p *parser) parameterAttribute(q *Parameter, key, n *yaml.Node) {
	attribute := key.Value
	if attribute == "AllowedValues" {
		if n.Kind != yaml.SequenceNode {
			p.fail(n, "Template format error: Every AllowedValues member must be a list.")
		}
		for _, item := range document.Items(n) {
			q.AllowedValues = append(q.AllowedValues, p.text(item, "Every AllowedValues value"))
		}
		return
	}
	value := p.text(n, "Every "+attribute+" member")
	switch attribute {
	case "Type":
		q.Type = value
	case "Description":
		q.Description = value
	case "Default":
		q.Default, q.vague = &value, ambiguous(document.Resolve(n))
	case "AllowedPattern":
		q.AllowedPattern = value
	case "ConstraintDescription":
		q.ConstraintDescription = value
	case "NoEcho":
		q.NoEcho = slices.Contains([]string{"true", "yes", "on", "y"}, strings.ToLower(value)) // CloudFormation reads YAML 1.1
	case "MinLength":
		q.MinLength = p.whole(n, value)
	case "MaxLength":
		q.MaxLength = p.whole(n, value)
	case "MinValue":
		q.MinValue = p.number(n, value)
	case "MaxValue":
		q.MaxValue = p.number(n, value)
	default:
		p.fail(key, "Template format error: Invalid template parameter property '%s'", attribute)
	}
}

func (p *parser) whole(n *yaml.Node, text string) *int {
	i, err := strconv.Atoi(text)
	if err != nil {
		p.fail(n, "Template format error: %q must be a whole number", text)
		return nil
	}
	return &i
}

func (p *parser) number(n *yaml.Node, text string) *float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !numeral.MatchString(text) {
		p.fail(n, "Template format error: %q must be a number", text)
		return nil
	}
	return &f
}
