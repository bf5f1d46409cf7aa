package ec2_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ backup.Backer = (*ec2.Snapshots)(nil)

// An answering service keeps the requests, and answers each by its action, or with a code of an error.
type answering struct {
	got  []string
	said map[string][]string // the next answers to an action
	code string

	denies string // an action that is denied
}

// Do is aws.HTTPClient.
func (s *answering) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = append(s.got, string(body))
	action, _, _ := strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	said, status := "", http.StatusOK
	if next := s.said[action]; len(next) > 0 {
		said, s.said[action] = next[0], next[1:]
	}
	said = "<" + action + "Response>" + said + "</" + action + "Response>"
	if action == s.denies {
		s.code = "UnauthorizedOperation"
	}
	if s.code != "" {
		said, status = "<Response><Errors><Error><Code>"+s.code+"</Code><Message>it failed</Message></Error></Errors></Response>", http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func snapshots(s *answering) *ec2.Snapshots {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return ec2.NewSnapshots(func(context.Context, project.Target) (ec2.BackupClient, error) { return client, nil })
}

var in = project.Target{Account: "111111111111", Region: "us-east-1"}

// Volumes are read by a filter, all pages. One that is deleted is left out, and one whose hardware has failed has the reason.
func TestSeeToBackUp(t *testing.T) {
	s := &answering{said: map[string][]string{"DescribeVolumes": {
		"<volumeSet><item><volumeId>vol-1</volumeId><status>in-use</status></item><item><volumeId>vol-2</volumeId><status>deleting</status></item></volumeSet><nextToken>n</nextToken>",
		"<volumeSet><item><volumeId>vol-3</volumeId><status>error</status></item></volumeSet>",
	}}}
	got, err := snapshots(s).See(t.Context(), in, []string{"vol-1", "vol-2", "vol-3", "vol-4"})
	if err != nil || len(got) != 2 || got["vol-1"].Unready != "" || !strings.Contains(got["vol-3"].Unready, "its hardware has failed (error)") || len(s.got) != 2 || !strings.Contains(s.got[0], "Filter.1.Name=volume-id&Filter.1.Value.1=vol-1") || !strings.Contains(s.got[1], "NextToken=n") {
		t.Errorf("%+v, %q, %v", got, s.got, err)
	}
}

// A snapshot gets its name and tags. CreateSnapshot has no token, so one that was made before is found by its tag, also on a later page; of several, it is the oldest.
func TestBackUp(t *testing.T) {
	s := &answering{said: map[string][]string{"CreateSnapshot": {"<snapshotId>snap-1</snapshotId>"}}}
	arn, err := snapshots(s).BackUp(t.Context(), in, "vol-1", "sw-one", map[string]string{"stackwright:snapshot": "before", "stackwright:project": "shop@prod"})
	if err != nil || arn != "arn:aws:ec2:us-east-1::snapshot/snap-1" || len(s.got) != 2 || !strings.HasPrefix(s.got[0], "Action=DescribeSnapshots&Filter.1.Name=tag%3Astackwright%3Abackup&Filter.1.Value.1=sw-one&Filter.2.Name=volume-id&Filter.2.Value.1=vol-1&Owner.1=self") ||
		!strings.Contains(s.got[1], "TagSpecification.1.ResourceType=snapshot&TagSpecification.1.Tag.1.Key=stackwright%3Abackup&TagSpecification.1.Tag.1.Value=sw-one&TagSpecification.1.Tag.2.Key=stackwright%3Aproject&TagSpecification.1.Tag.2.Value=shop%40prod&TagSpecification.1.Tag.3.Key=stackwright%3Asnapshot&TagSpecification.1.Tag.3.Value=before&Version=2016-11-15&VolumeId=vol-1") {
		t.Errorf("%s, %q, %v", arn, s.got, err)
	}
	s = &answering{said: map[string][]string{"DescribeSnapshots": {
		"<snapshotSet><item><snapshotId>snap-3</snapshotId><startTime>2026-01-03T00:00:00.000Z</startTime></item></snapshotSet><nextToken>n</nextToken>",
		"<snapshotSet><item><snapshotId>snap-2</snapshotId><startTime>2026-01-02T00:00:00.000Z</startTime></item></snapshotSet>",
	}}}
	if arn, err := snapshots(s).BackUp(t.Context(), project.Target{Region: "cn-north-1"}, "vol-1", "sw-one", nil); err != nil || arn != "arn:aws-cn:ec2:cn-north-1::snapshot/snap-2" || len(s.got) != 2 {
		t.Errorf("%s, %q, %v", arn, s.got, err)
	}
}

// Each state of a snapshot is a state, and one that is not known is that of one that is not available yet.
func TestStatesOfSnapshots(t *testing.T) {
	for state, want := range map[string]backup.State{"completed": backup.Available, "pending": backup.Making, "recovering": backup.Making, "error": backup.Failed, "recoverable": backup.Deleting, "of tomorrow": backup.Making} {
		s := &answering{said: map[string][]string{"DescribeSnapshots": {"<snapshotSet><item><status>" + state + "</status><progress>30%</progress></item></snapshotSet>"}}}
		got, err := snapshots(s).Backup(t.Context(), in, "arn:aws:ec2:us-east-1::snapshot/snap-1")
		if err != nil || got.State != want || !strings.HasPrefix(got.Says, state) || strings.Contains(got.Says, "30%") != (state == "pending") || !strings.Contains(s.got[0], "SnapshotId.1=snap-1") {
			t.Errorf("%s: %+v, %q, %v", state, got, s.got, err)
		}
	}
	if _, err := snapshots(&answering{}).Backup(t.Context(), in, "arn:aws:ec2:us-east-1::snapshot/snap-1"); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
}

// Only a snapshot whose tag says that Stackwright has made it is deleted: other programs copy the tags of volumes.
func TestDeletesOnlyOwnSnapshots(t *testing.T) {
	for tags, want := range map[string]fault.Kind{
		"<item><key>a</key><value>b</value></item><item><key>stackwright:backup</key><value>sw-one</value></item>": "", "<item><key>stackwright:project</key><value>shop@prod</value></item>": fault.Refused,
		"<item><key>stackwright:backup</key><value>nightly</value></item>": fault.Refused,
	} {
		s := &answering{said: map[string][]string{"DescribeSnapshots": {"<snapshotSet><item><tagSet>" + tags + "</tagSet></item></snapshotSet>"}}}
		err := snapshots(s).Delete(t.Context(), in, "arn:aws:ec2:us-east-1::snapshot/snap-1")
		if sent := strings.Contains(strings.Join(s.got, " "), "Action=DeleteSnapshot&SnapshotId=snap-1"); sent != (want == "") || want == "" && err != nil || want != "" && (!fault.Is(err, want) || !strings.Contains(err.Error(), "aws ec2 delete-snapshot --snapshot-id snap-1 --region us-east-1")) {
			t.Errorf("%s: %q, %v", tags, s.got, err)
		}
	}
}

// The errors of EC2 have the kinds that the contract says.
func TestRefusedSnapshots(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"IncorrectState": fault.Busy, "ConcurrentSnapshotLimitExceeded": fault.Busy, "SnapshotCreationPerVolumeRateExceeded": fault.Busy, "InvalidVolume.NotFound": fault.Missing, "InvalidSnapshot.NotFound": fault.Missing,
		"SnapshotLimitExceeded": fault.Refused, "RequestLimitExceeded": fault.Throttled, "UnauthorizedOperation": fault.Denied,
	} {
		b := snapshots(&answering{code: code})
		_, one := b.Find(t.Context(), in, "vol-1", "sw-one")
		_, two := b.See(t.Context(), in, []string{"vol-1"})
		for i, err := range []error{one, two, b.Delete(t.Context(), in, "arn:aws:ec2:us-east-1::snapshot/snap-1")} {
			if !fault.Is(err, want) {
				t.Errorf("%s, request %d: %v", code, i, err)
			}
		}
	}
}

// A message names what is denied with the ARN of the partition.
func TestDeniedVolume(t *testing.T) {
	for region, want := range map[string]string{"eu-west-1": "on arn:aws:ec2:eu-west-1:1:volume/vol-1 ", "cn-north-1": "on arn:aws-cn:ec2:cn-north-1:1:volume/vol-1 "} {
		_, err := snapshots(&answering{denies: "CreateSnapshot"}).BackUp(t.Context(), project.Target{Account: "1", Region: region}, "vol-1", "sw-one", nil)
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}
