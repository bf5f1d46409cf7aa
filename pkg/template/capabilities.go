package template

// Capabilities lists what must be acknowledged to deploy the template, sorted:
// CAPABILITY_AUTO_EXPAND for transforms and macros, CAPABILITY_IAM for IAM resources or, if one has
// a name of its own, CAPABILITY_NAMED_IAM, which includes it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func (t *Template) Capabilities() []string { return t.capabilities() }

// CapabilitiesReason says which resource types require them, in
// CloudFormation's words; "" when none does.
func (t *Template) CapabilitiesReason() string { return t.capabilitiesReason() }
