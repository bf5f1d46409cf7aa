package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/api"
)

// request returns a request as API Gateway sends it.
func request(route, body string) string {
	quoted, _ := json.Marshal(body) // a string always marshals
	about := ""
	if strings.Contains(route, "/stacks/") {
		about = `"stack": "a"`
	}
	return `{"version": "2.0", "routeKey": "` + route + `", "body": ` + string(quoted) + `, "pathParameters":
		{"project": "shop", "environment": "prod", "run": "abcdefghijklmnopqrs2", "from": "abcdefghijklmnopqrs2", "to": "abcdefghijklmnopqrs2", "target": "eu"}, "queryStringParameters": {` + about + `}, "requestContext": {"requestId": "r1",
		"authorizer": {"iam": {"userArn": "arn:aws:iam::111122223333:user/ann"}}}}`
}

// The function answers every request; the answer and the log say what went wrong.
func TestAPIAnswersWhatGoesWrong(t *testing.T) {
	h, _, log := newTestApp(t)
	for _, route := range api.Routes() {
		if slices.Contains([]string{"GET /projects/{project}/{environment}/access", "GET /docs", "GET /installation", "GET /openapi.json", "GET /projects/{project}/{environment}/schedules", "POST /projects/{project}/{environment}/uploads"}, route) {
			continue // without a schedule group they send no request, or none that is needed
		}
		body := `{"operation":"refresh"}`
		if strings.HasPrefix(route, "PUT") {
			body = `{"account":"000000000000","region":"eu-west-1","execution_role":"arn:aws:iam::000000000000:role/stackwright/stackwright-us-east-1-execution","projects":["*@*"]}`
		}
		if strings.HasSuffix(route, "/purge") {
			body = `{"older_than":"90d"}`
		}
		if strings.HasPrefix(route, "POST") && strings.Contains(route, "{run}") {
			body = `{"reason":"test"}`
		}
		log.Reset()
		text, err := invoke(t, h, "api", request(route, body))
		if err != nil {
			t.Fatalf("%s: %v", route, err)
		}
		var r events.APIGatewayV2HTTPResponse
		if err := json.Unmarshal([]byte(text), &r); err != nil || r.StatusCode != 500 || !strings.Contains(r.Body, `"kind":"Denied"`) {
			t.Errorf("%s: %s, %v", route, text, err)
		}
		for _, want := range []string{`"level":"ERROR"`, `"msg":"api"`, `"request":"r1"`, `"status":500`, `"kind":"Denied"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s logs %s, without %s", route, log, want)
			}
		}
	}
}

// A request may hold a secret: its faults are answered, and not logged.
func TestAPILogsNothingOfARequest(t *testing.T) {
	h, calls, log := newTestApp(t)
	text, err := invoke(t, h, "api", request("POST /projects/{project}/{environment}/runs", `{"operation":"hunter2","key":"hunter2","hunter2":1}`))
	if err != nil || !strings.Contains(text, `"statusCode":400`) || calls.Load() > 0 {
		t.Errorf("%s, %v, %d calls", text, err, calls.Load())
	}
	if !strings.Contains(log.String(), `"status":400`) || strings.Contains(log.String(), "hunter2") {
		t.Errorf("it logs %s", log)
	}
}
