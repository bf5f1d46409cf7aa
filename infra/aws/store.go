package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// addKey makes the key of the table, the bucket, the logs and the topic. Without it, AWS's own keys encrypt the first three.
// The topic is then not encrypted at rest: EventBridge and CloudWatch cannot publish to a topic with AWS's own key.
func (i *installation) addKey() {
	i.key = awskms.NewKey(i.Stack, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("Stackwright " + i.settings.stack),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE, // the retained data can still be read
	})
	called(i.key, "Key")
	// EventBridge does not name the account for which it uses the key of a topic: with a condition, no notification
	// would arrive. The topic's own policy says who may publish.
	// https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
	i.mayEncrypt("events.amazonaws.com", nil)
	i.mayEncrypt("cloudwatch.amazonaws.com", ours())
	i.key.AddToResourcePolicy(statement(permission{
		Do: []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"}, On: []string{"*"},
		If: conditions{"ArnLike": {"kms:EncryptionContext:aws:logs:arn": i.named("logs", "log-group:*")}},
	}, awsiam.NewServicePrincipal(jsii.String("logs."+*awscdk.Aws_REGION()+".amazonaws.com"), nil)), nil)
	if others := i.others(); others != nil { // CloudFormation there reads large templates
		i.key.AddToResourcePolicy(statement(permission{
			Do: []string{"kms:Decrypt"}, On: []string{"*"},
			If: conditions{"StringEquals": {"kms:ViaService": "s3." + *awscdk.Aws_REGION() + ".amazonaws.com"}},
		}, others...), nil)
	}
	if of := i.settings.organization; of != "" { // the same, in the accounts of units
		i.key.AddToResourcePolicy(statement(permission{
			Do: []string{"kms:Decrypt"}, On: []string{"*"},
			If: conditions{"StringEquals": {"kms:ViaService": "s3." + *awscdk.Aws_REGION() + ".amazonaws.com", "aws:PrincipalOrgID": of}, "StringNotEquals": elsewhere()},
		}, awsiam.NewAnyPrincipal()), nil)
	}
}

// mayEncrypt allows a service that publishes to the topic to use the key.
func (i *installation) mayEncrypt(service string, only conditions) {
	i.key.AddToResourcePolicy(statement(permission{
		Do: []string{"kms:Decrypt", "kms:GenerateDataKey"}, On: []string{"*"}, If: only,
	}, awsiam.NewServicePrincipal(jsii.String(service), nil)), nil)
}

// elsewhere is the condition that a principal is of another account than the installation. In the same account, a policy of a resource alone grants
// access, also to a role without a policy of its own; in others, their account has to allow it, too.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
func elsewhere() map[string]any {
	return map[string]any{"aws:PrincipalAccount": *awscdk.Aws_ACCOUNT_ID()}
}

// others are the other accounts of targets, or nil. They are in one statement, because the size of a policy is limited.
func (i *installation) others() (all []awsiam.IPrincipal) {
	for _, account := range i.settings.accounts {
		all = append(all, awsiam.NewAccountPrincipal(account))
	}
	return all
}

// addTable makes the table, with the keys and the time to live that pkg/aws/dynamodb uses. Like the bucket and the key, it is kept
// when the installation is deleted, and not when its first creation fails: the next attempt makes another one. A table with deletion
// protection could not be deleted then.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
func (i *installation) addTable() {
	props := &awsdynamodb.TableProps{
		PartitionKey:                     &awsdynamodb.Attribute{Name: jsii.String("PK"), Type: awsdynamodb.AttributeType_STRING},
		SortKey:                          &awsdynamodb.Attribute{Name: jsii.String("SK"), Type: awsdynamodb.AttributeType_STRING},
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		TimeToLiveAttribute:              jsii.String("expires"),
		RemovalPolicy:                    awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE,
	}
	if i.settings.key {
		props.Encryption, props.EncryptionKey = awsdynamodb.TableEncryption_CUSTOMER_MANAGED, i.key
	}
	i.table = awsdynamodb.NewTable(i.Stack, jsii.String("Table"), props)
	called(i.table, "Table")
	i.output("TableName", *i.table.TableName(), "The table of runs, records and locks")
}

