package template

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
}

// Check says in CloudFormation's words why it would refuse the value, nil if it
// would not. For a list each item is checked. For AWS::SSM::Parameter::Value<…>
// the value is the name of the parameter in the store; what is behind it is not looked at. An AllowedPattern that Go's
// regular expressions cannot express (Java's look-ahead, back references) is left to CloudFormation.
func (p Parameter) Check(value string) error { return p.check(value) }

// List says whether a Ref to the parameter gives a list: CommaDelimitedList, List<…>,
// AWS::SSM::Parameter::Value<List<…>>, AWS::SSM::Parameter::Value<CommaDelimitedList>.
func (p Parameter) List() bool { return listType(p.Type) }

// Stored says whether the value is the name of a parameter in the Systems
// Manager parameter store, and the Ref gives what is stored there.
func (p Parameter) Stored() bool { return storedType(p.Type) }
