package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stackwright/stackwright/pkg/fault"
)

// What the bucket of a scene holds: a project of two stacks, and a request for its
// plan. Their versions follow from the seed, in this order, so that event files
// can name them, and the runs that they lead to.
const (
	sceneSeed    = 1
	sceneKey     = "projects/shop/prod.yaml"
	sceneProject = `project: shop
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
	sceneAsks    = "requests/shop/prod/preview.json"
	sceneRequest = `{ "operation": "plan", "key": %q, "version": %q, "options": { "who": "ann" } }`

	// Its executions do nothing for a day: who is invoked has the run to itself.
	sceneMachine = `{ "StartAt": "Wait", "States": { "Wait": { "Type": "Wait", "Seconds": 86400, "End": true } } }`
)

// before are the events that have to have come before those of a function: what
// it is asked about is there then.
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

// A scene is a cloud of its own, in memory, in which functions run as the binaries
// that are deployed, and nothing goes on but what they are asked.
type fixture struct {
	*host
	folder string // of the event files
}

// newScene sets the scene for the events in a folder. What the functions log goes
// to where the call's does.
func (c *call) newScene(ctx context.Context, folder string) (*fixture, error) {
	own := *c
	own.flags.data, own.flags.functions, own.flags.installation = "", "binaries", ""
	h, err := own.serve(ctx, hosting{address: "127.0.0.1:0", log: c.err, still: true, seed: sceneSeed, machine: []byte(sceneMachine)})
	if err != nil {
		return nil, err
	}
	s := &fixture{h, folder}
	objects := own.connect(own.laptop(h.url)).objects
	version, err := objects.Put(ctx, sceneKey, []byte(sceneProject))
	if err == nil {
		_, err = objects.Put(ctx, sceneAsks, fmt.Appendf(nil, sceneRequest, sceneKey, version))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set the scene: %w", err), h.close())
	}
	return s, nil
}

// prepare lets come to pass what has to before an event of a function.
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
	return s.cloud.Invoke(ctx, function, event)
}

// close ends the functions, and then what they speak to: nobody is in the middle of
// anything.
func (s *fixture) close() error { return errors.Join(s.cloud.Close(), s.server.Close()) }
