package redshift_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"

	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ backup.Backer = (*redshift.Snapshots)(nil)

// An answering service keeps the requests, and says the same of each: a code of an error, or a result.
type answering struct {
	got        []string
	code, said string
}

// Do is aws.HTTPClient.
func (s *answering) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = append(s.got, string(body))
	action, _, _ := strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	said, status := "<R><"+action+"Result>"+s.said+"</"+action+"Result></R>", http.StatusOK
	if s.code != "" {
		said, status = "<ErrorResponse><Error><Code>"+s.code+"</Code><Message>it failed</Message></Error></ErrorResponse>", http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func snapshots(s aws.HTTPClient) *redshift.Snapshots {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return redshift.NewSnapshots(func(context.Context, project.Target) (redshift.BackupClient, error) { return client, nil })
}

var in = project.Target{Account: "111111111111", Region: "us-east-1"}

// A cluster that does not exist is left out, and one that is paused has to be resumed first.
func TestSeeToBackUp(t *testing.T) {
	s := &service{has: map[string]string{"on": "<ClusterStatus>available</ClusterStatus>", "off": "<ClusterStatus>paused</ClusterStatus>", "soon": "<ClusterStatus>pausing</ClusterStatus>", "busy": "<ClusterStatus>modifying</ClusterStatus>"}}
	got, err := snapshots(s).See(t.Context(), in, []string{"on", "off", "soon", "busy", "nobody"})
	if err != nil || len(got) != 4 || got["on"].Unready+got["busy"].Unready != "" || !strings.Contains(got["off"].Unready, "it is paused: resume it first") || !strings.Contains(got["soon"].Unready, "it is pausing") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A snapshot gets its name and tags, and is kept until it is deleted. One that exists already is the same if it is of the same cluster. A deletion names the snapshot.
func TestBackUp(t *testing.T) {
	s := &answering{said: "<Snapshot><SnapshotIdentifier>sw-one</SnapshotIdentifier><ClusterIdentifier>one</ClusterIdentifier></Snapshot>"}
	const arn = "arn:aws:redshift:us-east-1:111111111111:snapshot:one/sw-one"
	made, err := snapshots(s).BackUp(t.Context(), in, "one", "sw-one", map[string]string{"stackwright:snapshot": "before", "stackwright:project": "shop@prod"})
	if err != nil || made != arn || s.got[0] != "Action=CreateClusterSnapshot&ClusterIdentifier=one&ManualSnapshotRetentionPeriod=-1&SnapshotIdentifier=sw-one&Tags.Tag.1.Key=stackwright%3Aproject&Tags.Tag.1.Value=shop%40prod&Tags.Tag.2.Key=stackwright%3Asnapshot&Tags.Tag.2.Value=before&Version=2012-12-01" {
		t.Errorf("%s, %q, %v", made, s.got, err)
	}
	for source, want := range map[string]fault.Kind{"one": "", "other": fault.Refused} {
		s.said = "<Snapshots><Snapshot><ClusterIdentifier>" + source + "</ClusterIdentifier><SnapshotArn>arn:said</SnapshotArn></Snapshot></Snapshots>"
		if found, err := snapshots(s).Find(t.Context(), in, "One", "sw-one"); want == "" && (found != "arn:said" || err != nil) || want != "" && !fault.Is(err, want) {
			t.Errorf("%s: %s, %v", source, found, err)
		}
	}
	s.got = nil
	if err := snapshots(s).Delete(t.Context(), in, arn); err != nil || s.got[0] != "Action=DeleteClusterSnapshot&SnapshotIdentifier=sw-one&Version=2012-12-01" {
		t.Errorf("%q, %v", s.got, err)
	}
	s = &answering{code: "ClusterSnapshotAlreadyExists"} // it is read then, and that fails here as well
	if _, err := snapshots(s).BackUp(t.Context(), in, "one", "sw-one", nil); err == nil || len(s.got) != 2 || !strings.HasPrefix(s.got[1], "Action=DescribeClusterSnapshots&SnapshotIdentifier=sw-one") {
		t.Errorf("%q, %v", s.got, err)
	}
}

// Each status of a snapshot is a state, and one that is not known is that of one that is not available yet.
func TestStatesOfSnapshots(t *testing.T) {
	for status, want := range map[string]backup.State{"available": backup.Available, "final snapshot": backup.Available, "creating": backup.Making, "deleted": backup.Deleting, "failed": backup.Failed, "of tomorrow": backup.Making} {
		s := &answering{said: "<Snapshots><Snapshot><Status>" + status + "</Status></Snapshot></Snapshots>"}
		got, err := snapshots(s).Backup(t.Context(), in, "arn:aws:redshift:us-east-1:111111111111:snapshot:one/sw-one")
		if err != nil || got != (backup.Made{State: want, Says: status}) || !strings.Contains(s.got[0], "SnapshotIdentifier=sw-one") {
			t.Errorf("%s: %+v, %q, %v", status, got, s.got, err)
		}
	}
	if _, err := snapshots(&answering{said: "<Snapshots></Snapshots>"}).Backup(t.Context(), in, "arn:x:one/sw-one"); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
}

// The errors of Redshift have the kinds that the contract says.
func TestRefusedSnapshots(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"InvalidClusterState": fault.Busy, "InvalidClusterSnapshotState": fault.Busy, "ClusterNotFound": fault.Missing, "ClusterSnapshotNotFound": fault.Missing,
		"ClusterSnapshotQuotaExceeded": fault.Refused, "Throttling": fault.Throttled, "AccessDenied": fault.Denied,
	} {
		b := snapshots(&answering{code: code})
		_, one := b.BackUp(t.Context(), in, "one", "sw-one", nil)
		_, two := b.Find(t.Context(), in, "one", "sw-one")
		for i, err := range []error{one, two, b.Delete(t.Context(), in, "arn:x:one/sw-one")} {
			if !fault.Is(err, want) {
				t.Errorf("%s, request %d: %v", code, i, err)
			}
		}
	}
}
