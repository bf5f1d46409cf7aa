// Package template reads and evaluates CloudFormation templates.
package template

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// What a template may at most hold.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const (
	MaxBytes      = 1_000_000 // through S3; inline it is 51,200, which is the caller's matter
	MaxResources  = 500
	MaxParameters = 200
	MaxOutputs    = 200
	MaxMappings   = 200
)

// Template is a template that CloudFormation would accept as far as its bytes
// tell. It does not change after Parse and may be used from many goroutines.
type Template struct {
	File        string
	Description string
	Transforms  []string // of the Transform section, in order
	Parameters  map[string]Parameter
	Mappings    map[string]*Expr // name → mapping of mappings
	Conditions  map[string]*Expr
	Resources   map[string]Resource
	Outputs     map[string]Output
	Loops       map[string]*Expr // Fn::ForEach of the Resources section: name with the function → its list of arguments

	// Globals are the properties that the Globals section gives to all resources of a kind, such as Function.
	Globals map[string][]string

	parameters, conditions, resources, outputs []string // names as written
	order                                      []string // resources, each after those it depends on
	needs                                      map[string][]string
	loose                                      []Loose
	warnings                                   document.Errors
	rules                                      []rule
	macros                                     bool // what it deploys is known to CloudFormation only
	makers                                     []string
}

// Resource is one entry of the Resources section.
type Resource struct {
	Name, Type                          string
	Condition                           string   // "" when there is none
	DependsOn                           []string // as written; see Template.Needs for all
	Properties                          *Expr    // nil when there are none
	Metadata                            *Expr
	CreationPolicy                      *Expr
	UpdatePolicy                        *Expr
	DeletionPolicy, UpdateReplacePolicy *Expr // for Evaluation.Policy
	Line, Column                        int

	included bool // a macro makes a part of it
}

// Output is one entry of the Outputs section.
type Output struct {
	Name, Description string
	Condition         string // "" when there is none
	Value             *Expr
	Export            *Expr // the name under which it is exported; nil when it is not
	Line, Column      int
}

// Loose is something in a template that its bytes do not pin.
type Loose struct {
	What         string // "transform AWS::Serverless-2016-10-31", "{{resolve:ssm:/x}}", "TemplateURL of nested stack X"
	NestedStack  string // the resource whose TemplateURL it is; "" if it is something else
	Read         bool   // it is an Fn::GetStackOutput; see Evaluation.Reads for what that reads
	Line, Column int
}

// ParameterNames lists the parameters in the order in which they are written.
func (t *Template) ParameterNames() []string { return append([]string(nil), t.parameters...) }

// ResourceNames lists the resources in the order in which they are written.
func (t *Template) ResourceNames() []string { return append([]string(nil), t.resources...) }

// OutputNames lists the outputs in the order in which they are written.
func (t *Template) OutputNames() []string { return append([]string(nil), t.outputs...) }

// Order lists all resources, each after those it needs (DependsOn, Ref, GetAtt,
// Sub; whatever the conditions), else as written.
func (t *Template) Order() []string { return append([]string(nil), t.order...) }

// Needs lists the resources that a resource depends on, whatever the conditions, sorted.
func (t *Template) Needs(resource string) []string {
	return append([]string(nil), t.needs[resource]...)
}

// Defaults returns the default of each parameter that has one.
func (t *Template) Defaults() map[string]string {
	defaults := map[string]string{}
	for name, p := range t.Parameters {
		if p.Default != nil {
			defaults[name] = *p.Default
		}
	}
	return defaults
}

// Pinned says whether what the template deploys follows from its bytes and
// parameters alone. See Loose for what speaks against it.
func (t *Template) Pinned() bool { return len(t.loose) == 0 }

// Loose lists what the template's bytes do not pin, in order: macros
// (Transform but SAM's, Fn::Transform, AWS::Include), dynamic references without a version, nested stacks, modules,
// and parameters whose value CloudFormation looks up (AWS::SSM::Parameter::Value), if anything but a rule uses them.
func (t *Template) Loose() []Loose { return append([]Loose(nil), t.loose...) }

// Warnings lists what is no error, and what a user should know, each with its place.
func (t *Template) Warnings() document.Errors { return slices.Clone(t.warnings) }

// Macros says whether only CloudFormation can tell what resources the template
// makes: it has macros or Fn::ForEach.
func (t *Template) Macros() bool { return t.macros }

// Makers lists what makes resources that the template does not show, each once, in order: transforms as "transform NAME", and the names of
// Fn::Transform and Fn::ForEach in the Resources section. Those of AWS::Serverless and AWS::LanguageExtensions are not among them: each of their
// resources is made of one that the template shows, or of an Fn::ForEach.
func (t *Template) Makers() []string { return append([]string(nil), t.makers...) }

// Opaque says whether the stack may have resources that the template does not
// list: it has macros, or modules.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/modules.html
func (t *Template) Opaque() bool {
	for _, r := range t.Resources {
		if r.module() {
			return true
		}
	}
	return t.macros
}

// module says whether CloudFormation puts the resources of a module in the place of r. Their IDs begin with its ID.
func (r Resource) module() bool { return strings.HasSuffix(r.Type, "::MODULE") }
