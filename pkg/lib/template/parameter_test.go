package template_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
func TestParameterCheck(t *testing.T) {
	for name, c := range map[string]struct{ parameter, value, want string }{
		"any text":               {"{Type: String}", "", ""},
		"allowed":                {"{Type: String, AllowedValues: [a, 1, true]}", "1", ""},
		"not allowed":            {"{Type: String, AllowedValues: [a, b]}", "c", "Parameter 'P' must be one of AllowedValues"},
		"described":              {"{Type: String, AllowedValues: [a], ConstraintDescription: must be a}", "c", "Parameter P failed to satisfy constraint: must be a"},
		"a pattern":              {"{Type: String, AllowedPattern: '[a-z]+'}", "abc", ""},
		"the pattern is for all": {"{Type: String, AllowedPattern: '[a-z]+|x1'}", "abc1", "Parameter 'P' must match pattern [a-z]+|x1"},
		"a pattern of Java":      {"{Type: String, AllowedPattern: '(?!x).*'}", "x", ""},
		"too short":              {"{Type: String, MinLength: '2'}", "é", "Parameter 'P' must contain at least 2 characters"},
		"too long":               {"{Type: String, MaxLength: 2}", "abc", "Parameter 'P' must contain at most 2 characters"},
		"a number":               {"{Type: Number, MinValue: 1, MaxValue: 3.5}", "3.5", ""},
		"not a number":           {"{Type: Number}", "0x1", "Parameter 'P' must be a number"},
		"an infinite number":     {"{Type: Number}", "1e999", "Parameter 'P' must be a number"},
		"too little":             {"{Type: Number, MinValue: 1}", "0", "Parameter 'P' must be a number not less than 1"},
		"too much":               {"{Type: Number, MaxValue: 1000000}", "1000001", "Parameter 'P' must be a number not greater than 1000000"},
		"a list":                 {"{Type: CommaDelimitedList, AllowedValues: [a, b]}", "a, b", ""},
		"an item":                {"{Type: CommaDelimitedList, AllowedValues: [a, b]}", "a,c", "Parameter 'P' must be one of AllowedValues"},
		"a list of numbers":      {"{Type: List<Number>}", "1, 2,x", "Parameter 'P' must be a number"},
		"a stored list":          {"{Type: 'AWS::SSM::Parameter::Value<List<String>>'}", "/a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			read := parsed(t, one("{}")+"Parameters: {P: "+c.parameter+"}")
			got := ""
			if err := read.Parameters["P"].Check(c.value); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStoredParameters(t *testing.T) {
	read := parsed(t, one("{a: !Ref P}")+"Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<CommaDelimitedList>', Default: /list}}")
	p := read.Parameters["P"]
	if !p.Stored() || !p.List() {
		t.Errorf("stored %t, list %t", p.Stored(), p.List())
	}
	scope := template.Scope{Parameters: read.Defaults()}
	if v, _ := read.In(scope).Value(read.Resources["R"].Properties); template.Known(v) {
		t.Errorf("what is stored is not known, but is %v", v)
	}
	scope.Stored = func(name string) (string, bool) { return "x,y", name == "/list" }
	v, err := read.In(scope).Value(read.Resources["R"].Properties)
	if items, ok := v.(map[string]any)["a"].([]any); err != nil || !ok || len(items) != 2 {
		t.Errorf("got %v, %v", v, err)
	}
}
