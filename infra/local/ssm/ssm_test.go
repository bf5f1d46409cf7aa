package ssm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/stackwright/stackwright/infra/local/ssm"
)

// Parameters are read by name and version; those that do not exist are listed, and too many are refused.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html
func TestGetParameters(t *testing.T) {
	server := httptest.NewServer(ssm.Service{Find: func(_ *http.Request, name string) (ssm.Parameter, bool) {
		return ssm.Parameter{Type: "String", Value: "of " + name}, name == "/a"
	}})
	defer server.Close()
	client := sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
	out, err := client.GetParameters(t.Context(), &sdk.GetParametersInput{Names: []string{"/a", "/a:1", "/a:2", "/b"}})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range out.Parameters {
		got += fmt.Sprint(*p.Name, aws.ToString(p.Selector), "=", *p.Value, " ", p.Type, " ", p.Version, "; ")
	}
	if want := "/a=of /a String 1; /a:1=of /a String 1; [/a:2 /b]"; got+fmt.Sprint(out.InvalidParameters) != want {
		t.Errorf("got %s%v, want %s", got, out.InvalidParameters, want)
	}
	if _, err := client.GetParameters(t.Context(), &sdk.GetParametersInput{Names: make([]string, 11)}); err == nil {
		t.Error("eleven names are accepted")
	}
	if _, err := client.PutParameter(t.Context(), &sdk.PutParameterInput{Name: aws.String("/a"), Value: aws.String("x")}); err == nil {
		t.Error("a parameter was put")
	}
}
