package main

import (
	"slices"
	"testing"
)

// The API has its routes, which ask who calls, and a stage that is limited
// and logged.
func TestAPI(t *testing.T) {
	for authorization, all := range map[string]template{"AWS_IAM": the(t, plain), "JWT": the(t, full)} {
		var got []string
		for _, name := range all.of("AWS::ApiGatewayV2::Route") {
			got = append(got, all.at(name, "RouteKey"))
			if all.at(name, "AuthorizationType") != authorization {
				t.Errorf("%s: who calls is known by %q, want %s", all.at(name, "RouteKey"), all.at(name, "AuthorizationType"), authorization)
			}
		}
		slices.Sort(got)
		want := []string{
			"DELETE /targets/{target}",
			"GET /installation",
			"GET /projects",
			"GET /projects/{project}/{environment}/lock",
			"GET /projects/{project}/{environment}/runs",
			"GET /projects/{project}/{environment}/runs/{run}",
			"GET /projects/{project}/{environment}/runs/{run}/execution",
			"GET /projects/{project}/{environment}/runs/{run}/plan",
			"GET /projects/{project}/{environment}/schedules",
			"GET /projects/{project}/{environment}/stacks",
			"GET /targets",
			"POST /projects/{project}/{environment}/runs",
			"POST /projects/{project}/{environment}/runs/{run}/approve",
			"POST /projects/{project}/{environment}/runs/{run}/cancel",
			"POST /projects/{project}/{environment}/runs/{run}/continue",
			"POST /projects/{project}/{environment}/runs/{run}/pause",
			"POST /projects/{project}/{environment}/runs/{run}/reject",
			"POST /projects/{project}/{environment}/runs/{run}/unlock",
			"POST /projects/{project}/{environment}/uploads",
			"PUT /targets/{target}",
		}
		if !slices.Equal(got, want) {
			t.Errorf("routes %q", got)
		}
		all.says(t, "Stage", map[string]string{
			"DefaultRouteSettings": `{"ThrottlingBurstLimit":40,"ThrottlingRateLimit":20}`, "AccessLogSettings.DestinationArn": "${ApiAccessLogs.Arn}",
		})
		for _, name := range all.of("AWS::ApiGatewayV2::Integration") {
			all.says(t, name, map[string]string{"IntegrationUri": "${Api.Arn}", "PayloadFormatVersion": "2.0"})
		}
	}
}
