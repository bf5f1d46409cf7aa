package rds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"
)

// A snapshot is creating and then available, its name is unique, and it is deleted once it is available.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSnapshot.html
func TestSnapshots(t *testing.T) {
	stack := "first"
	c := served(t, 0, &stack)
	make := func(source, name string) error {
		_, err := c.CreateDBSnapshot(t.Context(), &sdk.CreateDBSnapshotInput{DBInstanceIdentifier: &source, DBSnapshotIdentifier: &name})
		return err
	}
	if err := make("one", "Sw-one"); err != nil {
		t.Fatal(err)
	}
	out, err := c.DescribeDBSnapshots(t.Context(), &sdk.DescribeDBSnapshotsInput{DBSnapshotIdentifier: aws.String("sw-ONE")})
	if err != nil || len(out.DBSnapshots) != 1 || *out.DBSnapshots[0].Status != "available" || *out.DBSnapshots[0].DBSnapshotArn != "arn:aws:rds:us-east-1:000000000000:snapshot:sw-one" || *out.DBSnapshots[0].PercentProgress != 100 {
		t.Errorf("%+v, %v", out, err)
	}
	for name, want := range map[string]string{"sw-one": "DBSnapshotAlreadyExists", "1a": "InvalidParameterValue", "a--b": "InvalidParameterValue", "a-": "InvalidParameterValue", "a_b": "InvalidParameterValue", strings.Repeat("a", 256): "InvalidParameterValue"} {
		if err := make("one", name); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for source, want := range map[string]string{"none": "DBInstanceNotFound", "member": "InvalidParameterCombination"} {
		if err := make(source, "other"); code(err) != want {
			t.Errorf("%s: %v", source, err)
		}
	}
	for _, want := range []string{"", "DBSnapshotNotFound"} {
		if _, err := c.DeleteDBSnapshot(t.Context(), &sdk.DeleteDBSnapshotInput{DBSnapshotIdentifier: aws.String("sw-one")}); code(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := c.DescribeDBSnapshots(t.Context(), &sdk.DescribeDBSnapshotsInput{DBSnapshotIdentifier: aws.String("sw-one")}); code(err) != "DBSnapshotNotFound" {
		t.Error(err)
	}
	for i := range 101 {
		if err := make("one", fmt.Sprint("s", i)); i < 100 && err != nil || i == 100 && code(err) != "SnapshotQuotaExceeded" {
			t.Fatal(i, err)
		}
	}
}

// The name of a snapshot of a cluster has at most 63 letters, digits and hyphens. One that is creating is not deleted.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
func TestClusterSnapshots(t *testing.T) {
	stack := "first"
	c := served(t, time.Hour, &stack)
	make := func(source, name string) error {
		_, err := c.CreateDBClusterSnapshot(t.Context(), &sdk.CreateDBClusterSnapshotInput{DBClusterIdentifier: &source, DBClusterSnapshotIdentifier: &name})
		return err
	}
	if err := make("all", strings.Repeat("a", 63)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{strings.Repeat("a", 63): "DBClusterSnapshotAlreadyExistsFault", strings.Repeat("b", 64): "InvalidParameterValue"} {
		if err := make("all", name); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := make("none", "b"); code(err) != "DBClusterNotFoundFault" {
		t.Error(err)
	}
	out, err := c.DescribeDBClusterSnapshots(t.Context(), &sdk.DescribeDBClusterSnapshotsInput{})
	if err != nil || len(out.DBClusterSnapshots) != 1 || *out.DBClusterSnapshots[0].Status != "creating" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := c.DeleteDBClusterSnapshot(t.Context(), &sdk.DeleteDBClusterSnapshotInput{DBClusterSnapshotIdentifier: aws.String(strings.Repeat("a", 63))}); code(err) != "InvalidDBClusterSnapshotStateFault" {
		t.Error(err)
	}
	if _, err := c.StopDBCluster(t.Context(), &sdk.StopDBClusterInput{DBClusterIdentifier: aws.String("all")}); err != nil {
		t.Fatal(err)
	}
	if err := make("all", "b"); code(err) != "InvalidDBClusterStateFault" {
		t.Error(err)
	}
}
