package redshift_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"
)

// A snapshot is creating, available, and deleted. Its name is unique, in letters of any case, and has a form. A cluster that is paused has no new one.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DeleteClusterSnapshot.html
func TestSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stack := "first"
		client := served(&stack)
		make := func(source, name string) string {
			_, err := client.CreateClusterSnapshot(t.Context(), &sdk.CreateClusterSnapshotInput{ClusterIdentifier: &source, SnapshotIdentifier: &name})
			return code(err)
		}
		remove := func(name string) string {
			_, err := client.DeleteClusterSnapshot(t.Context(), &sdk.DeleteClusterSnapshotInput{SnapshotIdentifier: &name})
			return code(err)
		}
		status := func() string {
			out, err := client.DescribeClusterSnapshots(t.Context(), &sdk.DescribeClusterSnapshotsInput{SnapshotIdentifier: aws.String("SW-one")})
			if err != nil {
				return code(err)
			}
			if len(out.Snapshots) != 1 || *out.Snapshots[0].SnapshotArn != "arn:aws:redshift:us-east-1:000000000000:snapshot:one/sw-one" || *out.Snapshots[0].ClusterIdentifier != "one" {
				t.Errorf("%+v", out.Snapshots)
			}
			return *out.Snapshots[0].Status
		}
		wait := func() { time.Sleep(time.Minute) }
		if got := make("one", "Sw-one") + status() + " " + remove("sw-one"); got != "creating InvalidClusterSnapshotState" {
			t.Error(got)
		}
		for name, want := range map[string]string{"sw-one": "ClusterSnapshotAlreadyExists", "1a": "InvalidParameterValue", "a--b": "InvalidParameterValue", "a-": "InvalidParameterValue", strings.Repeat("a", 256): "InvalidParameterValue"} {
			if got := make("one", name); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
		wait()
		if got := status() + " " + make("nobody", "other") + " " + remove("nobody"); got != "available ClusterNotFound ClusterSnapshotNotFound" {
			t.Error(got)
		}
		if all, err := client.DescribeClusterSnapshots(t.Context(), &sdk.DescribeClusterSnapshotsInput{}); err != nil || len(all.Snapshots) != 1 {
			t.Error(all, err)
		}
		if got := remove("SW-ONE") + status() + " " + remove("sw-one"); got != "deleted InvalidClusterSnapshotState" {
			t.Error(got)
		}
		if wait(); status() != "ClusterSnapshotNotFound" {
			t.Error(status())
		}
		if _, err := client.PauseCluster(t.Context(), &sdk.PauseClusterInput{ClusterIdentifier: aws.String("one")}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := make("one", "other"); got != "InvalidClusterState" {
				t.Error(got)
			}
			wait()
		}
	})
}
