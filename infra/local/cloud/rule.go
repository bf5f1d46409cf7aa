package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/stackwright/stackwright/pkg/entry/trigger"
)

// A Rule sends events to a function: those that match a pattern, or one at each time of a schedule.
type Rule struct {
	Name     string
	Pattern  string // "" if it has a schedule
	Schedule string // as rate(5 minutes)
	Function string // its ARN
	Disabled bool
}

// provideRules creates the rules of the options, or the default ones.
func (c *Cloud) provideRules(ctx context.Context) error {
	rules := c.opts.Rules
	if rules == nil {
		rules = c.defaultRules()
	}
	for _, r := range rules {
		if err := c.putRule(ctx, r); err != nil {
			return fmt.Errorf("rule %s: %w", r.Name, err)
		}
	}
	return nil
}

// defaultRules are the rules of an installation, as far as its parts exist here: uploads and requests, failed
// executions, the sweep, the ends of operations of stacks, and the state changes of runs.
func (c *Cloud) defaultRules() []Rule {
	start := c.Host().ARN("start")
	rules := []Rule{{Name: "stackwright-stack-event", Pattern: text(trigger.Stacks()), Function: c.Host().ARN("stack-event")}}
	if c.opts.Bucket != "" {
		rules = append(rules, Rule{Name: "stackwright-start", Pattern: text(trigger.Uploads(c.opts.Bucket)), Function: start},
			Rule{Name: "stackwright-settings", Pattern: text(trigger.Settings(c.opts.Bucket)), Function: start})
	}
	// It is disabled if nobody is notified: a data folder may have it from before.
	rules = append(rules, Rule{Name: "stackwright-notify", Pattern: text(trigger.Runs()), Function: c.Host().ARN("notify"), Disabled: !c.opts.Notify})
	if c.Machine != "" {
		rules = append(rules, Rule{Name: "stackwright-recover", Pattern: text(trigger.Executions(c.Machine)), Function: start},
			Rule{Name: "stackwright-sweep", Schedule: rateOf(c.opts.Sweep), Function: start, Disabled: c.opts.Sweep < time.Minute})
	}
	return rules
}

// text is a pattern as EventBridge takes it.
func text(p trigger.Pattern) string {
	body, _ := json.Marshal(p) // texts, and lists and mappings of texts, always marshal
	return string(body)
}

// rateOf is the expression of a schedule. A schedule that is disabled gets a valid one.
func rateOf(every time.Duration) string {
	switch minutes := every / time.Minute; {
	case minutes == 1:
		return "rate(1 minute)"
	case minutes > 1:
		return fmt.Sprintf("rate(%d minutes)", minutes)
	}
	return "rate(5 minutes)"
}

// putRule creates a rule with a function as its target.
func (c *Cloud) putRule(ctx context.Context, r Rule) error {
	in := &eventbridge.PutRuleInput{Name: &r.Name, State: types.RuleStateEnabled}
	if r.Pattern != "" {
		in.EventPattern = &r.Pattern
	}
	if r.Schedule != "" {
		in.ScheduleExpression = &r.Schedule
	}
	if r.Disabled {
		in.State = types.RuleStateDisabled
	}
	client := eventbridge.NewFromConfig(c.Config())
	if _, err := client.PutRule(ctx, in); err != nil {
		return err
	}
	out, err := client.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &r.Name,
		Targets: []types.Target{{Id: aws.String("function"), Arn: &r.Function}}})
	if err != nil {
		return err
	}
	if out.FailedEntryCount > 0 {
		return fmt.Errorf("aim at %s: %s", r.Function, aws.ToString(out.FailedEntries[0].ErrorMessage))
	}
	return nil
}
