// Package cloud joins the local emulators to one AWS account and region, and to a CloudFormation in other ones, in
// memory or in a folder.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/autoscaling"
	"github.com/stackwright/stackwright/infra/local/awsbackup"
	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/cloudwatch"
	"github.com/stackwright/stackwright/infra/local/dynamodb"
	"github.com/stackwright/stackwright/infra/local/ec2"
	"github.com/stackwright/stackwright/infra/local/ecr"
	"github.com/stackwright/stackwright/infra/local/ecs"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
	"github.com/stackwright/stackwright/infra/local/organizations"
	"github.com/stackwright/stackwright/infra/local/rds"
	"github.com/stackwright/stackwright/infra/local/redshift"
	"github.com/stackwright/stackwright/infra/local/s3"
	"github.com/stackwright/stackwright/infra/local/sagemaker"
	"github.com/stackwright/stackwright/infra/local/scheduler"
	"github.com/stackwright/stackwright/infra/local/secrets"
	"github.com/stackwright/stackwright/infra/local/ssm"
	"github.com/stackwright/stackwright/infra/local/states"
	"github.com/stackwright/stackwright/infra/local/sts"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Invoker runs functions: lambda.Functions or lambda.Binaries.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
	Names() []string
	Close() error
}

// Options configure the cloud. The zero value is an empty one in memory.
type Options struct {
	// Data is the folder that stores everything; "" means memory only.
	Data string
	// Account is "000000000000" and Region "us-east-1" where they are "".
	Account, Region string
	// Trust says which roles of this and other accounts may be assumed; see sts.Trust. nil means none.
	Trust sts.Trust
	// Seconds is the duration of a CloudFormation operation; see cloudformation.Options.
	Seconds float64
	// ResolveDynamic reads what a dynamic reference of a stack names; see cloudformation.Options.
	ResolveDynamic func(ref template.Dynamic) (string, bool)
	// Seed, unless zero, makes the IDs of stacks and of object versions reproducible.
	Seed uint64

	// Bucket, Table, StateMachine and Group (of schedules) are created if they do not exist; one that is "" is not.
	Bucket, Table, StateMachine, Group string
	// Definition is the definition of the state machine, with all placeholders replaced.
	Definition []byte
	// Functions creates the functions; c.Config and c.Environ can be used by then. nil means that there are none.
	Functions func(c *Cloud) (Invoker, error)

	// Notify is whether the default rules send the state changes of runs to the function notify.
	Notify bool
	// Rules send events to functions; nil means the rules of an installation.
	Rules []Rule
	// Routes are those of the API that functions answer; see api.Route. Without any, every request is answered with
	// 404.
	Routes []api.Route

	// Paused opens the cloud for reading. Operations of stacks continue, but events are kept until the next Open
	// without Paused, executions do not continue, and Serving does nothing.
	Paused bool

	// Latency, if set, is the delay of each request through Config.
	Latency func(*http.Request) time.Duration
	// Transition is how long an execution of a state machine takes to enter a state.
	Transition time.Duration
	// Disturb, if set, loses, delays or repeats events; see events.Options.
	Disturb func(event events.Event, function string) []time.Duration
	// Seen, if set, is called with each event; see events.Options.
	Seen func(events.Event)
	// Fail, if set, makes requests to all services fail, after Open has created everything; see gateway.RandomFailures.
	Fail func(gateway.Request) *gateway.Failure
	// Sweep is how often Stackwright searches for runs without an execution, in whole minutes; 0 is every five minutes,
	// and less than a minute is never.
	Sweep time.Duration
	// Getenv reads AWS_ENDPOINT_URL_<SERVICE> and the like; nil means os.Getenv.
	Getenv func(name string) string
	// Log gets errors that no request reports; nil drops them.
	Log io.Writer
}

// Cloud is an emulated AWS account: an http.Handler for all services. Use Open, and Close at the end.
type Cloud struct {
	Gateway       *gateway.Gateway
	API           *api.API // the HTTP API, which the gateway serves too
	Objects       *s3.Objects
	Tables        *dynamodb.Tables
	Stacks        *cloudformation.Service // of the own account and region; see StacksIn
	StateMachines *states.Service
	Bus           *events.Bus
	// Schedules is EventBridge Scheduler.
	Schedules *scheduler.Service
	// Organization is AWS Organizations: the own account is the management account.
	Organization *organizations.Service
	// Machine is the ARN of the state machine, "" without one.
	Machine string

	opts           Options
	otherLocations otherLocations
	databases      *rds.Service
	tableBackups   *dynamodb.Backups
	warehouses     *redshift.Service
	machines       *ec2.Service
	files          *awsbackup.Service
	folder         *folder
	functions      Invoker
	api            *lambda.API
	transport      transport
	bootstrapping  sync.Mutex     // held while the bucket of cdk bootstrap is created
	closers        []func() error // in the order in which they are called
}

