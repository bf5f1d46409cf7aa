package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	arns "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/cli/httpapi"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// The outputs of an installation's stack that the command reads. The first three
// are required.
const (
	outBucket    = "BucketName"
	outTable     = "TableName"
	outMachine   = "StateMachineArn"
	outExecution = "ExecutionRoleArn"
	outGroup     = "ScheduleGroupName"
	outAPI       = "ApiUrl"
	outProjects  = "Projects"       // that may use the target default; missing if none may
	outOwner     = "Owner"          // who is admin of all projects; missing if there is none
	outUnits     = "Organization"   // how it asks AWS Organizations; missing if it does not
	outAccounts  = "TargetAccounts" // whose roles it may assume; missing if there are none
)

// site is the site of the installation on AWS that the call names. It is read
// from AWS once.
func (c *call) site(ctx context.Context) (site, error) {
	if c.installationSite == nil {
		there, err := c.installed(ctx)
		if err != nil {
			return site{}, err
		}
		c.installationSite = &there
	}
	return *c.installationSite, nil
}

// installed reads the site of the installation on AWS that the call names.
func (c *call) installed(ctx context.Context) (site, error) {
	if c.flags.api != "" {
		return c.atAPI(ctx)
	}
	if err := c.checkNamed(); err != nil {
		return site{}, err
	}
	stack := c.flags.installation
	cfg, err := c.awsConfig(ctx, "installation "+stack)
	if err != nil {
		return site{}, err
	}
	if cfg.Region == "" {
		return site{}, fault.New(fault.Invalid, "installation %s: no AWS region is configured: set AWS_REGION, or region in the profile", stack)
	}
	if err := c.authenticated(ctx, "installation "+stack, cfg); err != nil {
		return site{}, err
	}
	outputs, err := outputsOf(ctx, cloudformation.NewFromConfig(cfg), stack)
	if err != nil {
		return site{}, fmt.Errorf("installation %s in region %s: %w", stack, cfg.Region, err)
	}
	s, err := siteOf(stack, outputs)
	if s.config = cfg; err != nil || c.flags.direct {
		return s, err
	}
	if outputs[outAPI] == "" {
		return s, fault.New(fault.Missing, "installation %s: the stack has no output %s: its API was removed, or another version of Stackwright created it: ask its owner to deploy it again. With permissions for its table and bucket, use --direct", stack, outAPI)
	}
	api, err := c.client(outputs[outAPI], cfg)
	if err != nil {
		return s, fmt.Errorf("installation %s: output %s: %w", stack, outAPI, err)
	}
	s.api = api
	return s, nil
}

// tokenVariable has the token for an API that takes tokens. It is no flag: other users of a machine can see the
// arguments of its processes.
const tokenVariable = envPrefix + "TOKEN"

// atAPI is the site of the installation whose API the call names. The API says where it is.
func (c *call) atAPI(ctx context.Context) (site, error) {
	cfg := aws.Config{Credentials: aws.AnonymousCredentials{}}
	if c.Getenv(tokenVariable) == "" {
		var err error
		if cfg, err = c.awsConfig(ctx, c.flags.api); err != nil {
			return site{}, err
		}
		if err := c.authenticated(ctx, c.flags.api, cfg); err != nil {
			return site{}, err
		}
	}
	api, err := c.client(c.flags.api, cfg)
	if err != nil {
		return site{}, err
	}
	there, err := api.Installation(ctx)
	if err != nil {
		return site{}, err
	}
	home := report.AccessOf(there.Home)
	cfg.Region = home.Region
	return site{
		label: c.flags.api, config: cfg, bucket: there.Bucket, home: home, stack: there.Name, api: api,
		pace: longestInterval, timeout: answerTimeout, silence: "see the log of the function start of the installation",
	}, nil
}

// longestInterval is the longest time between two polls of a run on AWS.
const longestInterval = 2 * time.Second

// client reaches the API at a URL, with the user's token or credentials.
func (c *call) client(url string, cfg aws.Config) (*httpapi.API, error) {
	api, err := client.New(client.Options{URL: url, Region: cfg.Region, Credentials: cfg.Credentials, Token: c.Getenv(tokenVariable), Transport: c.Transport})
	if err != nil {
		return nil, err
	}
	return httpapi.New(api), nil
}

// awsConfig is the user's own AWS configuration, as the aws command uses it: profile, region, single sign-on.
func (c *call) awsConfig(ctx context.Context, what string) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
		o.TokenProvider = c.code
	}))
	if err != nil {
		return cfg, fault.New(fault.Denied, "%s: the AWS configuration cannot be used: %w: check AWS_PROFILE and ~/.aws/config", what, err)
	}
	return cfg, nil
}

