package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/action"
	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/project"
)

// doors are the ways to CloudFormation in all the accounts and regions.
func doors(a *sts.Accounts) cfn.TargetClients {
	return func(ctx context.Context, t project.Target) (cfn.TargetClient, error) {
		cfg, execution, err := a.In(ctx, t)
		if err != nil {
			return cfn.TargetClient{}, err
		}
		return cfn.TargetClient{Client: cloudformation.NewFromConfig(cfg, yielding, counting), Role: execution}, nil
	}
}

// as has whatever is done for a run be done in its name, in other accounts too.
func as(ctx context.Context, run string) context.Context {
	return sts.As(ctx, action.Prefix+run)
}

// targets are all that a project may name.
func (d *loader) targets(ctx context.Context) (map[string]project.Target, error) {
	registered, err := d.registry.Targets(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]project.Target{d.home.Name: d.home}
	for name, a := range registered {
		if name != d.home.Name {
			all[name] = a.Target
		}
	}
	return all, nil
}
