package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// showsCost requests the plan of a deploy, and shows what it adds to what the stacks cost.
func showsCost(ctx context.Context, c *call) (int, error) {
	if c.flags.link && c.flags.api != "" && c.Getenv(tokenVariable) != "" {
		return c.refuse(fault.New(fault.Invalid, "--link sends requests to CloudFormation, for which a token is not enough: log in to AWS and unset %s, or leave --link out", tokenVariable))
	}
	if err := price.Err(); err != nil {
		return ExitFailed, fault.As(fault.Broken, err)
	}
	return request(ctx, c)
}

// printCost prints what a plan adds to what its stacks cost.
func (s *session) printCost(ctx context.Context, c plan.Changes) error {
	all, err := report.CostOf(c)
	if err != nil {
		return err
	}
	if s.call.flags.link {
		if err := s.link(ctx, &all); err != nil {
			return err
		}
	}
	if s.call.flags.output == "json" {
		return json.NewEncoder(s.call.Out).Encode(all)
	}
	_, colour := term.Able(s.call.Getenv)
	_, err = fmt.Fprintln(s.call.Out, strings.Join(term.Cost(all, s.call.width(), colour && s.call.Window != nil), "\n"))
	return err
}

// link adds the links to CloudFormation's own estimates of the stacks as they will be.
func (s *session) link(ctx context.Context, all *report.Cost) error {
	l, err := s.call.load(ctx)
	if err != nil {
		return err
	}
	records, err := s.to.Records(ctx, l.Project.ID())
	if err != nil {
		return err
	}
	for i := range all.Stacks {
		one := &all.Stacks[i]
		url, err := s.linkOf(ctx, l, records, one.Stack)
		switch {
		case fault.Is(err, fault.Unavailable, fault.Throttled, fault.Broken):
			return fmt.Errorf("stack %s: %w", one.Stack, err)
		case err != nil:
			one.NoLink = err.Error()
		default:
			one.Link = url
		}
	}
	return nil
}

// linkOf is the link to CloudFormation's estimate of one stack. The error says why there is none.
func (s *session) linkOf(ctx context.Context, l loaded, records map[string]plan.Record, name string) (string, error) {
	n, exists := l.Project.Nodes[name]
	if !exists {
		return "", fault.New(fault.Refused, "the stack is deleted")
	}
	body := l.Templates[n.Template.Digest]
	t, err := template.Parse(n.Template.Path, body)
	if err != nil {
		return "", err
	}
	parameters := make(map[string]string)
	for key, text := range n.Parameters {
		if t.Parameters[key].NoEcho {
			return "", fault.New(fault.Refused, "parameter %s is a secret, which is sent to CloudFormation only when the stack is deployed", key)
		}
		if parameters[key], err = text.Resolve(func(node, output string) (string, error) {
			value, ok := records[node].Outputs[output]
			if !ok {
				return "", fault.New(fault.Missing, "stack %s is not deployed yet, or has no such output", node)
			}
			return value, nil
		}); err != nil {
			return "", fault.New(fault.Refused, "parameter %s is not known: %w", key, err)
		}
	}
	config := s.config.Copy()
	config.Region = n.Target.Region
	return cloudformation.CostLink(ctx, sdk.NewFromConfig(config), string(body), parameters)
}
