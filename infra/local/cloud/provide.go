package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	buckettypes "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	scheduletypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	flowtypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/pkg/trigger"
)

// provide makes what is absent, as infra/aws would: at the endpoints that Config names, whoever serves them.
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

// provideMachine makes the machine, or gives it the definition of this version.
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

// provideRules aims the events that Stackwright lives on at its functions, as far as there are those.
func (c *Cloud) provideRules(ctx context.Context) error {
	if c.opts.Bucket != "" {
		if err := c.match(ctx, "stackwright-start", "start", trigger.Uploads(c.opts.Bucket)); err != nil {
			return err
		}
	}
	if c.Machine != "" {
		if err := c.provideRecovery(ctx); err != nil {
			return err
		}
	}
	return c.match(ctx, "stackwright-stack-event", "stack-event", trigger.Stacks())
}

// provideRecovery has start told of executions that went down, and of the time to look for runs that nobody drives.
func (c *Cloud) provideRecovery(ctx context.Context) error {
	if err := c.match(ctx, "stackwright-recover", "start", trigger.Executions(c.Machine)); err != nil {
		return err
	}
	sweep := &eventbridge.PutRuleInput{Name: aws.String("stackwright-sweep"), State: eventtypes.RuleStateDisabled,
		ScheduleExpression: aws.String("rate(5 minutes)")}
	switch minutes := c.opts.Sweep / time.Minute; {
	case minutes == 1:
		sweep.State, sweep.ScheduleExpression = eventtypes.RuleStateEnabled, aws.String("rate(1 minute)")
	case minutes > 1:
		sweep.State, sweep.ScheduleExpression = eventtypes.RuleStateEnabled, aws.String(fmt.Sprintf("rate(%d minutes)", minutes))
	}
	return c.aim(ctx, sweep, "start")
}

// match sends the events of a pattern to a function.
func (c *Cloud) match(ctx context.Context, rule, function string, pattern trigger.Pattern) error {
	text, err := json.Marshal(pattern)
	if err != nil {
		return err
	}
	return c.aim(ctx, &eventbridge.PutRuleInput{Name: &rule, EventPattern: aws.String(string(text))}, function)
}

// aim makes a rule that sends to a function.
func (c *Cloud) aim(ctx context.Context, rule *eventbridge.PutRuleInput, function string) error {
	client := eventbridge.NewFromConfig(c.Config())
	if _, err := client.PutRule(ctx, rule); err != nil {
		return err
	}
	out, err := client.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: rule.Name,
		Targets: []eventtypes.Target{{Id: aws.String("function"), Arn: aws.String(c.Host().ARN(function))}}})
	if err != nil {
		return err
	}
	if out.FailedEntryCount > 0 {
		return fmt.Errorf("rule %s: %s", aws.ToString(rule.Name), aws.ToString(out.FailedEntries[0].ErrorMessage))
	}
	return nil
}
