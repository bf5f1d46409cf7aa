package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdksagemaker "github.com/aws/aws-sdk-go-v2/service/sagemaker"
)

// notebookCalls is a sagemaker.Client, of only the requests that are sent, as instanceCalls.
type notebookCalls struct {
	describe call[sdksagemaker.DescribeNotebookInstanceInput, sdksagemaker.DescribeNotebookInstanceOutput, sdksagemaker.Options]
	list     call[sdksagemaker.ListNotebookInstancesInput, sdksagemaker.ListNotebookInstancesOutput, sdksagemaker.Options]
	stop     call[sdksagemaker.StopNotebookInstanceInput, sdksagemaker.StopNotebookInstanceOutput, sdksagemaker.Options]
	start    call[sdksagemaker.StartNotebookInstanceInput, sdksagemaker.StartNotebookInstanceOutput, sdksagemaker.Options]
}

// notebookClient returns the client of a configuration.
func notebookClient(c aws.Config) notebookCalls {
	client := sdksagemaker.NewFromConfig(c)
	return notebookCalls{client.DescribeNotebookInstance, client.ListNotebookInstances, client.StopNotebookInstance, client.StartNotebookInstance}
}

// DescribeNotebookInstance implements sagemaker.Client.
func (c notebookCalls) DescribeNotebookInstance(ctx context.Context, in *sdksagemaker.DescribeNotebookInstanceInput, options ...func(*sdksagemaker.Options)) (*sdksagemaker.DescribeNotebookInstanceOutput, error) {
	return c.describe(ctx, in, options...)
}

// ListNotebookInstances implements sagemaker.Client.
func (c notebookCalls) ListNotebookInstances(ctx context.Context, in *sdksagemaker.ListNotebookInstancesInput, options ...func(*sdksagemaker.Options)) (*sdksagemaker.ListNotebookInstancesOutput, error) {
	return c.list(ctx, in, options...)
}

// StopNotebookInstance implements sagemaker.Client.
func (c notebookCalls) StopNotebookInstance(ctx context.Context, in *sdksagemaker.StopNotebookInstanceInput, options ...func(*sdksagemaker.Options)) (*sdksagemaker.StopNotebookInstanceOutput, error) {
	return c.stop(ctx, in, options...)
}

// StartNotebookInstance implements sagemaker.Client.
func (c notebookCalls) StartNotebookInstance(ctx context.Context, in *sdksagemaker.StartNotebookInstanceInput, options ...func(*sdksagemaker.Options)) (*sdksagemaker.StartNotebookInstanceOutput, error) {
	return c.start(ctx, in, options...)
}