// Open makes the cloud, or opens it again: executions continue and events are delivered. One process at a time can open
// a folder; the error for another one is an *InUse.
func Open(ctx context.Context, opts Options) (*Cloud, error) {
	c := &Cloud{opts: defaults(opts)}
	c.transport = newTransport(c)
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the local cloud: %w", err), c.Close())
	}
	return c, nil
}

func defaults(opts Options) Options {
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Sweep == 0 {
		opts.Sweep = 5 * time.Minute
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	return opts
}

// open starts all services with nothing in progress, and then lets executions and events continue.
func (c *Cloud) open(ctx context.Context) error {
	if err := c.lock(); err != nil {
		return err
	}
	if err := c.openStores(); err != nil {
		return err
	}
	if err := c.openServices(); err != nil {
		return err
	}
	if err := c.openFunctions(); err != nil {
		return err
	}
	if err := c.provide(ctx); err != nil {
		return err
	}
	c.Gateway.Fail(c.opts.Fail)
	if c.opts.Paused {
		return nil
	}
	c.Bus.Start()
	c.StateMachines.Resume()
	c.Schedules.Start()
	return nil
}

// onClose has close called before the functions registered so far.
func (c *Cloud) onClose(close func() error) {
	c.closers = append([]func() error{close}, c.closers...)
}

func (c *Cloud) lock() error {
	if c.opts.Data == "" {
		return nil
	}
	f, err := lockFolder(c.opts.Data)
	if err != nil {
		return err
	}
	c.folder = f
	c.onClose(f.unlock)
	return nil
}

// subfolder is a folder within the data folder, "" in memory.
func (c *Cloud) subfolder(name string) string {
	if c.opts.Data == "" {
		return ""
	}
	return filepath.Join(c.opts.Data, name)
}

func (c *Cloud) openStores() (err error) {
	c.Tables, err = dynamodb.Open(c.opts.Data)
	if err != nil {
		return err
	}
	c.onClose(c.Tables.Close)
	c.Objects, err = s3.Open(s3.Options{Folder: c.opts.Data, Account: c.opts.Account, Seed: int64(c.opts.Seed), Hosts: []string{Host}, Emit: c.emit})
	if err != nil {
		return err
	}
	c.onClose(c.Objects.Close)
	c.onClose(func() error { return c.stopFunctions() })
	c.Bus, err = events.Open(events.Options{Folder: c.opts.Data, Account: c.opts.Account, Region: c.opts.Region,
		Invoke: c.Invoke, Disturb: c.opts.Disturb, Seen: c.opts.Seen, Log: c.opts.Log})
	if err != nil {
		return err
	}
	c.onClose(c.Bus.Close)
	c.Schedules, err = scheduler.Open(scheduler.Options{Folder: c.opts.Data, Account: c.opts.Account, Region: c.opts.Region, Invoke: c.Invoke, Log: c.opts.Log})
	if err != nil {
		return err
	}
	c.onClose(c.Schedules.Close)
	c.Organization, err = organizations.Open(c.opts.Data, c.opts.Account, func(r *http.Request) string { return c.caller(r).Account })
	if err != nil {
		return err
	}
	c.onClose(c.Organization.Close)
	return nil
}

func (c *Cloud) openServices() (err error) {
	c.Stacks, err = c.openStacks("cloudformation", location{c.opts.Account, c.opts.Region})
	if err != nil {
		return err
	}
	c.onClose(c.Stacks.Close)
	c.onClose(c.otherLocations.close)
	if err := c.reopenOthers(); err != nil {
		return err
	}
	c.StateMachines, err = states.Open(c.subfolder("states"), states.Options{Account: c.opts.Account, Region: c.opts.Region,
		Invoke: c.Invoke, Emit: c.emit, Transition: c.opts.Transition, Hold: true})
	if err != nil {
		return err
	}
	c.onClose(c.StateMachines.Close)
	c.API, err = api.New(api.Options{Account: c.opts.Account, Region: c.opts.Region, Routes: c.opts.Routes, Invoke: c.Invoke, Log: c.opts.Log})
	if err != nil {
		return err
	}
	takes := time.Duration(c.opts.Seconds * float64(time.Second))
	c.tableBackups = &dynamodb.Backups{Tables: c.ownAccountOnly(c.Tables), Find: c.propertiesOf, Place: c.place, Takes: takes}
	c.databases = &rds.Service{Find: c.propertiesOf, Replicas: c.replicasOf, Members: c.membersOf, Place: c.place, Takes: takes}
	c.warehouses = &redshift.Service{Find: c.propertiesOf, Place: c.place, Takes: takes}
	c.machines = &ec2.Service{Find: c.propertiesOf, Place: c.place, Takes: takes}
	c.files = &awsbackup.Service{Find: c.hasResource, Place: c.place, Takes: takes}
	handlers, err := c.keep(map[string]keeper{
		"dynamodb": c.tableBackups, "rds": c.databases, "redshift": c.warehouses, "ec2": c.machines, "backup": c.files,
		"autoscaling": &autoscaling.Service{Find: c.propertiesOf, Place: c.place},
		"ecs":         &ecs.Service{Find: c.propertiesOf, Takes: takes},
		"sagemaker":   &sagemaker.Service{Find: c.propertiesOf, Having: c.having, Place: c.place, Takes: takes},
	})
	if err != nil {
		return err
	}
	maps.Copy(handlers, map[string]http.Handler{
		"execute-api": c.API,
		"s3":          c.bootstrapped(c.ownAccountOnly(c.Objects)), "states": c.ownAccountOnly(c.StateMachines), "events": c.ownAccountOnly(c.Bus),
		"scheduler":      c.ownAccountOnly(c.Schedules),
		"cloudformation": c.unexpired(http.HandlerFunc(c.serveStacks)),
		"ecr":            c.unexpired(ecr.Service{Account: func(r *http.Request) string { return c.caller(r).Account }}),
		"monitoring":     c.unexpired(&cloudwatch.Service{Find: c.hasResource, Place: c.place}),
		"organizations":  c.unexpired(c.Organization),
		"ssm":            c.unexpired(ssm.Service{Find: c.storedParameter}),
		"secretsmanager": c.ownAccountOnly(secrets.Service{Folder: c.subfolder("secrets"), Log: c.opts.Log}),
		"sts":            c.unexpired(sts.New(c.opts.Account, c.opts.Trust)),
		"lambda":         c.ownAccountOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.api.ServeHTTP(w, r) })),
	})
	c.Gateway = gateway.New(handlers)
	return nil
}

