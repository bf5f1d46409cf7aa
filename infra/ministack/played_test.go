package ministack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/fault"
)

// A player does what AWS does and MiniStack 1.5.33 does not:
//
//   - CloudFormation sends an event when the status of a stack changes.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/eventbridge.html
//   - The events of S3 have the version of the object. MiniStack's have none, so they are turned off.
//     https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
//   - Scheduler writes the time into the input of a schedule. MiniStack sends its name, so that the function cannot read the event.
//     https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
//   - A task that waits for its token ends with States.Timeout after TimeoutSecondsPath.
//     https://docs.aws.amazon.com/step-functions/latest/dg/state-task.html
//
// It watches from outside, as the owner of the account, and reads of Stackwright only the task tokens of runs.
type player struct {
	stacks  *cloudformation.Client
	bus     *eventbridge.Client
	objects *s3.Client
	flows   *sfn.Client

	functions *lambda.Client
	schedules *scheduler.Client

	at     place
	rules  []rule
	calls  []call
	quiet  atomic.Bool       // the events of stacks are lost
	known  map[string]string // what has been handled: stack → status, event of a stack, version of an object, task token
	counts map[string]int    // what was done, by kind
}

// A place is where an installation has what a player watches.
type place struct {
	bucket, machine, group string
	runs                   *table.Table
}