// authenticated returns an error of kind Denied if a configuration has no credentials.
func (c *call) authenticated(ctx context.Context, what string, cfg aws.Config) error {
	_, err := cfg.Credentials.Retrieve(ctx)
	if device, is := errors.AsType[*fault.Fault](err); is {
		return fmt.Errorf("%s: %w", what, device)
	}
	if err != nil {
		return fault.New(fault.Denied, "%s: there are no AWS credentials, or they cannot be refreshed: log in (aws sso login), or set AWS_PROFILE; aws sts get-caller-identity shows the cause", what)
	}
	return nil
}

// code asks the user for the code of the MFA device that a profile names.
func (c *call) code() (string, error) {
	if !c.Asks {
		return "", fault.New(fault.Denied, "the profile needs the code of an MFA device, and there is no terminal to ask for it: use a profile without one, or the credentials of a session")
	}
	return c.prompt("code of the MFA device: ")
}

// outputsOf reads the outputs of an installation's stack.
func outputsOf(ctx context.Context, client *cloudformation.Client, stack string) (map[string]string, error) {
	out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if code, message := awserr.Answer(err); code == "ValidationError" {
		return nil, fault.New(fault.Missing, "%s: %s", message, candidates(ctx, client))
	}
	if err != nil {
		return nil, awserr.Fault("read the installation's stack", "stack "+stack, err, nil)
	}
	if len(out.Stacks) == 0 {
		return nil, fault.New(fault.Missing, "CloudFormation shows no such stack")
	}
	outputs := outputs(out.Stacks[0])
	var lacking []string
	for _, want := range []string{outBucket, outTable, outMachine} {
		if outputs[want] == "" {
			lacking = append(lacking, want)
		}
	}
	switch status := out.Stacks[0].StackStatus; {
	case len(lacking) == 3:
		return nil, fault.New(fault.Invalid, "the stack is %s and has no output %s: it is not an installation of Stackwright, or its deployment did not finish: %s",
			status, strings.Join(lacking, ", "), candidates(ctx, client))
	case len(lacking) > 0:
		return nil, fault.New(fault.Invalid, "the stack is %s and has no output %s: another version of Stackwright created it: run make deploy with the version of this command",
			status, strings.Join(lacking, ", "))
	}
	return outputs, nil
}

// outputs are the outputs of a stack, by name.
func outputs(s types.Stack) map[string]string {
	all := make(map[string]string)
	for _, o := range s.Outputs {
		all[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return all
}

// candidates lists the stacks that have the outputs of an installation.
func candidates(ctx context.Context, client *cloudformation.Client) string {
	var found []string
	if err := eachStack(ctx, client, "list the stacks", func(s types.Stack) {
		if all := outputs(s); all[outBucket] != "" && all[outTable] != "" && all[outMachine] != "" {
			found = append(found, aws.ToString(s.StackName))
		}
	}); err != nil {
		return "its stacks cannot be listed: " + err.Error()
	}
	if len(found) == 0 {
		return "no stack here is an installation: is it in another region (AWS_REGION) or account (AWS_PROFILE)? make deploy installs one"
	}
	slices.Sort(found)
	return "installations here: " + strings.Join(found, ", ")
}

// accountsOf are the accounts in the output TargetAccounts.
func accountsOf(outputs map[string]string) []string {
	if outputs[outAccounts] == "" {
		return []string{}
	}
	return strings.Split(outputs[outAccounts], ",")
}

// siteOf makes a site from the outputs of an installation's stack.
func siteOf(stack string, outputs map[string]string) (site, error) {
	machine, err := arns.Parse(outputs[outMachine])
	if err != nil || machine.Service != "states" {
		return site{}, fault.New(fault.Invalid, "installation %s: output %s is not the ARN of a state machine: %s", stack, outMachine, outputs[outMachine])
	}
	grants, err := project.ParseGrants(outputs[outProjects])
	if err != nil {
		return site{}, fmt.Errorf("installation %s: output %s: %w", stack, outProjects, err)
	}
	owner, err := access.ParseOwner(outputs[outOwner])
	if err != nil {
		return site{}, fmt.Errorf("installation %s: output %s: %w", stack, outOwner, err)
	}
	at := project.Target{Name: project.DefaultTarget, Account: machine.AccountID, Region: machine.Region}
	return site{
		label:  fmt.Sprintf("installation %s (account %s, region %s)", stack, at.Account, at.Region),
		bucket: outputs[outBucket], table: outputs[outTable], group: outputs[outGroup], machine: outputs[outMachine],
		home:  project.Access{Target: at, Execution: outputs[outExecution], Projects: grants},
		stack: stack, accounts: accountsOf(outputs), organization: outputs[outUnits], owner: owner,
		pace: longestInterval, timeout: answerTimeout,
		silence: fmt.Sprintf("see the log of the function start, and the queue %s-start-dead for the events that it could not process. In the first minutes of a new installation, S3 does not report uploads yet: try again", stack),
	}, nil
}
