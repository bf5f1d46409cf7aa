package template

import (
	"maps"
	"slices"
	"strings"
)

// Capabilities lists what must be acknowledged to deploy the template, sorted:
// CAPABILITY_AUTO_EXPAND for transforms and macros, CAPABILITY_IAM for IAM
// resources or, if one has a name of its own, CAPABILITY_NAMED_IAM, which includes it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func (t *Template) Capabilities() []string {
	var needed []string
	if t.macros || len(t.Transforms) > 0 {
		needed = append(needed, "CAPABILITY_AUTO_EXPAND")
	}
	types, named := t.identities()
	switch {
	case named:
		needed = append(needed, "CAPABILITY_NAMED_IAM")
	case len(types) > 0:
		needed = append(needed, "CAPABILITY_IAM")
	}
	return needed
}

// CapabilitiesReason says which resource types require them, in
// CloudFormation's words; "" when none does.
func (t *Template) CapabilitiesReason() string {
	types, _ := t.identities()
	if len(types) == 0 {
		return ""
	}
	return "The following resource(s) require capabilities: [" + strings.Join(types, ", ") + "]"
}

// identities lists the types of IAM resources in the template, sorted, and says
// whether one of them is given a name.
func (t *Template) identities() (types []string, named bool) {
	found := map[string]bool{}
	for _, r := range t.Resources {
		name, is := map[string]string{
			"AWS::IAM::AccessKey":           "",
			"AWS::IAM::Group":               "GroupName",
			"AWS::IAM::InstanceProfile":     "InstanceProfileName",
			"AWS::IAM::ManagedPolicy":       "ManagedPolicyName",
			"AWS::IAM::Policy":              "",
			"AWS::IAM::Role":                "RoleName",
			"AWS::IAM::User":                "UserName",
			"AWS::IAM::UserToGroupAddition": "",
		}[r.Type]
		if is {
			found[r.Type] = true
			named = named || name != "" && r.Properties.key(name) != nil
		}
	}
	return slices.Sorted(maps.Keys(found)), named
}
