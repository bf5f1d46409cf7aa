package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/entry/api"
	pages "github.com/stackwright/stackwright/pkg/entry/page"
)

// The limits of the API, in requests a second and as a burst. People and pipelines need a few; a caller in a loop must
// not occupy the functions of the runs.
const (
	rate  = 20
	burst = 40
)

// addAPI makes the HTTP API. Callers sign with IAM or, if an issuer is set, send a token of that issuer.
func (i *installation) addAPI() {
	var authorizer awsapigatewayv2.IHttpRouteAuthorizer = awsapigatewayv2authorizers.NewHttpIamAuthorizer()
	if i.settings.issuer != "" {
		authorizer = awsapigatewayv2authorizers.NewHttpJwtAuthorizer(jsii.String("Tokens"), jsii.String(i.settings.issuer),
			&awsapigatewayv2authorizers.HttpJwtAuthorizerProps{JwtAudience: jsii.Strings(i.settings.audience...)})
	}
	function := awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Function"), i.functions["api"],
		&awsapigatewayv2integrations.HttpLambdaIntegrationProps{
			PayloadFormatVersion: awsapigatewayv2.PayloadFormatVersion_VERSION_2_0(),
			// One permission for all routes: the policy of a function has at most 20 KB, which some 45 routes would fill.
			// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
			ScopePermissionToRoute: jsii.Bool(false),
		})
	httpAPI := awsapigatewayv2.NewHttpApi(i.Stack, jsii.String("HttpApi"), &awsapigatewayv2.HttpApiProps{
		ApiName: jsii.String(i.settings.stack), CreateDefaultStage: jsii.Bool(false), DefaultAuthorizer: authorizer,
		DefaultIntegration: function, // of the route api.Other
	})
	called(httpAPI, "HttpApi")
	add := func(route string, authorizer awsapigatewayv2.IHttpRouteAuthorizer) {
		method, path, _ := strings.Cut(route, " ")
		httpAPI.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
			Path: jsii.String(path), Methods: &[]awsapigatewayv2.HttpMethod{awsapigatewayv2.HttpMethod(method)}, Integration: function, Authorizer: authorizer,
		})
	}
	for _, route := range api.Routes() {
		add(route, nil) // the API's
	}
	if i.settings.page != "" { // its files are open to all: people sign in on it
		for _, route := range pages.Routes() {
			add(route, awsapigatewayv2.NewHttpNoneAuthorizer())
		}
	}
	i.api = httpAPI
	i.addStage(httpAPI)
}

// addStage makes the only stage of the API, with limits and an access log.
func (i *installation) addStage(httpAPI awsapigatewayv2.HttpApi) {
	logs := i.addLogs("ApiAccessLogs", "/aws/vendedlogs/apis/"+i.settings.stack)
	stage := awsapigatewayv2.NewHttpStage(i.Stack, jsii.String("Stage"), &awsapigatewayv2.HttpStageProps{
		HttpApi: httpAPI, StageName: jsii.String("$default"), AutoDeploy: jsii.Bool(true),
		Throttle: &awsapigatewayv2.ThrottleSettings{RateLimit: jsii.Number(rate), BurstLimit: jsii.Number(burst)},
	})
	called(stage, "Stage")
	stage.Node().DefaultChild().(awsapigatewayv2.CfnStage).SetAccessLogSettings(&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
		DestinationArn: logs.LogGroupArn(), Format: jsii.String(accessLog),
	})
	i.output("ApiUrl", *stage.Url(), "The HTTP API")
	if f, is := i.functions["notify"]; is && i.settings.page != "" {
		f.AddEnvironment(jsii.String("STACKWRIGHT_PAGE_URL"), stage.Url(), nil)
	}
}

// accessLog is the log line of a request, without bodies: caller, route, time and status.
const accessLog = `{"authorizer":"$context.authorizer.error","caller":"$context.identity.userArn","error":"$context.error.message",` +
	`"from":"$context.identity.sourceIp","integration":"$context.integrationErrorMessage","milliseconds":"$context.responseLatency",` +
	`"path":"$context.path","request":"$context.requestId","route":"$context.routeKey","status":"$context.status",` +
	`"subject":"$context.authorizer.claims.sub","time":"$context.requestTime"}`
