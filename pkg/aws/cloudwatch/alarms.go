package cloudwatch

import (
	"context"
	"fmt"

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
}

// Alarms are the alarms in all targets. It is a hook.Alarms.
type Alarms struct {
	clients func(context.Context, project.Target) (Client, error)
}

// NewAlarms returns the alarms that the given clients reach.
func NewAlarms(clients func(context.Context, project.Target) (Client, error)) *Alarms {
	return &Alarms{clients}
}

// AlarmOK implements hook.Alarms. Without types in the request, CloudWatch answers with metric alarms only. Names of alarms are
// unique in an account and region.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
func (a *Alarms) AlarmOK(ctx context.Context, in project.Target, name string) (bool, error) {
	client, err := a.clients(ctx, in)
	if err != nil {
		return false, fmt.Errorf("target %s: %w", in.Name, err)
	}
	out, err := client.DescribeAlarms(ctx, &sdk.DescribeAlarmsInput{
		AlarmNames: []string{name}, AlarmTypes: types.AlarmType("").Values(),
	})
	if err != nil {
		return false, awserr.Fault("describe alarm "+name, "*", err, awserr.Kinds{awserr.Other: fault.Refused})
	}
	states := make(map[string]types.StateValue)
	for _, one := range out.MetricAlarms {
		states[aws.ToString(one.AlarmName)] = one.StateValue
	}
	for _, one := range out.CompositeAlarms {
		states[aws.ToString(one.AlarmName)] = one.StateValue
	}
	for _, one := range out.LogAlarms {
		states[aws.ToString(one.AlarmName)] = one.StateValue
	}
	if state, ok := states[name]; ok {
		return state == types.StateValueOk, nil
	}
	return false, fault.New(fault.Refused, "there is no alarm %s in account %s and region %s: create it, or name another one", name, in.Account, in.Region)
}
