package wire

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkautoscaling "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	sdkbackup "github.com/aws/aws-sdk-go-v2/service/backup"
	sdkcloudformation "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkcloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	sdkeventbridge "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	sdklambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	sdks3 "github.com/aws/aws-sdk-go-v2/service/s3"
	sdksecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sdksns "github.com/aws/aws-sdk-go-v2/service/sns"
	sdkssm "github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/stackwright/stackwright/pkg/aws/autoscaling"
	"github.com/stackwright/stackwright/pkg/aws/awsbackup"
	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/aws/ecs"
	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/aws/lambda"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/aws/sagemaker"
	"github.com/stackwright/stackwright/pkg/aws/secretsmanager"
	"github.com/stackwright/stackwright/pkg/aws/sns"
	"github.com/stackwright/stackwright/pkg/aws/ssm"
	"github.com/stackwright/stackwright/pkg/aws/stepfunctions"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/download"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// parts are the resources of the installation, which no hook may reach, and what cdk bootstrap has made.
func parts(env Environment) hook.Allowed {
	own := hook.Allowed{env.StateMachine, "arn:*:s3:::" + env.Bucket, "arn:*:s3:::cdk-*-assets-*", "arn:*:ssm:*:*:parameter/cdk-bootstrap/*"}
	if env.Stack != "" {
		in := env.Region + ":" + env.Account + ":"
		own = append(own, "arn:*:lambda:"+in+"function:"+env.Stack+"-*", "arn:*:sns:"+in+env.Stack)
	}
	return own
}

// services are what hooks call, with the roles of targets. Each request is sent once: a step repeats a call, so that its
// claim says who calls.
func services(a *sts.Accounts, env Environment, files hook.Files) hook.Services {
	if env.Secrets == nil {
		env.Secrets = secretsmanager.New(inTarget(a, func(c aws.Config) secretsmanager.Client { return sdksecretsmanager.NewFromConfig(c) }))
	}
	if env.Webhooks == nil {
		env.Webhooks = webhooks{}
	}
	return hook.Services{
		Functions:  lambda.New(inTarget(a, func(c aws.Config) lambda.Client { return sdklambda.NewFromConfig(c) })),
		Machines:   stepfunctions.NewMachines(inTarget(a, func(c aws.Config) stepfunctions.HookClient { return sfn.NewFromConfig(c) })),
		Buses:      eventbridge.NewBuses(inTarget(a, func(c aws.Config) eventbridge.HookClient { return sdkeventbridge.NewFromConfig(c) })),
		Topics:     sns.New(inTarget(a, func(c aws.Config) sns.Client { return sdksns.NewFromConfig(c) })),
		Parameters: parametersIn(a),
		Secrets:    env.Secrets,
		Webhooks:   env.Webhooks,
		Alarms:     alarmsIn(a),
		Buckets:    s3.NewBuckets(inTarget(a, func(c aws.Config) s3.EmptyingClient { return sdks3.NewFromConfig(c, s3Options) })),
		Objects:    s3.NewUploaded(inTarget(a, func(c aws.Config) s3.UploadingClient { return sdks3.NewFromConfig(c, s3Options) })),
		Files:      files,
		Stacks:     cloudformation.Reader{Clients: inTarget(a, func(c aws.Config) cloudformation.ReadClient { return sdkcloudformation.NewFromConfig(c) })},
		Groups:     autoscaling.New(inTarget(a, func(c aws.Config) autoscaling.Client { return sdkautoscaling.NewFromConfig(c) })),
		Allowed:    env.Hooks,
		Own:        parts(env),
	}
}

