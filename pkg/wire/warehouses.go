package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"
)

// warehouseCalls is a redshift.Client, of only the requests that are sent, as instanceCalls.
type warehouseCalls struct {
	describe call[sdkredshift.DescribeClustersInput, sdkredshift.DescribeClustersOutput, sdkredshift.Options]
	pause    call[sdkredshift.PauseClusterInput, sdkredshift.PauseClusterOutput, sdkredshift.Options]
	resume   call[sdkredshift.ResumeClusterInput, sdkredshift.ResumeClusterOutput, sdkredshift.Options]
}

// warehouseClient returns the client of a configuration.
func warehouseClient(c aws.Config) warehouseCalls {
	client := sdkredshift.NewFromConfig(c)
	return warehouseCalls{client.DescribeClusters, client.PauseCluster, client.ResumeCluster}
}

// DescribeClusters implements redshift.Client.
func (c warehouseCalls) DescribeClusters(ctx context.Context, in *sdkredshift.DescribeClustersInput, options ...func(*sdkredshift.Options)) (*sdkredshift.DescribeClustersOutput, error) {
	return c.describe(ctx, in, options...)
}

// PauseCluster implements redshift.Client.
func (c warehouseCalls) PauseCluster(ctx context.Context, in *sdkredshift.PauseClusterInput, options ...func(*sdkredshift.Options)) (*sdkredshift.PauseClusterOutput, error) {
	return c.pause(ctx, in, options...)
}

// ResumeCluster implements redshift.Client.
func (c warehouseCalls) ResumeCluster(ctx context.Context, in *sdkredshift.ResumeClusterInput, options ...func(*sdkredshift.Options)) (*sdkredshift.ResumeClusterOutput, error) {
	return c.resume(ctx, in, options...)
}

// warehouseBackups is a redshift.BackupClient of a configuration. Each of its methods makes the client of the SDK, so that a function has only the requests that it
// sends: the linker keeps no others, and package infra/aws/calls sees which those are.
type warehouseBackups struct{ config aws.Config }

// DescribeClusters implements redshift.BackupClient.
func (c warehouseBackups) DescribeClusters(ctx context.Context, in *sdkredshift.DescribeClustersInput, options ...func(*sdkredshift.Options)) (*sdkredshift.DescribeClustersOutput, error) {
	return sdkredshift.NewFromConfig(c.config).DescribeClusters(ctx, in, options...)
}

// CreateClusterSnapshot implements redshift.BackupClient.
func (c warehouseBackups) CreateClusterSnapshot(ctx context.Context, in *sdkredshift.CreateClusterSnapshotInput, options ...func(*sdkredshift.Options)) (*sdkredshift.CreateClusterSnapshotOutput, error) {
	return sdkredshift.NewFromConfig(c.config).CreateClusterSnapshot(ctx, in, options...)
}

// DescribeClusterSnapshots implements redshift.BackupClient.
func (c warehouseBackups) DescribeClusterSnapshots(ctx context.Context, in *sdkredshift.DescribeClusterSnapshotsInput, options ...func(*sdkredshift.Options)) (*sdkredshift.DescribeClusterSnapshotsOutput, error) {
	return sdkredshift.NewFromConfig(c.config).DescribeClusterSnapshots(ctx, in, options...)
}

// DeleteClusterSnapshot implements redshift.BackupClient.
func (c warehouseBackups) DeleteClusterSnapshot(ctx context.Context, in *sdkredshift.DeleteClusterSnapshotInput, options ...func(*sdkredshift.Options)) (*sdkredshift.DeleteClusterSnapshotOutput, error) {
	return sdkredshift.NewFromConfig(c.config).DeleteClusterSnapshot(ctx, in, options...)
}
