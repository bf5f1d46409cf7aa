package main

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
	pages "github.com/stackwright/stackwright/pkg/entry/page"
)

// The API has its routes, which ask who calls, and a stage that is limited
// and logged.
func TestAPI(t *testing.T) {
	for authorization, all := range map[string]template{"AWS_IAM": the(t, plain), "JWT": the(t, full)} {
		var got, open []string
		for _, name := range all.of("AWS::ApiGatewayV2::Route") {
			if all.at(name, "AuthorizationType") == "NONE" {
				open = append(open, all.at(name, "RouteKey"))
				continue
			}
			got = append(got, all.at(name, "RouteKey"))
			if all.at(name, "AuthorizationType") != authorization {
				t.Errorf("%s: who calls is known by %q, want %s", all.at(name, "RouteKey"), all.at(name, "AuthorizationType"), authorization)
			}
		}
		slices.Sort(got)
		if want := append([]string{api.Other}, api.Routes()...); !slices.Equal(got, want) {
			t.Errorf("routes %q, want %q", got, want)
		}
		slices.Sort(open)
		if want := map[string][]string{"JWT": pages.Routes()}[authorization]; !slices.Equal(open, want) {
			t.Errorf("the routes %q are open to all, want %q", open, want)
		}
		all.says(t, "Stage", map[string]string{
			"DefaultRouteSettings": `{"ThrottlingBurstLimit":40,"ThrottlingRateLimit":20}`, "AccessLogSettings.DestinationArn": "${ApiAccessLogs.Arn}",
		})
		for _, name := range all.of("AWS::ApiGatewayV2::Integration") {
			all.says(t, name, map[string]string{"IntegrationUri": "${Api.Arn}", "PayloadFormatVersion": "2.0"})
		}
	}
}
