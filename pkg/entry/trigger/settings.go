package trigger

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// The types of S3's events about objects.
const (
	objectCreated = "Object Created"
	objectDeleted = "Object Deleted"
)

// settingFolders are where an installation has its access file and its policies.
var settingFolders = []string{"access/", "policies/"}

// IsSettingsEvent reports whether an event is about the access file or a policy of the installation.
func IsSettingsEvent(e events.EventBridgeEvent) bool {
	var c objectEvent
	return e.Source == "aws.s3" && json.Unmarshal(e.Detail, &c) == nil &&
		slices.ContainsFunc(settingFolders, func(folder string) bool { return strings.HasPrefix(c.Object.Key, folder) })
}

// Changed returns the entry of the audit log about an access file or a policy that was put or deleted, and an ID that is the same whenever the
// event is delivered again.
func Changed(ctx context.Context, e events.EventBridgeEvent, objects Objects) (id string, changed run.AuditEntry, err error) {
	did, expected := "put", objectCreated
	deleted := e.DetailType == objectDeleted
	if deleted {
		did, expected = "delete", objectDeleted
	}
	var c objectEvent
	if err := readDetail(e, "aws.s3", expected, "changes a setting", "S3 event", &c); err != nil {
		return "", run.AuditEntry{}, err
	}
	if e.Time.IsZero() {
		return "", run.AuditEntry{}, fault.New(fault.Invalid, "event %s: it does not have the time at which %s was changed", e.ID, short(c.Object.Key))
	}
	by := run.Request{Who: requesterName(c.Requester), Requester: printable(c.Requester)}
	if !deleted { // a deletion has no metadata
		claim, err := objects.Who(ctx, c.Object.Key, c.Object.Version)
		if err != nil && !fault.Is(err, fault.Missing, fault.Invalid, fault.Denied) { // a second attempt would not help
			return "", run.AuditEntry{}, err
		}
		by.Claim = printable(claim)
	}
	return engine.RunID(did, c.Bucket.Name, c.Object.Key, c.Object.Version, c.Object.Sequencer), run.AuditEntry{
		Time: e.Time, What: did + " " + printable(c.Object.Key), Who: by.By(), From: printable(c.From),
	}, nil
}
