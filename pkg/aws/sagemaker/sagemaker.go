// Package sagemaker stops and starts notebook instances of SageMaker.
package sagemaker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sagemaker"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Client is the part of the SDK's SageMaker client that is used here. It sends each request once.
type Client interface {
	DescribeNotebookInstance(context.Context, *sdk.DescribeNotebookInstanceInput, ...func(*sdk.Options)) (*sdk.DescribeNotebookInstanceOutput, error)
	ListNotebookInstances(context.Context, *sdk.ListNotebookInstancesInput, ...func(*sdk.Options)) (*sdk.ListNotebookInstancesOutput, error)
	StopNotebookInstance(context.Context, *sdk.StopNotebookInstanceInput, ...func(*sdk.Options)) (*sdk.StopNotebookInstanceOutput, error)
	StartNotebookInstance(context.Context, *sdk.StartNotebookInstanceInput, ...func(*sdk.Options)) (*sdk.StartNotebookInstanceOutput, error)
}

// Notebooks are the notebook instances in all targets. It is a suspend.Machines.
type Notebooks struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the notebook instances that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Notebooks {
	return &Notebooks{clients}
}

// nameOf is the name in an ARN: the physical ID of a notebook instance is its ARN, and requests name it. SageMaker writes the name in lower case there.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-notebookinstance.html
func nameOf(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// named sends a request that names a notebook instance. If there is none of the name in the ARN, which is in lower case, it sends it again with the name as it was given.
func (n *Notebooks) named(ctx context.Context, in project.Target, id, do string, send func(client Client, name *string) error) error {
	client, err := n.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	do += " the SageMaker notebook instance " + nameOf(id)
	err = refused(do, arn(in, id), send(client, aws.String(nameOf(id))))
	if !fault.Is(err, fault.Missing) {
		return err
	}
	name, listed := given(ctx, client, in, id)
	switch {
	case listed != nil:
		return listed
	case name == "":
		return err
	}
	return refused(do, arn(in, id), send(client, &name))
}

// given returns the name of a notebook instance as it was given, which may have capitals; "" if there is none with the ARN or name. It reads all: nothing says whether the filter
// NameContains compares capitals.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListNotebookInstances.html
func given(ctx context.Context, client Client, in project.Target, id string) (string, error) {
	request := &sdk.ListNotebookInstancesInput{MaxResults: aws.Int32(100)}
	for {
		out, err := client.ListNotebookInstances(ctx, request)
		if err != nil {
			return "", refused("list the SageMaker notebook instances", "*", err)
		}
		for _, one := range out.NotebookInstances {
			if name := aws.ToString(one.NotebookInstanceName); strings.EqualFold(name, nameOf(id)) {
				return name, nil
			}
		}
		if request.NextToken = out.NextToken; aws.ToString(out.NextToken) == "" {
			return "", nil
		}
	}
}

// Machines implements suspend.Machines. A request names one notebook instance. One that is being deleted does not exist.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeNotebookInstance.html
func (n *Notebooks) Machines(ctx context.Context, in project.Target, ids []string) (map[string]suspend.Machine, error) {
	if _, err := n.clients(ctx, in); err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	all := make(map[string]suspend.Machine)
	for _, id := range ids {
		var out *sdk.DescribeNotebookInstanceOutput
		err := n.named(ctx, in, id, "describe", func(client Client, name *string) (err error) {
			out, err = client.DescribeNotebookInstance(ctx, &sdk.DescribeNotebookInstanceInput{NotebookInstanceName: name})
			return err
		})
		switch {
		case fault.Is(err, fault.Missing):
			continue
		case err != nil:
			return nil, err
		case out.NotebookInstanceStatus != types.NotebookInstanceStatusDeleting:
			all[id] = suspend.Machine{Status: string(out.NotebookInstanceStatus), Why: aws.ToString(out.FailureReason), Charged: charged(out)}
		}
	}
	return all, nil
}

// charged is what the instance is charged by the hour. Its volume costs as before.
// https://aws.amazon.com/sagemaker/ai/pricing/
func charged(one *sdk.DescribeNotebookInstanceOutput) string {
	if one.InstanceType == "" {
		return ""
	}
	return price.FlatCharge(1, "sagemaker-notebook-"+string(one.InstanceType))
}

// StopMachine implements suspend.Machines.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopNotebookInstance.html
func (n *Notebooks) StopMachine(ctx context.Context, in project.Target, id string) error {
	return n.named(ctx, in, id, "stop", func(client Client, name *string) error {
		_, err := client.StopNotebookInstance(ctx, &sdk.StopNotebookInstanceInput{NotebookInstanceName: name})
		return err
	})
}

// StartMachine implements suspend.Machines.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StartNotebookInstance.html
func (n *Notebooks) StartMachine(ctx context.Context, in project.Target, id string) error {
	return n.named(ctx, in, id, "start", func(client Client, name *string) error {
		_, err := client.StartNotebookInstance(ctx, &sdk.StartNotebookInstanceInput{NotebookInstanceName: name})
		return err
	})
}

// arn is the ARN of a notebook instance.
func arn(in project.Target, id string) string {
	return "arn:" + in.Partition() + ":sagemaker:" + in.Region + ":" + in.Account + ":notebook-instance/" + strings.ToLower(nameOf(id))
}

// refused returns the fault of a request. SageMaker has one code for what does not exist and for what its status does not allow, and says
// which only in the text: "RecordNotFound", or "Status (Pending) not in ([InService]). Unable to transition to (Stopping)".
// https://github.com/aws/amazon-sagemaker-examples/issues/1094
func refused(do, arn string, err error) error {
	validation := fault.Refused
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch text := api.ErrorMessage(); {
		case strings.Contains(text, "RecordNotFound"):
			validation = fault.Missing
		case strings.Contains(text, "Unable to transition"):
			validation = fault.Busy
		}
	}
	return awserr.Fault(do, arn, err, awserr.Kinds{"ValidationException": validation, awserr.Other: fault.Refused})
}
