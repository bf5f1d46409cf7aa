package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/infra/local/lambda"
	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/wire"
)

// What the bucket of a fixture holds: a project of two stacks, and a request for its
// plan. Their versions follow from the seed, in this order, so that event files
// can name them, and the runs that they lead to.
const (
	fixtureSeed    = 1
	fixtureKey     = "projects/shop/prod.yaml"
	fixtureProject = `project: shop
environments: { prod: {} }
stacks:
  topic:
    template:
      Resources: { Topic: { Type: "AWS::SNS::Topic" } }
      Outputs: { Arn: { Value: !Ref Topic } }
  queue:
    template:
      Parameters: { Topic: { Type: String } }
      Resources: { Queue: { Type: "AWS::SQS::Queue", Properties: { Tags: [ { Key: topic, Value: !Ref Topic } ] } } }
    parameters: { Topic: "${topic.Arn}" }
`
	fixtureAsks    = "requests/shop/prod/preview.json"
	fixtureRequest = `{ "operation": "plan", "key": %q, "version": %q, "options": { "who": "ann" } }`

	// Its executions wait for a day, so that the event that is sent is the only one that moves the run.
	fixtureMachine = `{ "StartAt": "Wait", "States": { "Wait": { "Type": "Wait", "Seconds": 86400, "End": true } } }`
)

// before are the events that are sent before one of a function, so that its run
// and step exist.
func before(function string) []string {
	upload, planned, step := "start.upload.json", "plan.run.json", "execute-step.step.json"
	return map[string][]string{
		"plan":         {upload},
		"execute-step": {upload, planned},
		"wait-status":  {upload, planned, step},
		"stack-event":  {upload, planned, step},
		"api":          {upload, planned},
	}[function]
}

// A fixture is a cloud of its own, in memory, in which functions run as the
// binaries that are deployed. Nothing happens in it except what sent events cause.
type fixture struct {
	*Host
	objects *bucket.Bucket
	folder  string // of the event files
}

// newFixture opens a fixture for the events in a folder.
func newFixture(ctx context.Context, folder string, log io.Writer) (*fixture, error) {
	h, err := open(ctx, options{
		Hosting: cli.Hosting{Address: "127.0.0.1:0", Log: log, ReadOnly: true, Functions: "binaries", Getenv: os.Getenv},
		seed:    fixtureSeed, machine: []byte(fixtureMachine),
	})
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	f := &fixture{h, bucket.New(client, cli.Name, cli.Region), folder}
	version, err := f.objects.Put(ctx, fixtureKey, []byte(fixtureProject))
	if err == nil {
		_, err = f.objects.Put(ctx, fixtureAsks, fmt.Appendf(nil, fixtureRequest, fixtureKey, version))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the fixture: %w", err), h.Close())
	}
	return f, nil
}

// prepare sends the events that come before one of a function.
func (s *fixture) prepare(ctx context.Context, function string) error {
	for _, file := range before(function) {
		if _, err := s.send(ctx, file); err != nil {
			return fmt.Errorf("before an event of %s: %s: %w", function, file, err)
		}
	}
	return nil
}

// send invokes the function that a file of the folder is for, and returns its
// answer.
func (s *fixture) send(ctx context.Context, file string) ([]byte, error) {
	function, ok := addressee(file)
	if !ok {
		return nil, fault.New(fault.Invalid, "%s is for no function: call it FUNCTION.WHAT.json", file)
	}
	event, err := os.ReadFile(filepath.Join(s.folder, file))
	if err != nil {
		return nil, fault.New(fault.Missing, "read the event: %w", err)
	}
	return s.Cloud.Invoke(ctx, function, event)
}

// close ends the functions, and then what they speak to.
func (s *fixture) close() error { return errors.Join(s.Cloud.Close(), s.server.Close()) }

// addressee is the function that an event file is for, by its name.
func addressee(file string) (function string, ok bool) {
	parts := strings.Split(filepath.Base(file), ".")
	return parts[0], len(parts) == 3 && parts[1] != "" && parts[2] == "json" && slices.Contains(wire.Names(), parts[0])
}

// Invoke is cli.Laptop.
func (Laptop) Invoke(ctx context.Context, file string, log io.Writer) (answer []byte, failed bool, err error) {
	function, ok := addressee(file)
	if !ok {
		return nil, false, fault.New(fault.Invalid, "%s is for no function: call it FUNCTION.WHAT.json, where FUNCTION is one of %s", file, strings.Join(wire.Names(), ", "))
	}
	f, err := newFixture(ctx, filepath.Dir(file), only{log, function + ": "})
	if err != nil {
		return nil, false, err
	}
	if err = f.prepare(ctx, function); err == nil {
		answer, err = f.send(ctx, filepath.Base(file))
	}
	if reply, is := errors.AsType[*lambda.FunctionError](err); is {
		answer, failed, err = reply.Payload, true, nil
	}
	return answer, failed, errors.Join(err, f.close())
}

// An only passes on what one function logs, and nothing of what had to come before.
type only struct {
	to     io.Writer
	prefix string
}

// Write is io.Writer. It is given a line at a time.
func (o only) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte(o.prefix)) {
		return len(line), nil
	}
	return o.to.Write(line)
}
