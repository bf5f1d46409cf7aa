package cloud

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	buckettypes "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	scheduletypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	flowtypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// provide creates what does not exist, as infra/aws would, at the endpoints that Config names.
func (c *Cloud) provide(ctx context.Context) error {
	if err := c.provideBucket(ctx); err != nil {
		return fmt.Errorf("bucket %s: %w", c.opts.Bucket, err)
	}
	if err := c.provideTable(ctx); err != nil {
		return fmt.Errorf("table %s: %w", c.opts.Table, err)
	}
	if err := c.provideMachine(ctx); err != nil {
		return fmt.Errorf("state machine %s: %w", c.opts.StateMachine, err)
	}
	if err := c.provideGroup(ctx); err != nil {
		return fmt.Errorf("schedule group %s: %w", c.opts.Group, err)
	}
	if err := c.provideRules(ctx); err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	return nil
}

func (c *Cloud) provideBucket(ctx context.Context) error {
	if c.opts.Bucket == "" {
		return nil
	}
	client := s3.NewFromConfig(c.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String(c.opts.Bucket)
	_, err := client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: bucket})
	if absent := (*buckettypes.NotFound)(nil); !errors.As(err, &absent) {
		return err
	}
	in := &s3.CreateBucketInput{Bucket: bucket}
	if c.opts.Region != "us-east-1" {
		in.CreateBucketConfiguration = &buckettypes.CreateBucketConfiguration{LocationConstraint: buckettypes.BucketLocationConstraint(c.opts.Region)}
	}
	if _, err := client.CreateBucket(ctx, in); err != nil {
		return err
	}
	_, err = client.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: bucket,
		VersioningConfiguration: &buckettypes.VersioningConfiguration{Status: buckettypes.BucketVersioningStatusEnabled}})
	return err
}

func (c *Cloud) provideTable(ctx context.Context) error {
	if c.opts.Table == "" {
		return nil
	}
	key := func(name string, kind tabletypes.KeyType) (tabletypes.AttributeDefinition, tabletypes.KeySchemaElement) {
		return tabletypes.AttributeDefinition{AttributeName: &name, AttributeType: tabletypes.ScalarAttributeTypeS},
			tabletypes.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	pk, hash := key("PK", tabletypes.KeyTypeHash)
	sk, sort := key("SK", tabletypes.KeyTypeRange)
	client := dynamodb.NewFromConfig(c.Config())
	_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(c.opts.Table)})
	if absent := (*tabletypes.ResourceNotFoundException)(nil); !errors.As(err, &absent) {
		return err
	}
	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String(c.opts.Table),
		BillingMode:          tabletypes.BillingModePayPerRequest,
		AttributeDefinitions: []tabletypes.AttributeDefinition{pk, sk}, KeySchema: []tabletypes.KeySchemaElement{hash, sort}})
	return err
}

// provideMachine creates the state machine, or updates it to the definition of this version.
func (c *Cloud) provideMachine(ctx context.Context) error {
	if c.opts.StateMachine == "" {
		return nil
	}
	client, definition := sfn.NewFromConfig(c.Config()), aws.String(string(c.opts.Definition))
	made, err := client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String(c.opts.StateMachine),
		Definition: definition, RoleArn: aws.String("arn:aws:iam::" + c.opts.Account + ":role/stackwright-machine")})
	if err == nil {
		c.Machine = aws.ToString(made.StateMachineArn)
		return nil
	}
	if exists := (*flowtypes.StateMachineAlreadyExists)(nil); !errors.As(err, &exists) {
		return err
	}
	pages := sfn.NewListStateMachinesPaginator(client, &sfn.ListStateMachinesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, m := range page.StateMachines {
			if aws.ToString(m.Name) == c.opts.StateMachine {
				c.Machine = aws.ToString(m.StateMachineArn)
			}
		}
	}
	_, err = client.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &c.Machine, Definition: definition})
	return err
}

func (c *Cloud) provideGroup(ctx context.Context) error {
	if c.opts.Group == "" {
		return nil
	}
	_, err := scheduler.NewFromConfig(c.Config()).CreateScheduleGroup(ctx, &scheduler.CreateScheduleGroupInput{Name: aws.String(c.opts.Group)})
	if there := (*scheduletypes.ConflictException)(nil); errors.As(err, &there) {
		return nil
	}
	return err
}
