package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// The prices of what exists, in USD a month in us-east-1, without the free tiers. AWS's price pages had them when
// this was written; docs/deploy.md links them. Every type of the template is listed.
const (
	perAlarmMetric = 0.10 // https://aws.amazon.com/cloudwatch/pricing/: also for each metric of an expression
	perDashboard   = 3.00
	perKey         = 1.00 // https://aws.amazon.com/kms/pricing/

	// A sweep takes 0.2 seconds, reads the list of open runs, and writes 1 kB of logs and a trace.
	sweepsAMonth = 30 * 24 * 60 / 5
	perSweep     = 0.0000002 + 0.5*0.2*0.0000133334  // https://aws.amazon.com/lambda/pricing/
	perSweepRead = 0.000000125 + 0.50/1e6 + 0.000005 // https://aws.amazon.com/dynamodb/pricing/on-demand/, https://aws.amazon.com/xray/pricing/
)

// free are the types that cost nothing while nothing runs: they are charged by request and by stored byte, or not at all.
var free = []string{
	"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::Authorizer", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage",
	"AWS::CDK::Metadata", "AWS::DynamoDB::Table", "AWS::Events::EventBusPolicy", "AWS::Events::Rule", "AWS::IAM::ManagedPolicy", "AWS::IAM::Role",
	"AWS::Lambda::EventInvokeConfig", "AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::Logs::LogGroup", "AWS::S3::Bucket", "AWS::S3::BucketPolicy",
	"AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "AWS::Scheduler::ScheduleGroup", "AWS::StepFunctions::StateMachine",
}

// idle returns the cost of an installation in a month in which nothing runs, by what causes it.
func idle(t *testing.T, of template) map[string]float64 {
	t.Helper()
	cost := make(map[string]float64)
	for name, r := range of.Resources {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			metrics, _ := r.Properties["Metrics"].([]any) // of an expression; a plain alarm has one metric
			of := "alarms"
			if strings.HasPrefix(name, "Notify") {
				of = "alarms of notify"
			}
			cost[of] += perAlarmMetric * float64(max(1, len(metrics)))
		case "AWS::CloudWatch::Dashboard":
			cost["dashboard"] += perDashboard
		case "AWS::KMS::Key":
			cost["key"] += perKey
		default:
			if !slices.Contains(free, r.Type) {
				t.Errorf("%s is a %s, which has no price here", name, r.Type)
			}
		}
		if every := of.at(name, "ScheduleExpression"); every != "" && every != "rate(5 minutes)" {
			t.Errorf("%s has the schedule %s, want rate(5 minutes)", name, every)
		}
	}
	cost["sweeps"] = sweepsAMonth * perSweep
	cost["their reads, logs and traces"] = sweepsAMonth * perSweepRead
	return cost
}

func sum(cost map[string]float64) float64 {
	var all float64
	for _, c := range cost {
		all += math.Round(c*100) / 100
	}
	return all
}

// An installation in which nothing runs costs less than a dollar a month, and docs/deploy.md says how much.
func TestIdleCost(t *testing.T) {
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	few, all := idle(t, the(t, plain)), idle(t, the(t, full))
	if sum(few) >= 1 {
		t.Errorf("without settings it costs %.2f a month: %v; want less than 1", sum(few), few)
	}
	for _, want := range []string{
		fmt.Sprintf("| alarms | %.0f × 0.10 | %.2f |", few["alarms"]/perAlarmMetric, few["alarms"]),
		fmt.Sprintf("| %.2f |", few["sweeps"]),
		fmt.Sprintf("| %.2f |", few["their reads, logs and traces"]),
		fmt.Sprintf("| **sum** | | **%.2f** |", sum(few)),
		fmt.Sprintf("`monitoring=full` adds %.0f alarms and a dashboard, %.2f a month", (all["alarms"]-few["alarms"])/perAlarmMetric, all["alarms"]-few["alarms"]+all["dashboard"]),
		fmt.Sprintf("`notify` adds an alarm, %.2f, and with `monitoring=full` %.0f, %.2f", perAlarmMetric, all["alarms of notify"]/perAlarmMetric, all["alarms of notify"]),
		fmt.Sprintf("`customerKey=true` a key, %.2f", all["key"]-few["key"]),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/deploy.md does not say %q", want)
		}
	}
}