// play makes a player that works until the test ends, or until stop is called.
func play(t *testing.T, cfg aws.Config, at place) (p *player, stop func()) {
	t.Helper()
	p = &player{
		stacks: cloudformation.NewFromConfig(cfg), bus: eventbridge.NewFromConfig(cfg), flows: sfn.NewFromConfig(cfg), objects: s3.NewFromConfig(cfg, pathStyle),
		functions: lambda.NewFromConfig(cfg), schedules: scheduler.NewFromConfig(cfg), at: at, known: make(map[string]string), counts: make(map[string]int),
	}
	_, err := p.objects.PutBucketNotificationConfiguration(t.Context(), &s3.PutBucketNotificationConfigurationInput{
		Bucket: &at.bucket, NotificationConfiguration: &s3types.NotificationConfiguration{},
	})
	if err == nil {
		err = p.readRules(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := errors.Join(p.uploads(ctx), p.statuses(ctx), p.timeouts(ctx), p.times(ctx)); err != nil && ctx.Err() == nil {
				t.Errorf("play what MiniStack lacks: %v", err)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return p, stop
}

// A call is what a schedule does at its time; without a target, it was done.
type call struct {
	at     time.Time
	target *schedulertypes.Target
}

// A rule sends the events of a pattern to functions.
type rule struct {
	pattern   *string
	functions []string
}

// readRules reads the rules that events are matched with.
func (p *player) readRules(ctx context.Context) error {
	all, err := p.bus.ListRules(ctx, &eventbridge.ListRulesInput{})
	if err != nil {
		return err
	}
	for _, r := range all.Rules {
		if r.EventPattern == nil || r.State != types.RuleStateEnabled {
			continue
		}
		targets, err := p.bus.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: r.Name})
		if err != nil {
			return err
		}
		found := rule{pattern: r.EventPattern}
		for _, t := range targets.Targets {
			if strings.Contains(aws.ToString(t.Arn), ":lambda:") {
				found.functions = append(found.functions, *t.Arn)
			}
		}
		p.rules = append(p.rules, found)
	}
	return nil
}

func pathStyle(o *s3.Options) { o.UsePathStyle = true }

// first reports whether something is handled for the first time, and remembers it.
func (p *player) first(what, value string) bool {
	if old, known := p.known[what]; known && old == value {
		return false
	}
	p.known[what] = value
	return true
}

// send sends an event as a service of AWS does: nobody else may send events of these sources. So it goes to the functions that the
// rules of the template name for it.
func (p *player) send(ctx context.Context, source, kind string, detail map[string]any, resource string) error {
	event, err := json.Marshal(map[string]any{
		"version": "0", "id": fmt.Sprint(len(p.known)), "source": source, "detail-type": kind, "detail": detail, "resources": []string{resource},
		"account": account, "region": region, "time": time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	for _, r := range p.rules {
		match, err := p.bus.TestEventPattern(ctx, &eventbridge.TestEventPatternInput{EventPattern: r.pattern, Event: aws.String(string(event))})
		if err != nil {
			return err
		}
		if !match.Result {
			continue
		}
		p.counts[kind]++
		for _, f := range r.functions {
			if _, err := p.functions.Invoke(ctx, &lambda.InvokeInput{FunctionName: &f, InvocationType: lambdatypes.InvocationTypeEvent, Payload: event}); err != nil {
				return err
			}
		}
	}
	return nil
}

// uploads sends the events of new objects.
func (p *player) uploads(ctx context.Context) error {
	for pages := s3.NewListObjectVersionsPaginator(p.objects, &s3.ListObjectVersionsInput{Bucket: &p.at.bucket}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, v := range page.Versions {
			if !p.first("object "+aws.ToString(v.Key)+" "+aws.ToString(v.VersionId), "sent") {
				continue
			}
			err := p.send(ctx, "aws.s3", "Object Created", map[string]any{
				"version": "0", "bucket": map[string]any{"name": p.at.bucket}, "requester": account, "reason": "PutObject", "request-id": aws.ToString(v.VersionId),
				"object": map[string]any{
					"key": aws.ToString(v.Key), "version-id": aws.ToString(v.VersionId), "size": aws.ToInt64(v.Size), "etag": aws.ToString(v.ETag),
					"sequencer": fmt.Sprintf("%016X", v.LastModified.UnixNano()),
				},
			}, "arn:aws:s3:::"+p.at.bucket)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// statuses sends the events of stacks whose status has changed, from the oldest.
func (p *player) statuses(ctx context.Context) error {
	for pages := cloudformation.NewListStacksPaginator(p.stacks, &cloudformation.ListStacksInput{}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, s := range page.StackSummaries {
			id := aws.ToString(s.StackId)
			out, err := p.stacks.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &id})
			if awserr.Is(err, "ValidationError") {
				continue // MiniStack forgets a deleted stack when another one gets its name
			}
			if err != nil {
				return err
			}
			for n := len(out.StackEvents) - 1; n >= 0; n-- {
				e := out.StackEvents[n]
				if aws.ToString(e.PhysicalResourceId) != id || !p.first("event "+aws.ToString(e.EventId), "sent") || p.quiet.Load() {
					continue
				}
				err := p.send(ctx, "aws.cloudformation", "CloudFormation Stack Status Change", map[string]any{
					"stack-id": id, "client-request-token": aws.ToString(e.ClientRequestToken),
					"status-details": map[string]any{"status": e.ResourceStatus, "status-reason": aws.ToString(e.ResourceStatusReason)},
				}, id)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// times calls the functions of schedules that run once, when their time has come. It remembers them, because MiniStack deletes a
// schedule whose time is over.
func (p *player) times(ctx context.Context) error {
	all, err := p.schedules.ListSchedules(ctx, &scheduler.ListSchedulesInput{GroupName: &p.at.group})
	if err != nil {
		return err
	}
	for _, s := range all.Schedules {
		out, err := p.schedules.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: &p.at.group, Name: s.Name})
		var gone *schedulertypes.ResourceNotFoundException
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			return err
		}
		at, err := time.Parse("at(2006-01-02T15:04:05)", aws.ToString(out.ScheduleExpression))
		if err == nil && p.first("schedule "+aws.ToString(s.Name), at.String()) { // no act uses cron and rate
			p.calls = append(p.calls, call{at: at, target: out.Target})
		}
	}
	for n, c := range p.calls {
		if c.target == nil || time.Now().Before(c.at) {
			continue
		}
		p.counts["schedule"]++
		p.calls[n].target = nil
		attributes := strings.NewReplacer("<aws.scheduler.scheduled-time>", c.at.Format(time.RFC3339), "<aws.scheduler.execution-id>", fmt.Sprint(len(p.known)))
		_, err = p.functions.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: c.target.Arn, InvocationType: lambdatypes.InvocationTypeEvent, Payload: []byte(attributes.Replace(aws.ToString(c.target.Input))),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// timeouts ends waits that have lasted as long as the input of the state says. The history does not contain the task token; the
// run has it, which reads it as the functions do.
func (p *player) timeouts(ctx context.Context) error {
	running, err := p.flows.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &p.at.machine, StatusFilter: sfntypes.ExecutionStatusRunning})
	if err != nil {
		return err
	}
	for _, e := range running.Executions {
		history, err := p.flows.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: e.ExecutionArn})
		if err != nil {
			return err
		}
		run, over := waited(history.Events)
		if !over {
			continue
		}
		r, err := p.at.runs.Run(ctx, run)
		if fault.Is(err, fault.Missing) {
			continue // of an installation that was removed before its execution ended
		}
		if err != nil {
			return err
		}
		if r.Token == "" || !p.first("token "+r.Token, "ended") {
			continue
		}
		p.counts["States.Timeout"]++
		_, err = p.flows.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: &r.Token, Error: aws.String("States.Timeout")})
		var gone *sfntypes.TaskTimedOut
		if err != nil && !errors.As(err, &gone) { // it has ended meanwhile
			return err
		}
	}
	return nil
}

// waited is the run that an execution waits for, and whether the time of the wait is over.
func waited(history []sfntypes.HistoryEvent) (run string, over bool) {
	for _, e := range slices.Backward(history) {
		switch {
		case e.StateEnteredEventDetails != nil:
			var in struct {
				Run  string
				Wait float64
			}
			if err := json.Unmarshal([]byte(aws.ToString(e.StateEnteredEventDetails.Input)), &in); err != nil || aws.ToString(e.StateEnteredEventDetails.Name) != "Watch" {
				return "", false
			}
			return in.Run, time.Since(*e.Timestamp) > time.Duration(in.Wait*float64(time.Second))
		case e.StateExitedEventDetails != nil:
			return "", false // the next state has not started
		}
	}
	return "", false
}
