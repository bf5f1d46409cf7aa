package cloudformation_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A link needs the template and the parameters, and no stack.
func TestCostLink(t *testing.T) {
	w := newWire(t)
	const link = "https://calculator.s3.amazonaws.com/calc5.html?key=cloudformation/1"
	w.answers["EstimateTemplateCost"] = func(form url.Values) (int, string) {
		return 200, "<EstimateTemplateCostResponse><EstimateTemplateCostResult><Url>" + link + "</Url></EstimateTemplateCostResult></EstimateTemplateCostResponse>"
	}
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: w, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	got, err := cloudformation.CostLink(t.Context(), client, "Resources: {}", map[string]string{"B": "2", "A": "1"})
	if err != nil || got != link {
		t.Fatal(got, err)
	}
	form := w.forms[0]
	if form.Get("TemplateBody") != "Resources: {}" || form.Get("Parameters.member.1.ParameterKey") != "A" || form.Get("Parameters.member.2.ParameterValue") != "2" || form.Has("StackName") {
		t.Errorf("sent %v", form)
	}
	if _, err := cloudformation.CostLink(t.Context(), client, strings.Repeat(" ", project.MaxInline+1), nil); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "51201 bytes") || len(w.forms) != 1 {
		t.Errorf("a template that is too large: %v", err)
	}
	w.answers["EstimateTemplateCost"] = func(url.Values) (int, string) {
		return 200, "<EstimateTemplateCostResponse><EstimateTemplateCostResult/></EstimateTemplateCostResponse>"
	}
	if _, err := cloudformation.CostLink(t.Context(), client, "Resources: {}", nil); !fault.Is(err, fault.Refused) {
		t.Errorf("an answer without a link: %v", err)
	}
	for code, kind := range map[string]fault.Kind{"ValidationError": fault.Refused, "AccessDenied": fault.Denied, "Throttling": fault.Throttled} {
		w.answers["EstimateTemplateCost"] = refuse(400, code, "no")
		if _, err := cloudformation.CostLink(t.Context(), client, "Resources: {}", nil); fault.KindOf(err) != kind {
			t.Errorf("%s is %s: %v", code, fault.KindOf(err), err)
		}
	}
}
