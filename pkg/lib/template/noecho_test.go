package template

import (
	"fmt"
	"testing"
)

// CloudFormation reads YAML 1.1, in which a true value has several names.
func TestNoEchoHasSeveralNames(t *testing.T) {
	for written, want := range map[string]bool{"true": true, `"true"`: true, "yes": true, "Yes": true, "ON": true, "y": true, "false": false, "no": false, "off": false} {
		all, err := Parse("t.yaml", fmt.Appendf(nil, "Parameters: {P: {Type: String, NoEcho: %s}}\nResources: {T: {Type: 'AWS::SNS::Topic'}}\n", written))
		if err != nil || all.Parameters["P"].NoEcho != want {
			t.Errorf("%s: %+v, %v", written, all.Parameters, err)
		}
	}
}
