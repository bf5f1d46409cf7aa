package wire

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkecr "github.com/aws/aws-sdk-go-v2/service/ecr"
	sdks3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/ecr"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/packages"
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

// readers returns the client with which what is in the stacks of each target is read.
func readers(a *sts.Accounts) cloudformation.Reader {
	return cloudformation.Reader{Clients: func(ctx context.Context, t project.Target) (cloudformation.ReadClient, error) {
		cfg, err := a.Reading(ctx, t)
		if err != nil {
			return nil, err
		}
		return sdk.NewFromConfig(cfg, fewerRetries, counting), nil
	}}
}

// A publisher publishes the assets of projects in accounts, with the roles there.
type publisher struct {
	allowed project.Grants
	files   *s3.Publisher
	images  *ecr.Images
}

// Publish implements action.Publisher. The setting may have been changed since the plan was made.
func (p publisher) Publish(ctx context.Context, of string, t project.Target, a project.Asset) (bool, error) {
	if !p.allowed.Allow(of) {
		return false, fault.New(fault.Denied, "publish %s: %s may not publish assets of the CDK: "+
			"ask the owner of the installation to add it to the setting cdkAssets", a.Place(), of)
	}
	if a.Image {
		return true, p.images.Find(ctx, t, a)
	}
	return p.files.Publish(ctx, of, t, a)
}

// newPublisher returns a publisher of what is in the installation's bucket.
func newPublisher(a *sts.Accounts, from *s3.Bucket, allowed project.Grants) publisher {
	key := func(of, digest string) string {
		name, _, _ := strings.Cut(of, "@")
		return packages.Key(name, digest)
	}
	files := s3.NewPublisher(from, key, func(ctx context.Context, t project.Target, role, externalID string) (*sdks3.Client, error) {
		cfg, err := a.As(ctx, t, role, externalID)
		if err != nil {
			return nil, err
		}
		return sdks3.NewFromConfig(cfg, s3Options), nil
	})
	images := ecr.New(func(ctx context.Context, t project.Target, role, externalID string) (ecr.Client, error) {
		cfg, err := a.As(ctx, t, role, externalID)
		if err != nil {
			return nil, err
		}
		return sdkecr.NewFromConfig(cfg), nil
	})
	return publisher{allowed, files, images}
}

// targets returns every target that a project may name.
func (l *loader) targets(ctx context.Context) (all map[string]project.Target, units []string, err error) {
	registered, err := l.registry.Targets(ctx)
	if err != nil {
		return nil, nil, err
	}
	all = map[string]project.Target{l.home.Name: l.home}
	for name, a := range registered {
		switch {
		case a.Unit != "":
			units = append(units, name)
		case name != l.home.Name:
			all[name] = a.Target
		}
	}
	return all, units, nil
}
