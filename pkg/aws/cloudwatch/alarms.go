package cloudwatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's CloudWatch client that is used here. It sends each request once.
type Client interface {
	DescribeAlarms(context.Context, *sdk.DescribeAlarmsInput, ...func(*sdk.Options)) (*sdk.DescribeAlarmsOutput, error)
	DescribeAlarmHistory(context.Context, *sdk.DescribeAlarmHistoryInput, ...func(*sdk.Options)) (*sdk.DescribeAlarmHistoryOutput, error)
}

// Alarms are the alarms in all targets. It is a hook.Alarms and a revision.Alarms.
type Alarms struct {
	clients func(context.Context, project.Target) (Client, error)
}

// NewAlarms returns the alarms that the given clients reach.
func NewAlarms(clients func(context.Context, project.Target) (Client, error)) *Alarms {
	return &Alarms{clients}
}

// mostNames is how many alarms a request may name.
const mostNames = 100

// States implements hook.Alarms and revision.Alarms. Names of alarms are unique in an account and region.
func (a *Alarms) States(ctx context.Context, in project.Target, names []string) ([]project.Alarm, error) {
	client, err := a.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	found := make(map[string]project.Alarm)
	for some := range slices.Chunk(names, mostNames) {
		if err := describe(ctx, client, some, found); err != nil {
			return nil, err
		}
	}
	all := make([]project.Alarm, len(names))
	for i, name := range names {
		all[i] = project.Alarm{Name: name, State: found[name].State, Since: found[name].Since}
	}
	return all, nil
}

// describe adds the alarms of at most mostNames names. Without types in the request, CloudWatch answers with metric alarms only, and
// without the number of alarms, with 50 at most.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func describe(ctx context.Context, client Client, names []string, to map[string]project.Alarm) error {
	out, err := client.DescribeAlarms(ctx, &sdk.DescribeAlarmsInput{
		AlarmNames: names, AlarmTypes: types.AlarmType("").Values(), MaxRecords: aws.Int32(mostNames),
	})
	if err != nil {
		what := "alarm " + names[0]
		if len(names) > 1 {
			what = "alarms " + strings.Join(names, ", ")
		}
		return awserr.Fault("describe "+what, "*", err, awserr.Kinds{awserr.Other: fault.Refused})
	}
	add := func(name *string, state types.StateValue, since *time.Time) {
		to[aws.ToString(name)] = project.Alarm{State: string(state), Since: aws.ToTime(since)}
	}
	for _, one := range out.MetricAlarms {
		add(one.AlarmName, one.StateValue, one.StateTransitionedTimestamp)
	}
	for _, one := range out.CompositeAlarms {
		add(one.AlarmName, one.StateValue, one.StateTransitionedTimestamp)
	}
	for _, one := range out.LogAlarms {
		add(one.AlarmName, one.StateValue, one.StateTransitionedTimestamp)
	}
	return nil
}

// Raised implements revision.Alarms. CloudWatch keeps the history of an alarm for 30 days.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmHistory.html
func (a *Alarms) Raised(ctx context.Context, in project.Target, name string, since time.Time) (time.Time, error) {
	client, err := a.clients(ctx, in)
	if err != nil {
		return time.Time{}, fmt.Errorf("target %s: %w", in.Name, err)
	}
	pages := sdk.NewDescribeAlarmHistoryPaginator(client, &sdk.DescribeAlarmHistoryInput{
		AlarmName: &name, AlarmTypes: types.AlarmType("").Values(), HistoryItemType: types.HistoryItemTypeStateUpdate,
		StartDate: &since, ScanBy: types.ScanByTimestampDescending, MaxRecords: aws.Int32(mostNames),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return time.Time{}, awserr.Fault("describe the history of alarm "+name, "*", err, awserr.Kinds{awserr.Other: fault.Refused})
		}
		for _, item := range page.AlarmHistoryItems {
			if becameAlarm(aws.ToString(item.HistoryData)) && !aws.ToTime(item.Timestamp).Before(since) {
				return aws.ToTime(item.Timestamp), nil
			}
		}
	}
	return time.Time{}, nil
}

// becameAlarm reports whether the data of a history item say that the alarm went off.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_AlarmHistoryItem.html
func becameAlarm(data string) bool {
	var item struct {
		NewState struct {
			StateValue types.StateValue `json:"stateValue"`
		} `json:"newState"`
	}
	return json.Unmarshal([]byte(data), &item) == nil && item.NewState.StateValue == types.StateValueAlarm
}
