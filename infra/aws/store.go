package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// addKey makes the key. Notices are always encrypted with it, as nobody may
// publish to a topic that has AWS's own; table, bucket and logs are if the
// setting customerKey says so.
func (i *installation) addKey() {
	i.key = awskms.NewKey(i.Stack, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("Stackwright " + i.settings.stack),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN, // what is left of the data can be read
	})
	called(i.key, "Key")
	// EventBridge does not say for which account it uses the key of a topic: with
	// a condition, no notice would arrive. Who publishes there says the topic.
	// https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
	i.mayEncrypt("events.amazonaws.com", nil)
	i.mayEncrypt("cloudwatch.amazonaws.com", ours())
	if !i.settings.key {
		return
	}
	i.key.AddToResourcePolicy(statement(permission{
		Do: []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"}, On: []string{"*"},
		If: conditions{"ArnLike": {"kms:EncryptionContext:aws:logs:arn": i.named("logs", "log-group:*")}},
	}, awsiam.NewServicePrincipal(jsii.String("logs."+*awscdk.Aws_REGION()+".amazonaws.com"), nil)), nil)
	if others := i.others(); others != nil { // whose CloudFormation reads large templates
		i.key.AddToResourcePolicy(statement(permission{
			Do: []string{"kms:Decrypt"}, On: []string{"*"},
			If: conditions{"StringEquals": {"kms:ViaService": "s3." + *awscdk.Aws_REGION() + ".amazonaws.com"}},
		}, others...), nil)
	}
}

// mayEncrypt lets a service that publishes to the topic use the key.
func (i *installation) mayEncrypt(service string, only conditions) {
	i.key.AddToResourcePolicy(statement(permission{
		Do: []string{"kms:Decrypt", "kms:GenerateDataKey"}, On: []string{"*"}, If: only,
	}, awsiam.NewServicePrincipal(jsii.String(service), nil)), nil)
}

// others are the other accounts that targets may be in, or nil. They stand in one
// statement, for a policy may not be long.
func (i *installation) others() (all []awsiam.IPrincipal) {
	for _, account := range i.settings.accounts {
		all = append(all, awsiam.NewAccountPrincipal(account))
	}
	return all
}

// addTable makes the table, with the keys and the time to live that pkg/aws/dynamodb
// writes.
func (i *installation) addTable() {
	props := &awsdynamodb.TableProps{
		PartitionKey:                     &awsdynamodb.Attribute{Name: jsii.String("PK"), Type: awsdynamodb.AttributeType_STRING},
		SortKey:                          &awsdynamodb.Attribute{Name: jsii.String("SK"), Type: awsdynamodb.AttributeType_STRING},
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		TimeToLiveAttribute:              jsii.String("expires"),
		DeletionProtection:               jsii.Bool(true),
		RemovalPolicy:                    awscdk.RemovalPolicy_RETAIN,
	}
	if i.settings.key {
		props.Encryption, props.EncryptionKey = awsdynamodb.TableEncryption_CUSTOMER_MANAGED, i.key
	}
	i.table = awsdynamodb.NewTable(i.Stack, jsii.String("Table"), props)
	called(i.table, "Table")
	i.output("TableName", *i.table.TableName(), "The table of runs, records and locks")
}

// addBucket makes the bucket. It keeps no log of who read what: who asked for
// what is written in the table, and CloudTrail's data events tell the rest to
// whoever turns them on, without a second bucket that would want one in turn.
func (i *installation) addBucket() {
	props := &awss3.BucketProps{
		Versioned:         jsii.Bool(true),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
		LifecycleRules:    lifecycle(),
	}
	if i.settings.key {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, i.key, jsii.Bool(true)
	}
	i.bucket = awss3.NewBucket(i.Stack, jsii.String("Bucket"), props)
	called(i.bucket, "Bucket")
	// CDK's own property for this adds a function that sets it afterwards.
	i.bucket.Node().DefaultChild().(awss3.CfnBucket).SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: jsii.Bool(true)},
	})
	if others := i.others(); others != nil { // whose CloudFormation reads large templates
		i.bucket.AddToResourcePolicy(statement(permission{
			Do: []string{"s3:GetObject"}, On: []string{*i.bucket.BucketArn() + "/templates/*"},
		}, others...))
	}
	i.output("BucketName", *i.bucket.BucketName(), "Upload projects here: projects/PROJECT/ENVIRONMENT.zip")
}

// lifecycle says what goes from the bucket, and when.
//
// A run, and so a rollback, names a configuration by key and version, however old
// it is: versions under projects/ and revisions/ never go, for no rule of S3 can
// tell which of them is still named. They become cheap instead, and are read at
// once all the same. Of specs and templates, which are named by their digests,
// all versions are equal and the newest is what is read: older ones go. A request
// is read once, by start; what it asked for is kept in the table as long as the
// run is, which is 90 days from its end.
func lifecycle() *[]*awss3.LifecycleRule {
	days := func(n float64) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
	older := func(prefix string) *awss3.LifecycleRule {
		return &awss3.LifecycleRule{Id: jsii.String("older " + prefix), Prefix: jsii.String(prefix + "/"), NoncurrentVersionExpiration: days(7)}
	}
	cheaper := func(prefix string) *awss3.LifecycleRule {
		return &awss3.LifecycleRule{Id: jsii.String("cheaper " + prefix), Prefix: jsii.String(prefix + "/"),
			NoncurrentVersionTransitions: &[]*awss3.NoncurrentVersionTransition{{
				StorageClass: awss3.StorageClass_GLACIER_INSTANT_RETRIEVAL(), TransitionAfter: days(90),
			}}}
	}
	return &[]*awss3.LifecycleRule{
		{Id: jsii.String("broken uploads"), AbortIncompleteMultipartUploadAfter: days(1)},
		{Id: jsii.String("requests"), Prefix: jsii.String("requests/"), Expiration: days(90), NoncurrentVersionExpiration: days(7)},
		older("specs"), older("templates"),
		cheaper("projects"), cheaper("revisions"),
	}
}