func (c *Cloud) openFunctions() (err error) {
	host := c.Host()
	if c.opts.Functions == nil {
		c.functions, err = lambda.InProcess(nil, host)
	} else {
		c.functions, err = c.opts.Functions(c)
	}
	if err != nil {
		return fmt.Errorf("make the functions: %w", err)
	}
	c.api = lambda.NewAPI(c.functions, host)
	return nil
}

func (c *Cloud) stopFunctions() error {
	if c.api == nil {
		return nil
	}
	return c.functions.Close()
}

// Host describes where functions run here, for code that creates them.
func (c *Cloud) Host() lambda.Host {
	return lambda.Host{Account: c.opts.Account, Region: c.opts.Region, Log: c.opts.Log}
}

// Invoke calls a function by its name or ARN.
func (c *Cloud) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	return c.functions.Invoke(ctx, function, payload)
}

// emit sends events for services that are opened before the bus.
func (c *Cloud) emit(source, detailType string, resources []string, detail any) {
	c.Bus.Emit(source, detailType, resources, detail)
}

// ServeHTTP serves all services, each by the signature of the request, and the faults of CloudFormation, whose requests
// are not signed.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == cloudformation.FaultsPath {
		c.serveFaults(w, r)
		return
	}
	c.Gateway.ServeHTTP(w, r)
}

// Serving writes into the data folder at which URL the cloud is served, for other processes; see LockedBy. A process
// that yields ends when another process interrupts it to serve the folder itself.
func (c *Cloud) Serving(url string, yields bool) error {
	if c.folder == nil || c.opts.Paused {
		return nil
	}
	return c.folder.write(Holder{PID: os.Getpid(), URL: url, Yields: yields})
}

// Close stops everything in order: first executions, stacks and events, then the functions, then the stores. Work in
// progress continues at the next Open.
func (c *Cloud) Close() error {
	var all []error
	for _, close := range c.closers {
		all = append(all, close())
	}
	c.closers = nil
	return errors.Join(all...)
}
