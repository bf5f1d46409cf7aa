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

// newFixture hosts a cloud in memory, in which functions run as the binaries that are
// deployed. Nothing goes on in it but the events that are sent.
func newFixture(ctx context.Context, log io.Writer) (*Host, error) {
	h, err := open(ctx, cli.Hosting{Address: "127.0.0.1:0", Log: log, ReadOnly: true, Functions: "binaries", Getenv: os.Getenv}, []byte(fixtureMachine), fixtureSeed)
	if err != nil {
		return nil, err
	}
	objects := bucket.New(s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true }), cli.Name, cli.Region)
	version, err := objects.Put(ctx, fixtureKey, []byte(fixtureProject))
	if err == nil {
		_, err = objects.Put(ctx, fixtureAsks, fmt.Appendf(nil, fixtureRequest, fixtureKey, version))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the fixture: %w", err), h.Close())
	}
	return h, nil
}

// send invokes the function that an event file is for, by its name, and returns its
// answer.
func (h *Host) send(ctx context.Context, file string) ([]byte, error) {
	event, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.New(fault.Missing, "read the event: %w", err)
	}
	function, _, _ := strings.Cut(filepath.Base(file), ".")
	return h.Cloud.Invoke(ctx, function, event)
}

// Invoke is cli.Laptop.
func (Laptop) Invoke(ctx context.Context, file string, log io.Writer) (answer []byte, failed bool, err error) {
	parts := strings.Split(filepath.Base(file), ".")
	function := parts[0]
	if len(parts) != 3 || parts[1] == "" || parts[2] != "json" || !slices.Contains(wire.Names(), function) {
		return nil, false, fault.New(fault.Invalid, "%s is for no function: call it FUNCTION.WHAT.json, where FUNCTION is one of %s", file, strings.Join(wire.Names(), ", "))
	}
	h, err := newFixture(ctx, only{log, function + ": "})
	if err != nil {
		return nil, false, err
	}
	for _, earlier := range before(function) {
		if _, err := h.send(ctx, filepath.Join(filepath.Dir(file), earlier)); err != nil {
			return nil, false, errors.Join(fmt.Errorf("before an event of %s: %s: %w", function, earlier, err), h.Cloud.Close(), h.server.Close())
		}
	}
	answer, err = h.send(ctx, file)
	if reply, is := errors.AsType[*lambda.FunctionError](err); is {
		answer, failed, err = reply.Payload, true, nil
	}
	return answer, failed, errors.Join(err, h.Cloud.Close(), h.server.Close())
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
