package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkeventbridge "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	sdklambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sdksns "github.com/aws/aws-sdk-go-v2/service/sns"
	sdkssm "github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/aws/lambda"
	"github.com/stackwright/stackwright/pkg/aws/sns"
	"github.com/stackwright/stackwright/pkg/aws/ssm"
	"github.com/stackwright/stackwright/pkg/aws/stepfunctions"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// services are what hooks call, with the roles of targets. Each request is sent once: a step repeats a call, so that its
// claim says who calls.
func services(a *sts.Accounts, env Environment) hook.Services {
	own := hook.Allowed{env.StateMachine, "arn:*:ssm:*:*:parameter/cdk-bootstrap/*"}
	if env.Stack != "" {
		in := env.Region + ":" + env.Account + ":"
		own = append(own, "arn:*:lambda:"+in+"function:"+env.Stack+"-*", "arn:*:sns:"+in+env.Stack)
	}
	return hook.Services{
		Functions:  lambda.New(inTarget(a, func(c aws.Config) lambda.Client { return sdklambda.NewFromConfig(c) })),
		Machines:   stepfunctions.NewMachines(inTarget(a, func(c aws.Config) stepfunctions.HookClient { return sfn.NewFromConfig(c) })),
		Buses:      eventbridge.NewBuses(inTarget(a, func(c aws.Config) eventbridge.HookClient { return sdkeventbridge.NewFromConfig(c) })),
		Topics:     sns.New(inTarget(a, func(c aws.Config) sns.Client { return sdksns.NewFromConfig(c) })),
		Parameters: parametersIn(a),
		Allowed:    env.Hooks,
		Own:        own,
	}
}

// parametersIn are the parameter stores of all targets.
func parametersIn(a *sts.Accounts) *ssm.Parameters {
	return ssm.New(inTarget(a, func(c aws.Config) ssm.Client { return sdkssm.NewFromConfig(c) }))
}

// inTarget returns a function that makes the client of a target.
func inTarget[C any](a *sts.Accounts, client func(aws.Config) C) func(context.Context, project.Target) (C, error) {
	return func(ctx context.Context, t project.Target) (C, error) {
		cfg, _, err := a.In(ctx, t)
		if err != nil {
			var none C
			return none, err
		}
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		return client(cfg), nil
	}
}