// addBucket makes the bucket. It has no access log, which would need a second bucket: the table says who requested
// what, and data events of CloudTrail can be turned on.
func (i *installation) addBucket() {
	props := &awss3.BucketProps{
		Versioned:         jsii.Bool(true),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE,
		LifecycleRules:    lifecycle(),
	}
	if i.settings.key {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, i.key, jsii.Bool(true)
	}
	i.bucket = awss3.NewBucket(i.Stack, jsii.String("Bucket"), props)
	called(i.bucket, "Bucket")
	// CDK's own property would add a function that sets it afterwards.
	i.bucket.Node().DefaultChild().(awss3.CfnBucket).SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: jsii.Bool(true)},
	})
	if others := i.others(); others != nil { // CloudFormation there reads large templates, and the files that templates name
		i.bucket.AddToResourcePolicy(statement(permission{
			Do: []string{"s3:GetObject"}, On: []string{*i.bucket.BucketArn() + "/artifacts/*", *i.bucket.BucketArn() + "/templates/*"},
		}, others...))
	}
	if of := i.settings.organization; of != "" { // the same, in the accounts of units
		i.bucket.AddToResourcePolicy(statement(permission{
			Do: []string{"s3:GetObject"}, On: []string{*i.bucket.BucketArn() + "/artifacts/*", *i.bucket.BucketArn() + "/templates/*"},
			If: conditions{"StringEquals": {"aws:PrincipalOrgID": of}, "StringNotEquals": elsewhere()},
		}, awsiam.NewAnyPrincipal()))
	}
	// Identity policies and boundaries name the bucket, and not the access points that somebody makes for it.
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-points-policies.html
	i.bucket.AddToResourcePolicy(statement(permission{
		Do: []string{"s3:*"}, On: []string{*i.bucket.BucketArn(), *i.bucket.BucketArn() + "/*"},
		If: conditions{"Null": {"s3:DataAccessPointArn": "false"}}, Deny: true,
	}, awsiam.NewAnyPrincipal()))
	if len(i.settings.owner) > 0 {
		// All actions on objects but reading, so also replication, ACLs, tags and retention. The policy does not deny to change the
		// bucket, as its lifecycle or this policy: the role with which CloudFormation updates the installation does that, and nobody
		// knows its name here. The boundary denies it to projects, and without the file all but the owner are denied.
		i.bucket.AddToResourcePolicy(statement(permission{
			But: []string{"s3:GetObject*"}, On: []string{*i.bucket.BucketArn() + "/access/*", *i.bucket.BucketArn() + "/policies/*"},
			If: conditions{"ArnNotLike": {"aws:PrincipalArn": i.principals()}}, Deny: true,
		}, awsiam.NewAnyPrincipal()))
		i.output("Owner", i.settings.owner.String(), "Who is admin of all projects, and may change the access file and the policies")
	}
	i.output("BucketName", *i.bucket.BucketName(), "Upload projects here: projects/PROJECT/ENVIRONMENT.zip")
}

// principals are the owners as aws:PrincipalArn names them: roles with their path, for which the star stands. The name of a role
// has no slash and no star, so no other role matches.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-principalarn
func (i *installation) principals() []string {
	var all []string
	for _, owner := range i.settings.owner {
		all = append(all, owner)
		if account, name, is := strings.Cut(owner, ":role/"); is {
			all = append(all, account+":role/*/"+name)
		}
	}
	return all
}

// lifecycle is what is deleted from the bucket, and when.
//
// A run, and so a rollback, names a configuration by key and version, however old it is. So versions under projects/
// and revisions/ are deleted by no rule, but by a purge that finds that nothing names them; they move to a cheaper storage class that can be read at once. Specs, templates and
// the files that templates name are named by their digests, so all versions are equal: older ones are deleted. A request is read once, by start; the
// table keeps its content as long as the run, which is 90 days after its end. What a plan would change is kept as long.
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
		{Id: jsii.String("plans"), Prefix: jsii.String("plans/"), Expiration: days(90), NoncurrentVersionExpiration: days(7)},
		older("artifacts"), older("reports"), older("specs"), older("templates"),
		cheaper("projects"), cheaper("revisions"),
	}
}
