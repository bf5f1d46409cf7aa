package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
)

// A call sends one kind of request of a client of the SDK with options.
type call[I, O, Options any] func(context.Context, *I, ...func(*Options)) (*O, error)

// instanceCalls is an ec2.Client. The linker would keep all requests of the SDK's client, some 25 MB, if that became an interface.
type instanceCalls struct {
	describe call[sdkec2.DescribeInstancesInput, sdkec2.DescribeInstancesOutput, sdkec2.Options]
	stop     call[sdkec2.StopInstancesInput, sdkec2.StopInstancesOutput, sdkec2.Options]
	start    call[sdkec2.StartInstancesInput, sdkec2.StartInstancesOutput, sdkec2.Options]
}

// instanceClient returns the client of a configuration.
func instanceClient(c aws.Config) instanceCalls {
	client := sdkec2.NewFromConfig(c)
	return instanceCalls{client.DescribeInstances, client.StopInstances, client.StartInstances}
}

// DescribeInstances implements ec2.Client.
func (c instanceCalls) DescribeInstances(ctx context.Context, in *sdkec2.DescribeInstancesInput, options ...func(*sdkec2.Options)) (*sdkec2.DescribeInstancesOutput, error) {
	return c.describe(ctx, in, options...)
}

// StopInstances implements ec2.Client.
func (c instanceCalls) StopInstances(ctx context.Context, in *sdkec2.StopInstancesInput, options ...func(*sdkec2.Options)) (*sdkec2.StopInstancesOutput, error) {
	return c.stop(ctx, in, options...)
}

// StartInstances implements ec2.Client.
func (c instanceCalls) StartInstances(ctx context.Context, in *sdkec2.StartInstancesInput, options ...func(*sdkec2.Options)) (*sdkec2.StartInstancesOutput, error) {
	return c.start(ctx, in, options...)
}

// volumeBackups is an ec2.BackupClient of a configuration, as warehouseBackups.
type volumeBackups struct{ config aws.Config }

// DescribeVolumes implements ec2.BackupClient.
func (c volumeBackups) DescribeVolumes(ctx context.Context, in *sdkec2.DescribeVolumesInput, options ...func(*sdkec2.Options)) (*sdkec2.DescribeVolumesOutput, error) {
	return sdkec2.NewFromConfig(c.config).DescribeVolumes(ctx, in, options...)
}

// CreateSnapshot implements ec2.BackupClient.
func (c volumeBackups) CreateSnapshot(ctx context.Context, in *sdkec2.CreateSnapshotInput, options ...func(*sdkec2.Options)) (*sdkec2.CreateSnapshotOutput, error) {
	return sdkec2.NewFromConfig(c.config).CreateSnapshot(ctx, in, options...)
}

// DescribeSnapshots implements ec2.BackupClient.
func (c volumeBackups) DescribeSnapshots(ctx context.Context, in *sdkec2.DescribeSnapshotsInput, options ...func(*sdkec2.Options)) (*sdkec2.DescribeSnapshotsOutput, error) {
	return sdkec2.NewFromConfig(c.config).DescribeSnapshots(ctx, in, options...)
}

// DeleteSnapshot implements ec2.BackupClient.
func (c volumeBackups) DeleteSnapshot(ctx context.Context, in *sdkec2.DeleteSnapshotInput, options ...func(*sdkec2.Options)) (*sdkec2.DeleteSnapshotOutput, error) {
	return sdkec2.NewFromConfig(c.config).DeleteSnapshot(ctx, in, options...)
}