// switches are what stops and starts resources of stacks, with the roles of targets. Each request is sent once: a step repeats a call, so
// that its claim says who calls.
func switches(a *sts.Accounts) suspend.Services {
	databases := inTarget(a, func(c aws.Config) rds.Client { return sdkrds.NewFromConfig(c) })
	return suspend.Services{
		Stacks:       cloudformation.Reader{Clients: inTarget(a, func(c aws.Config) cloudformation.ReadClient { return sdkcloudformation.NewFromConfig(c) })},
		Instances:    ec2.New(inTarget(a, func(c aws.Config) ec2.Client { return instanceClient(c) })),
		TaskServices: ecs.New(inTarget(a, func(c aws.Config) ecs.Client { return sdkecs.NewFromConfig(c) })),
		Groups:       autoscaling.New(inTarget(a, func(c aws.Config) autoscaling.Client { return sdkautoscaling.NewFromConfig(c) })),
		Databases:    rds.Instances(databases), Clusters: rds.Clusters(databases),
		Warehouses: redshift.New(inTarget(a, func(c aws.Config) redshift.Client { return warehouseClient(c) })),
		Notebooks:  sagemaker.New(inTarget(a, func(c aws.Config) sagemaker.Client { return notebookClient(c) })),
	}
}

// backups are what backs up resources of stacks, with the roles of targets. Each request is sent once: a step repeats a call, so that its claim says who calls.
func backups(a *sts.Accounts, vault backup.Vault) backup.Services {
	databases := inTarget(a, func(c aws.Config) rds.BackupClient { return sdkrds.NewFromConfig(c) })
	all := backup.Services{
		Stacks:    cloudformation.Reader{Clients: inTarget(a, func(c aws.Config) cloudformation.ReadClient { return sdkcloudformation.NewFromConfig(c) })},
		Instances: rds.InstanceSnapshots(databases), Clusters: rds.ClusterSnapshots(databases),
		Warehouses: redshift.NewSnapshots(inTarget(a, func(c aws.Config) redshift.BackupClient { return warehouseBackups{c} })),
		Volumes:    ec2.NewSnapshots(inTarget(a, func(c aws.Config) ec2.BackupClient { return volumeBackups{c} })),
		Tables:     dynamodb.NewBackups(inTarget(a, func(c aws.Config) dynamodb.BackupClient { return sdkdynamodb.NewFromConfig(c) })),
	}
	if vault != (backup.Vault{}) {
		all.Vault = vault
		all.Files = awsbackup.New(vault, inTarget(a, func(c aws.Config) awsbackup.Client { return sdkbackup.NewFromConfig(c) }))
	}
	return all
}

// alarmsIn are the alarms of all targets.
func alarmsIn(a *sts.Accounts) *cloudwatch.Alarms {
	return cloudwatch.NewAlarms(inTarget(a, func(c aws.Config) cloudwatch.Client { return sdkcloudwatch.NewFromConfig(c) }))
}

// parametersIn are the parameter stores of all targets.
func parametersIn(a *sts.Accounts) *ssm.Parameters {
	return ssm.New(inTarget(a, func(c aws.Config) ssm.Client { return sdkssm.NewFromConfig(c) }))
}

// webhooks posts to web servers.
type webhooks struct{ download.Client }

// Post implements hook.Webhooks.
func (w webhooks) Post(ctx context.Context, url string, header map[string]string, body []byte) (int, error) {
	all := make(http.Header)
	for name, value := range header {
		all.Set(name, value)
	}
	answer, err := w.Client.Post(ctx, url, all, body, 0)
	switch {
	case errors.Is(err, download.ErrFinal):
		return 0, fault.As(fault.Refused, err)
	case err != nil:
		return 0, fault.As(fault.Unavailable, err)
	}
	return answer.Status, nil
}

// inTarget returns a function that makes the client of a target.
func inTarget[C any](a *sts.Accounts, client func(aws.Config) C) func(context.Context, project.Target) (C, error) {
	return func(ctx context.Context, t project.Target) (C, error) {
		cfg, _, err := a.In(ctx, t)
		if err != nil {
			var none C
			return none, err
		}
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		return client(cfg), nil
	}
}
