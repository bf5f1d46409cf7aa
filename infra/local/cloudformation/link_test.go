package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// A link is made of a template and values for its parameters, as CreateStack checks them. It makes no stack.
func TestEstimateTemplateCost(t *testing.T) {
	scenario(t, func(w *account) {
		link := func(body string, parameters ...string) (string, error) {
			in := &cfn.EstimateTemplateCostInput{TemplateBody: &body}
			for _, p := range parameters {
				key, value, _ := strings.Cut(p, "=")
				in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: &key, ParameterValue: &value})
			}
			out, err := w.client.EstimateTemplateCost(w.Context(), in)
			if err != nil {
				return "", err
			}
			return aws.ToString(out.Url), nil
		}
		const body = "Parameters:\n  Size: {Type: Number}\nResources:\n  V: {Type: AWS::EC2::Volume, Properties: {Size: !Ref Size}}\n"
		one, err := link(body, "Size=1")
		if err != nil || !strings.HasPrefix(one, "https://calculator.s3.amazonaws.com/") {
			t.Fatal(one, err)
		}
		if two, err := link(body, "Size=2"); err != nil || two == one {
			t.Errorf("%s, %v: other parameters have the same link", two, err)
		}
		for _, wrong := range [][]string{{body}, {body, "Size=x"}, {body, "Size=1", "Other=1"}, {"Resources: {}"}, {body + strings.Repeat(" ", 51_200), "Size=1"}} {
			if got, err := link(wrong[0], wrong[1:]...); err == nil {
				t.Errorf("%d bytes, %q: %s", len(wrong[0]), wrong[1:], got)
			}
		}
	})
}
