package wire

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/project"
)

// clients returns the CloudFormation client of each target.
func clients(a *sts.Accounts) cloudformation.TargetClients {
	return func(ctx context.Context, t project.Target) (cloudformation.TargetClient, error) {
		cfg, execution, err := a.In(ctx, t)
		if err != nil {
			return cloudformation.TargetClient{}, err
		}
		return cloudformation.TargetClient{Client: sdk.NewFromConfig(cfg, fewerRetries, counting), Role: execution}, nil
	}
}

// targets returns every target that a project may name.
func (l *loader) targets(ctx context.Context) (map[string]project.Target, error) {
	registered, err := l.registry.Targets(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]project.Target{l.home.Name: l.home}
	for name, a := range registered {
		if name != l.home.Name {
			all[name] = a.Target
		}
	}
	return all, nil
}
