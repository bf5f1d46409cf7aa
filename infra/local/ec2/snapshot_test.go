package ec2_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A snapshot is pending and then completed, or has failed. Each request makes another one; filters find them by their tags and their volume. A deleted one is gone at once, and of
// a volume at most five are pending.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSnapshot.html
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSnapshots.html
func TestSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := served()
		make := func(volume, name string) (string, error) {
			out, err := client.CreateSnapshot(t.Context(), &sdk.CreateSnapshotInput{VolumeId: &volume, TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSnapshot, Tags: []types.Tag{{Key: aws.String("other"), Value: aws.String("x")}, {Key: aws.String("name"), Value: &name}}}}})
			if err != nil {
				return "", err
			}
			return *out.SnapshotId, nil
		}
		find := func(filters ...string) []types.Snapshot {
			in := &sdk.DescribeSnapshotsInput{OwnerIds: []string{"self"}}
			for i := 0; i < len(filters); i += 2 {
				in.Filters = append(in.Filters, types.Filter{Name: &filters[i], Values: []string{filters[i+1]}})
			}
			out, err := client.DescribeSnapshots(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return out.Snapshots
		}
		one, a := make("vol-1", "a")
		two, b := make("vol-2", "a")
		if _, c := make("vol-1", "a"); a != nil || b != nil || c != nil || one == two {
			t.Fatal(one, two, a, b, c)
		}
		if got := find("tag:name", "a", "volume-id", "vol-1"); len(got) != 2 || *got[0].SnapshotId != one || got[0].State != types.SnapshotStatePending || len(got[0].Tags) != 2 {
			t.Errorf("%+v", got)
		}
		if got := len(find("tag:name", "b")) + len(find("volume-id", "vol-3")); got != 0 || len(find()) != 3 {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := find("volume-id", "vol-2"); len(got) != 1 || got[0].State != types.SnapshotStateError || find("volume-id", "vol-1")[0].State != types.SnapshotStateCompleted {
			t.Errorf("%+v", got)
		}
		for _, want := range []string{"", "InvalidSnapshot.NotFound"} {
			if _, err := client.DeleteSnapshot(t.Context(), &sdk.DeleteSnapshotInput{SnapshotId: &one}); code(err) != want {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if _, err := client.DescribeSnapshots(t.Context(), &sdk.DescribeSnapshotsInput{SnapshotIds: []string{two, one}}); code(err) != "InvalidSnapshot.NotFound" {
			t.Error(err)
		}
		if _, err := make("vol-3", "a"); code(err) != "InvalidVolume.NotFound" {
			t.Error(err)
		}
		for i := range 6 {
			if _, err := make("vol-1", "a"); i < 5 && err != nil || i == 5 && code(err) != "ConcurrentSnapshotLimitExceeded" {
				t.Error(i, err)
			}
		}
		out, err := client.DescribeVolumes(t.Context(), &sdk.DescribeVolumesInput{Filters: []types.Filter{{Name: aws.String("volume-id"), Values: []string{"vol-1", "vol-3"}}}})
		if err != nil || len(out.Volumes) != 1 || out.Volumes[0].State != types.VolumeStateInUse {
			t.Errorf("%+v, %v", out, err)
		}
		_, all := client.DescribeVolumes(t.Context(), &sdk.DescribeVolumesInput{})
		_, other := client.DescribeSnapshots(t.Context(), &sdk.DescribeSnapshotsInput{Filters: []types.Filter{{Name: aws.String("status"), Values: []string{"completed"}}}})
		if code(all) != "InvalidParameterValue" || code(other) != "InvalidParameterValue" {
			t.Error(all, other)
		}
	})
}
