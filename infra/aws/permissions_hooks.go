package main

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/hook"
)

// hooks calls what the owner of the installation lists, in the own account. In other accounts, the roles of targets decide.
func hooks(s settings) []permission {
	const listed = "hooks of projects call it; the owner of the installation lists what they may call"
	var all []permission
	if functions := s.called("lambda"); functions != nil {
		all = append(all, permission{Do: []string{"lambda:InvokeFunction"}, On: functions, Why: listed})
	}
	if machines := s.called("states"); machines != nil {
		all = append(all, permission{Do: []string{"states:StartExecution"}, On: machines, Why: listed})
	}
	if buses := s.called("events"); buses != nil {
		all = append(all, permission{Do: []string{"events:PutEvents"}, On: buses, If: conditions{"StringEquals": {"events:source": hook.EventSource}}, Why: listed})
	}
	if topics := s.called("sns"); topics != nil {
		all = append(all, permission{Do: []string{"sns:Publish"}, On: topics, Why: listed})
	}
	if parameters := s.called("ssm"); parameters != nil {
		all = append(all, permission{Do: []string{"ssm:PutParameter"}, On: parameters, Why: listed})
	}
	if secrets := s.called("secretsmanager"); secrets != nil {
		all = append(all, permission{Do: []string{"secretsmanager:GetSecretValue"}, On: secrets, Why: "webhooks of projects are signed with it; the owner of the installation lists with which secrets"})
	}
	if groups := s.called("autoscaling"); groups != nil {
		all = append(all, permission{Do: []string{"autoscaling:ResumeProcesses", "autoscaling:SuspendProcesses"}, On: groups, Why: listed})
	}
	// https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
	if buckets := s.called("s3"); buckets != nil {
		const why = "hooks of projects empty buckets before their stacks are deleted; the owner of the installation lists which"
		var objects []string
		for _, b := range buckets {
			objects = append(objects, b+"/*")
		}
		all = append(all, permission{Do: []string{"s3:ListBucketMultipartUploads", "s3:ListBucketVersions"}, On: buckets, Why: why},
			permission{Do: []string{"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:DeleteObjectVersion"}, On: objects, Why: why})
	}
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
	if s.called("cloudwatch") != nil {
		all = append(all, permission{Do: []string{"cloudwatch:DescribeAlarms"}, On: []string{"*"}, Why: "without a permission for all resources, CloudWatch does not describe composite alarms; hooks and rollouts of projects wait for alarms that the owner of the installation lists"})
	}
	return all
}

// fills uploads files into the buckets of hooks: all of it in polls. Objects are read to compare their checksums.
func fills(s settings) []permission {
	buckets := s.called("s3")
	if buckets == nil {
		return nil
	}
	const why = "hooks of projects upload files into buckets, and compare them with what is there; the owner of the installation lists which"
	var objects []string
	for _, b := range buckets {
		objects = append(objects, b+"/*")
	}
	return []permission{
		{Do: []string{"s3:ListBucket"}, On: buckets, Why: why},
		{Do: []string{"s3:GetObject", "s3:PutObject"}, On: objects, Why: why},
		artifacts,
	}
}

// executions follows the executions that hooks have started.
func executions(s settings) []permission {
	var all []string
	for _, arn := range s.called("states") {
		all = append(all, strings.Replace(arn, ":stateMachine:", ":execution:", 1)+":*")
	}
	if all == nil {
		return nil
	}
	return []permission{{
		Do: []string{"states:DescribeExecution", "states:StopExecution"}, On: all,
		Why: "a hook ends with its execution, and stops it after its timeout; the names contain run and step",
	}}
}

// called lists what hooks may call of a service, by ARN.
func (s settings) called(service string) (arns []string) {
	for _, arn := range s.hooks.ARNs() {
		if strings.Split(arn, ":")[2] == service {
			arns = append(arns, arn)
		}
	}
	return arns
}
