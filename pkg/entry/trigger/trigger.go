// Package trigger turns events of AWS and schedules into requests for the engine.
package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Objects reads the objects of the bucket.
type Objects interface {
	// Object returns the bytes of a version of an object.
	Object(ctx context.Context, key, version string) ([]byte, error)
	// Who returns who put a version of an object, as its metadata claims, or "".
	Who(ctx context.Context, key, version string) (string, error)
}

// objectEvent is the detail of an event "Object Created".
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
type objectEvent struct {
	Bucket struct {
		Name string `json:"name"`
	} `json:"bucket"`
	Object struct {
		Key     string `json:"key"` // not URL-encoded, unlike in S3's own notifications
		Version string `json:"version-id"`

		Sequencer string `json:"sequencer"` // shows which of two events of one key is newer
	} `json:"object"`
	Requester string `json:"requester"` // an account, or a service of AWS
	From      string `json:"source-ip-address"`
}

// Request returns the request of an object that was uploaded: a deploy by
// projects/<project>/<environment>.zip (.tar.gz, .yaml, .yml), anything else by
// requests/<project>/<environment>/<id>.json, which is read from objects.
//
// The errors of a request are in its Problems, also a key that does not name a
// project and an environment. The run is then refused, and its event, its metric
// and the list of runs show that. Request returns an error of kind Invalid if the
// event is not about a configuration or a request, and another error if the object
// cannot be read.
func Request(ctx context.Context, e events.EventBridgeEvent, objects Objects) (run.Request, error) {
	c, err := parse(e)
	if err != nil {
		return run.Request{}, err
	}
	q := run.Request{ID: engine.RunID(c.Bucket.Name, c.Object.Key, c.Object.Version), Who: requesterName(c.Requester), Requester: printable(c.Requester), From: printable(c.From)}
	if p, ok := projectOfKey(c.Object.Key, uploadKey); ok {
		q.Project, q.Operation = p, plan.DeployName
		q.Source = run.Source{Key: c.Object.Key, Version: c.Object.Version}
		q.Upload, q.Sequencer = true, c.Object.Sequencer
		return addClaim(ctx, q, "", c, objects)
	}
	if p, ok := projectOfKey(c.Object.Key, requestKey); ok {
		q.Project = p
		return readRequestObject(ctx, q, c, objects)
	}
	if strings.HasPrefix(c.Object.Key, "projects/") || strings.HasPrefix(c.Object.Key, "requests/") {
		q.Project, q.Operation = probableProject(c.Object.Key), unknown
		q.Problems = []string{wrongKey(c.Object.Key)}
		return q, nil
	}
	return run.Request{}, fault.New(fault.Invalid, "%s", wrongKey(c.Object.Key))
}

// wrongKey says that a key does not name a project and an environment, and which
// keys do.
func wrongKey(key string) string {
	return fmt.Sprintf("object %q does not name a project and an environment: upload a project to projects/<project>/<environment>.zip (or .tar.gz, .yaml, .yml), and a request to requests/<project>/<environment>/<id>.json; names are letters, digits and hyphens, and a project's name starts with a letter", short(key))
}

// probableProject returns the project under which a run with a wrong key is listed: the one
// that the key was probably meant for, or Unnamed.
func probableProject(key string) string {
	parts := append(strings.Split(key, "/"), "", "")
	name, _, _ := strings.Cut(parts[1], ".")
	environment, _, _ := strings.Cut(parts[2], ".")
	switch p, ok := projectOf(name, environment); {
	case ok:
		return p
	case project.Name.MatchString(name):
		return project.ID(name, project.DefaultEnvironment)
	}
	return Unnamed
}

// Unnamed is the project of runs that were requested by an object whose key names no
// project. It is not a valid name, so it is never a project of a user.
const Unnamed = "(none)"

// parse reads the event.
func parse(e events.EventBridgeEvent) (objectEvent, error) {
	var c objectEvent
	if err := readDetail(e, "aws.s3", "Object Created", "starts a run", "S3 event", &c); err != nil {
		return c, err
	}
	switch {
	case c.Bucket.Name == "":
		return c, fault.New(fault.Invalid, "event %s: it has no bucket.name", e.ID)
	case c.Object.Key == "":
		return c, fault.New(fault.Invalid, "event %s: it has no object.key", e.ID)
	case c.Object.Version == "" || c.Object.Version == "null":
		return c, fault.New(fault.Invalid, "object %q has no version: turn on versioning of bucket %s and upload again", c.Object.Key, c.Bucket.Name)
	}
	return c, nil
}

// The keys of objects that belong to a project and environment: of an uploaded
// configuration, of a request, and of a stored configuration.
var (
	uploadKey   = pattern.New(`^projects/([^/]*)/([^/]*?)\.(?:zip|tar\.gz|yaml|yml)$`)
	requestKey  = pattern.New(`^requests/([^/]*)/([^/]*)/[^/]+\.json$`)
	revisionKey = pattern.New(`^revisions/([^/]*)/([^/]*)/[^./][^/]*\.(?:zip|tar\.gz|yaml|yml)$`)
)

// projectOfKey returns the project that a key of one of the given forms belongs to, as
// in "shop@prod".
func projectOfKey(key string, forms ...pattern.Pattern) (string, bool) {
	for _, form := range forms {
		if m := form.FindStringSubmatch(key); m != nil {
			return projectOf(m[1], m[2])
		}
	}
	return "", false
}

// projectOf joins the names of a project and an environment. It reports false if
// one of them is not valid.
func projectOf(name, environment string) (string, bool) {
	if !project.Name.MatchString(name) || !project.EnvironmentName.MatchString(environment) {
		return "", false
	}
	return project.ID(name, environment), true
}

// readDetail reads the detail of an event, which must have the given source and type.
// For messages, does says what such an event does, and kind names it.
func readDetail(e events.EventBridgeEvent, source, detailType, does, kind string, into any) error {
	if e.Source != source || e.DetailType != detailType {
		return fault.New(fault.Invalid, "event %q of %q: only %q of %q %s", e.DetailType, e.Source, detailType, source, does)
	}
	if err := json.Unmarshal(e.Detail, into); err != nil {
		return fault.New(fault.Invalid, "event %s: the detail of this %s cannot be read: %w", e.ID, kind, err)
	}
	return nil
}

// statusEvent is the detail of an event "CloudFormation Stack Status Change".
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-type-cloudformation-stack-status-change.html
type statusEvent struct {
	Token   string `json:"client-request-token"`
	Details struct {
		Status plan.Status `json:"status"`
	} `json:"status-details"`
}

// StackEvent returns the change of a stack's status that an event reports. Its token
// is empty if the change was made without one.
func StackEvent(e events.EventBridgeEvent) (engine.StackEvent, error) {
	var c statusEvent
	if err := readDetail(e, "aws.cloudformation", "CloudFormation Stack Status Change", "wakes a run", "CloudFormation event", &c); err != nil {
		return engine.StackEvent{}, err
	}
	if c.Details.Status == "" {
		return engine.StackEvent{}, fault.New(fault.Invalid, "event %s: it has no status-details.status", e.ID)
	}
	return engine.StackEvent{Token: c.Token, Status: c.Details.Status}, nil
}
