package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	bus "github.com/stackwright/stackwright/pkg/aws/eventbridge"
	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/aws/stepfunctions"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/config"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/project"
)

// parallel is how many stacks are looked at together. DescribeStacks allows
// about five requests a second, and each takes a tenth of one or two.
const parallel = 8

// A House holds the functions, wired to the services that they use.
type App struct {
	engine engine.Engine
	bucket *bucket.Bucket
	table  *table.Table
	home   project.Target // the default one: where we are
	own    config.Installation
	meter  *cloudwatch.Meter
	log    *slog.Logger
}

// New wires the functions to the services that cfg reaches, and logs to log. It
// dials nothing.
func New(cfg aws.Config, env Environment, log io.Writer) *App {
	cfg.Retryer = retries
	objects := bucket.New(s3.NewFromConfig(cfg, reaching), env.Bucket, env.Region)
	table := table.New(dynamodb.NewFromConfig(cfg), env.Table)
	home := project.Access{Target: project.Target{Name: project.DefaultTarget, Account: env.Account, Region: env.Region}, Execution: env.Execution}
	cloud := cloudformation.New(doors(sts.New(cfg, home, env.StateMachine, table)), objects)
	logger := slog.New(slog.NewJSONHandler(log, nil))
	meter := cloudwatch.New(logger, cmp.Or(env.Stack, "stackwright"))
	return &App{
		bucket: objects,
		table:  table,
		home:   home.Target,
		own:    installation(env),
		meter:  meter,
		log:    logger,
		engine: engine.Engine{
			Store:     table,
			Specs:     objects,
			Schedules: schedules(cfg, env.Schedules),
			Clouds:    cloud,
			Budgets:   table.Budgets(cmp.Or(env.Limits, budget.CloudFormation())),
			Actions:   action.Actions(cloud),
			Machine:   stepfunctions.New(sfn.NewFromConfig(cfg), env.StateMachine),
			Notifier:  bus.New(eventbridge.NewFromConfig(cfg), env.Bus, logger),
			Meter:     meter,
			Now:       time.Now,
			Nonce:     rand.Text,
			Parallel:  parallel,
		},
	}
}

// reaching has a bucket named in the path where the endpoint is not AWS's own:
// there, names below it may not resolve. That an object bears no checksum is not
// worth a line of the log at every read.
func reaching(o *s3.Options) {
	o.UsePathStyle = o.BaseEndpoint != nil
	o.DisableLogOutputChecksumValidationSkipped = true
}

// Plan makes the plan of a run, or takes up one that has been made.
func (h *App) Plan(ctx context.Context, d engine.ExecutionInput) (engine.LoopState, error) {
	ctx, done := h.acting(ctx, d.Run)
	defer done()
	e := h.engine
	desk := &loader{bucket: h.bucket, registry: h.table, home: h.home, own: h.own}
	e.Configurations, e.Specs = desk, desk
	t, err := e.Plan(ctx, d)
	h.note(ctx, err, "plan", slog.String("run", d.Run), slog.Int("epoch", d.Epoch), slog.String("state", string(t.State)), slog.Int("ready", len(t.Ready)))
	return t, err
}

// ExecuteStep starts one step.
func (h *App) ExecuteStep(ctx context.Context, s engine.StepInput) (struct{}, error) {
	ctx, done := h.acting(ctx, s.Run)
	defer done()
	err := h.engine.Execute(ctx, s)
	h.note(ctx, err, "execute", slog.String("run", s.Run), slog.Int("epoch", s.Epoch), slog.Int("step", s.Step))
	return struct{}{}, err
}

// WaitStatus looks at what runs, and answers the token when there is something
// to say.
func (h *App) WaitStatus(ctx context.Context, w engine.PollInput) (struct{}, error) {
	ctx, done := h.acting(ctx, w.Loop.Run)
	defer done()
	err := h.engine.Poll(ctx, w)
	h.note(ctx, err, "look", slog.String("run", w.Loop.Run), slog.Int("epoch", w.Loop.Epoch), slog.Int("wait", w.Loop.Wait))
	return struct{}{}, err
}
