package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkeventbridge "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	sdks3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/aws/stepfunctions"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/fact"
	"github.com/stackwright/stackwright/pkg/format/check"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/lib/download"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/unit"
)

// parallel is how many stacks one poll describes at a time. DescribeStacks allows
// about five requests a second, and a request takes 0.1 to 0.2 seconds.
const parallel = 8

// An App holds the functions, connected to the services that they use.
type App struct {
	engine engine.Engine
	facts  fact.Services // without those of one plan
	bucket *s3.Bucket
	table  *dynamodb.Table
	home   project.Target // the installation's own account and region
	own    check.Installation
	place  string // where the installation is, for people
	meter  *cloudwatch.Meter
	log    *slog.Logger
	owner  access.Owner

	access    project.Access // the target default
	accounts  []string       // whose roles may be assumed in targets; nil is all
	schedules scheduleStore
	uploads   s3.Uploads
	purge     purge.Purge
	inside    cloudformation.Reader
	remotes   remotes
	page      *issuedPage // nil if the installation serves no page
	deliverer *notify.Deliverer
	rate      int // as in Environment

	config           aws.Config
	organizationRole string // as in Environment.Organization
	organizations    func(aws.Config, string) unit.Organization
	units            *unit.Recent
}

// New connects the functions to the services that cfg reaches, and logs to log. It
// sends no request.
func New(cfg aws.Config, env Environment, log io.Writer) *App {
	cfg.Retryer = retries
	if env.Web == nil {
		env.Web = download.Client{}
	}
	client := sdks3.NewFromConfig(cfg, s3Options)
	objects := s3.New(client, env.Bucket, env.Region)
	table := dynamodb.New(sdkdynamodb.NewFromConfig(cfg), env.Table)
	home := project.Access{Target: project.Target{Name: project.DefaultTarget, Account: env.Account, Region: env.Region}, Execution: env.Execution, Projects: env.Projects}
	accounts := sts.New(cfg, home, table)
	cloud := cloudformation.New(clients(accounts), objects)
	assets := newPublisher(accounts, objects, env.Assets)
	hooks := services(accounts, env, assets.files)
	logger := slog.New(slog.NewJSONHandler(log, nil))
	meter := cloudwatch.New(logger, cmp.Or(env.Stack, "stackwright"))
	return &App{
		bucket: objects,
		table:  table,
		home:   home.Target,
		own:    installation(env),
		place:  env.place(),
		meter:  meter,
		log:    logger,
		owner:  env.Owner,
		access: home, accounts: env.Accounts, schedules: schedules(cfg, env.Schedules), uploads: s3.NewUploads(client, env.Bucket), purge: purge.Purge{Table: table, Bucket: s3.PurgedBucket{Bucket: objects, Client: client}, Now: time.Now}, inside: readers(accounts),
		page:   pageOf(env),
		rate:   env.Rate,
		config: cfg, organizationRole: env.Organization, organizations: env.Organizations, units: &unit.Recent{Now: time.Now},
		deliverer: deliverer(cfg, env, table, objects, logger),
		remotes: remotes{allowed: env.Remote, change: env.allowing(), kept: objects, web: env.Web, own: env.Bucket, objects: s3.NewObjects(func(region string) *sdks3.Client {
			there := cfg.Copy()
			there.Region = region
			return sdks3.NewFromConfig(there, s3Options)
		}, env.Region)},
		facts: fact.Services{Suspends: env.Suspend, BacksUp: env.Backups, Backups: backups(accounts, env.Vault), Externals: env.Externals, Parameters: parametersIn(accounts)},
		engine: engine.Engine{
			Store:      table,
			Specs:      &loader{bucket: objects},
			Changes:    objects,
			Schedules:  schedules(cfg, env.Schedules),
			Permits:    accounts,
			Alarms:     alarmsIn(accounts),
			Clouds:     cloud,
			Budgets:    table.Budgets(cmp.Or(env.Limits, budget.CloudFormation())),
			Operations: plan.AllOperations(),
			Verbs:      action.Named(action.All(cloud, assets, hooks, switches(accounts), backups(accounts, env.Vault))...),
			Machine:    stepfunctions.New(sfn.NewFromConfig(cfg), env.StateMachine),
			Notifier:   eventbridge.New(sdkeventbridge.NewFromConfig(cfg), env.Bus, logger),
			Meter:      meter,
			Now:        time.Now,
			Nonce:      rand.Text,
			Parallel:   engine.AtMost(parallel),
		},
	}
}

// s3Options puts the bucket's name into the path if the endpoint is not AWS's own,
// because names below another endpoint may not resolve. It also silences the SDK's
// log line for every object without a checksum.
func s3Options(o *sdks3.Options) {
	o.UsePathStyle = o.BaseEndpoint != nil
	o.DisableLogOutputChecksumValidationSkipped = true
}

// PlanBy returns the function plan, which checks plans by policies with c.
func PlanBy(c Checker) func(*App, context.Context, engine.ExecutionInput) (engine.LoopState, error) {
	return func(h *App, ctx context.Context, d engine.ExecutionInput) (engine.LoopState, error) {
		return h.listing(Organization).plan(ctx, d, c)
	}
}

// plan makes the plan of a run, or loads the plan that the run has already.
func (h *App) plan(ctx context.Context, d engine.ExecutionInput, c Checker) (engine.LoopState, error) {
	ctx, done := h.forRun(ctx, d.Run)
	defer done()
	e := h.engine
	units := h.follower()
	l := &loader{bucket: h.bucket, registry: h.table, units: units, home: h.home, own: h.own, holds: c.Holds, remotes: h.remotes, store: packages.Store{Bucket: h.own.Bucket, Region: h.home.Region}}
	e.Configurations, e.Specs, e.Changes, e.Policies = l, l, l, policies{c, h.bucket, func(err error) {
		h.logResult(ctx, err, "policies of the installation", slog.String("run", d.Run))
	}}
	facts := h.facts
	facts.Units = units
	e.Facts = facts.All()
	t, err := e.Plan(ctx, d)
	h.logResult(ctx, err, "plan", slog.String("run", d.Run), slog.Int("epoch", d.Epoch), slog.String("state", string(t.State)), slog.Int("ready", len(t.Ready)))
	return t, err
}

// ExecuteStep starts the steps that are ready.
func (h *App) ExecuteStep(ctx context.Context, in engine.StartInput) (engine.LoopState, error) {
	ctx, done := h.forRun(ctx, in.Loop.Run)
	defer done()
	t, err := h.engine.Execute(ctx, in)
	h.logResult(ctx, err, "execute", slog.String("run", in.Loop.Run), slog.Int("epoch", in.Loop.Epoch), slog.Any("steps", in.Loop.Ready))
	return t, err
}

// WaitStatus polls the running steps, and answers the task token when the state
// machine has something to do.
func (h *App) WaitStatus(ctx context.Context, w engine.PollInput) (struct{}, error) {
	ctx, done := h.forRun(ctx, w.Loop.Run)
	defer done()
	err := h.engine.Poll(ctx, w)
	h.logResult(ctx, err, "poll", slog.String("run", w.Loop.Run), slog.Int("epoch", w.Loop.Epoch), slog.Int("wait", w.Loop.Wait))
	return struct{}{}, err
}
