package calls

import (
	"fmt"
	"slices"
	"strings"
)

// A need is an IAM action that an operation needs.
type need struct {
	action string
	field  string // only if this field is set somewhere, or this helper is created; "" is always
}

// allStacks is how all stacks are described: with a paginator and without a name, for which CloudFormation also
// requires the permission to list stacks.
// https://github.com/someengineering/fixinventory/pull/1450
const allStacks = "cloudformation.NewDescribeStacksPaginator"

// table lists the IAM actions of each operation.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html
var table = map[string][]need{
	"cloudformation.CancelUpdateStack":                 {{"cloudformation:CancelUpdateStack", ""}},
	"cloudformation.ContinueUpdateRollback":            {{"cloudformation:ContinueUpdateRollback", ""}, {"iam:PassRole", "cloudformation.ContinueUpdateRollbackInput.RoleARN"}},
	"cloudformation.CreateStack":                       {{"cloudformation:CreateStack", ""}, {"iam:PassRole", "cloudformation.CreateStackInput.RoleARN"}, {"s3:GetObject", "cloudformation.CreateStackInput.TemplateURL"}, {"cloudformation:TagResource", "cloudformation.CreateStackInput.Tags"}},
	"cloudformation.DeleteStack":                       {{"cloudformation:DeleteStack", ""}, {"iam:PassRole", "cloudformation.DeleteStackInput.RoleARN"}},
	"cloudformation.DescribeStackEvents":               {{"cloudformation:DescribeStackEvents", ""}},
	"cloudformation.DescribeStacks":                    {{"cloudformation:DescribeStacks", ""}, {"cloudformation:ListStacks", allStacks}},
	"cloudformation.GetTemplate":                       {{"cloudformation:GetTemplate", ""}},
	"cloudformation.ListStackResources":                {{"cloudformation:ListStackResources", ""}},
	"cloudformation.CreateChangeSet":                   {{"cloudformation:CreateChangeSet", ""}, {"iam:PassRole", "cloudformation.CreateChangeSetInput.RoleARN"}, {"s3:GetObject", "cloudformation.CreateChangeSetInput.TemplateURL"}, {"cloudformation:TagResource", "cloudformation.CreateChangeSetInput.Tags"}, {"cloudformation:UntagResource", "cloudformation.CreateChangeSetInput.Tags"}},
	"cloudformation.DescribeStackDriftDetectionStatus": {{"cloudformation:DescribeStackDriftDetectionStatus", ""}},
	"cloudformation.DescribeStackResourceDrifts":       {{"cloudformation:DescribeStackResourceDrifts", ""}},
	"cloudformation.DetectStackDrift":                  {{"cloudformation:DetectStackDrift", ""}, {"cloudformation:DetectStackResourceDrift", ""}},
	"cloudformation.DeleteChangeSet":                   {{"cloudformation:DeleteChangeSet", ""}},
	"cloudformation.DescribeStackResources":            {{"cloudformation:DescribeStackResources", ""}},
	"cloudformation.DescribeAccountLimits":             {{"cloudformation:DescribeAccountLimits", ""}},
	"cloudformation.ValidateTemplate":                  {{"cloudformation:ValidateTemplate", ""}, {"s3:GetObject", "cloudformation.ValidateTemplateInput.TemplateURL"}},
	"cloudformation.GetStackPolicy":                    {{"cloudformation:GetStackPolicy", ""}},
	"cloudformation.ListStacks":                        {{"cloudformation:ListStacks", ""}},
	"cloudformation.ListExports":                       {{"cloudformation:ListExports", ""}},
	"cloudformation.ListImports":                       {{"cloudformation:ListImports", ""}},
	"cloudformation.ExecuteChangeSet":                  {{"cloudformation:ExecuteChangeSet", ""}},
	"cloudformation.CreateStackRefactor":               {{"cloudformation:CreateStackRefactor", ""}},
	"cloudformation.ExecuteStackRefactor":              {{"cloudformation:ExecuteStackRefactor", ""}},
	"cloudformation.DescribeStackRefactor":             {{"cloudformation:DescribeStackRefactor", ""}},
	"cloudformation.ListStackRefactorActions":          {{"cloudformation:ListStackRefactorActions", ""}},
	"cloudformation.ListStackRefactors":                {{"cloudformation:ListStackRefactors", ""}},
	"cloudformation.DescribeChangeSet":                 {{"cloudformation:DescribeChangeSet", ""}},
	"cloudformation.UpdateStack":                       {{"cloudformation:UpdateStack", ""}, {"iam:PassRole", "cloudformation.UpdateStackInput.RoleARN"}, {"s3:GetObject", "cloudformation.UpdateStackInput.TemplateURL"}, {"cloudformation:TagResource", "cloudformation.UpdateStackInput.Tags"}, {"cloudformation:UntagResource", "cloudformation.UpdateStackInput.Tags"}, {"cloudformation:SetStackPolicy", "cloudformation.UpdateStackInput.StackPolicyDuringUpdateBody"}},
	"cloudformation.SetStackPolicy":                    {{"cloudformation:SetStackPolicy", ""}},
	"cloudformation.UpdateTerminationProtection":       {{"cloudformation:UpdateTerminationProtection", ""}},

	// The actions in a transaction need the same permissions as alone. The fields of pkg/aws/dynamodb.write show which
	// actions there are; a write that sets none is a check.
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
	"dynamodb.TransactWriteItems": {
		{"dynamodb:ConditionCheckItem", "dynamodb.TransactWriteItem.ConditionCheck"},
		{"dynamodb:DeleteItem", "pkg/aws/dynamodb.write.delete"},
		{"dynamodb:PutItem", "pkg/aws/dynamodb.write.put"},
		{"dynamodb:UpdateItem", "pkg/aws/dynamodb.write.set"}, {"dynamodb:UpdateItem", "pkg/aws/dynamodb.write.add"},
	},
	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2autoscaling.html
	"autoscaling.DescribeAutoScalingGroups": {{"autoscaling:DescribeAutoScalingGroups", ""}},
	"autoscaling.UpdateAutoScalingGroup":    {{"autoscaling:UpdateAutoScalingGroup", ""}},
	"autoscaling.ResumeProcesses":           {{"autoscaling:ResumeProcesses", ""}},
	"autoscaling.SuspendProcesses":          {{"autoscaling:SuspendProcesses", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
	"ec2.CreateSnapshot":    {{"ec2:CreateSnapshot", ""}, {"ec2:CreateTags", "ec2.CreateSnapshotInput.TagSpecifications"}},
	"ec2.DeleteSnapshot":    {{"ec2:DeleteSnapshot", ""}},
	"ec2.DescribeInstances": {{"ec2:DescribeInstances", ""}},
	"ec2.DescribeSnapshots": {{"ec2:DescribeSnapshots", ""}},
	"ec2.DescribeVolumes":   {{"ec2:DescribeVolumes", ""}},
	"ec2.StartInstances":    {{"ec2:StartInstances", ""}},
	"ec2.StopInstances":     {{"ec2:StopInstances", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html
	"backup.DeleteRecoveryPoint":   {{"backup:DeleteRecoveryPoint", ""}},
	"backup.DescribeBackupJob":     {{"backup:DescribeBackupJob", ""}},
	"backup.DescribeBackupVault":   {{"backup:DescribeBackupVault", ""}},
	"backup.DescribeRecoveryPoint": {{"backup:DescribeRecoveryPoint", ""}},
	"backup.ListBackupJobs":        {{"backup:ListBackupJobs", ""}},
	"backup.ListTags":              {{"backup:ListTags", ""}},
	"backup.StartBackupJob":        {{"backup:StartBackupJob", ""}, {"iam:PassRole", "backup.StartBackupJobInput.IamRoleArn"}, {"backup:TagResource", "backup.StartBackupJobInput.RecoveryPointTags"}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonredshift.html
	"redshift.CreateClusterSnapshot":    {{"redshift:CreateClusterSnapshot", ""}, {"redshift:CreateTags", "redshift.CreateClusterSnapshotInput.Tags"}},
	"redshift.DeleteClusterSnapshot":    {{"redshift:DeleteClusterSnapshot", ""}},
	"redshift.DescribeClusterSnapshots": {{"redshift:DescribeClusterSnapshots", ""}},
	"redshift.DescribeClusters":         {{"redshift:DescribeClusters", ""}},
	"redshift.PauseCluster":             {{"redshift:PauseCluster", ""}},
	"redshift.ResumeCluster":            {{"redshift:ResumeCluster", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
	"sagemaker.DescribeNotebookInstance": {{"sagemaker:DescribeNotebookInstance", ""}},
	"sagemaker.ListNotebookInstances":    {{"sagemaker:ListNotebookInstances", ""}},
	"sagemaker.StartNotebookInstance":    {{"sagemaker:StartNotebookInstance", ""}},
	"sagemaker.StopNotebookInstance":     {{"sagemaker:StopNotebookInstance", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html
	"ecs.DescribeServices":       {{"ecs:DescribeServices", ""}},
	"ecs.DescribeTaskDefinition": {{"ecs:DescribeTaskDefinition", ""}},
	"ecs.UpdateService":          {{"ecs:UpdateService", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
	"rds.CreateDBClusterSnapshot":    {{"rds:CreateDBClusterSnapshot", ""}, {"rds:AddTagsToResource", "rds.CreateDBClusterSnapshotInput.Tags"}},
	"rds.CreateDBSnapshot":           {{"rds:CreateDBSnapshot", ""}, {"rds:AddTagsToResource", "rds.CreateDBSnapshotInput.Tags"}},
	"rds.DeleteDBClusterSnapshot":    {{"rds:DeleteDBClusterSnapshot", ""}},
	"rds.DeleteDBSnapshot":           {{"rds:DeleteDBSnapshot", ""}},
	"rds.DescribeDBClusterSnapshots": {{"rds:DescribeDBClusterSnapshots", ""}},
	"rds.DescribeDBSnapshots":        {{"rds:DescribeDBSnapshots", ""}},
	"rds.DescribeDBClusters":         {{"rds:DescribeDBClusters", ""}},
	"rds.DescribeDBInstances":        {{"rds:DescribeDBInstances", ""}},
	"rds.StartDBCluster":             {{"rds:StartDBCluster", ""}},
	"rds.StartDBInstance":            {{"rds:StartDBInstance", ""}},
	"rds.StopDBCluster":              {{"rds:StopDBCluster", ""}},
	"rds.StopDBInstance":             {{"rds:StopDBInstance", ""}},

	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
	"cloudwatch.DescribeAlarmHistory": {{"cloudwatch:DescribeAlarmHistory", ""}},
	"cloudwatch.DescribeAlarms":       {{"cloudwatch:DescribeAlarms", ""}},

	"dynamodb.BatchGetItem":   {{"dynamodb:BatchGetItem", ""}},
	"dynamodb.CreateBackup":   {{"dynamodb:CreateBackup", ""}},
	"dynamodb.DeleteBackup":   {{"dynamodb:DeleteBackup", ""}},
	"dynamodb.DescribeBackup": {{"dynamodb:DescribeBackup", ""}},
	"dynamodb.DescribeTable":  {{"dynamodb:DescribeTable", ""}},
	"dynamodb.GetItem":        {{"dynamodb:GetItem", ""}},
	"dynamodb.ListBackups":    {{"dynamodb:ListBackups", ""}},
	"dynamodb.Query":          {{"dynamodb:Query", ""}},
	"dynamodb.UpdateItem":     {{"dynamodb:UpdateItem", ""}},

	"eventbridge.PutEvents": {{"events:PutEvents", ""}},

	// Without the permission to list the bucket, S3 answers AccessDenied for an object that does not exist.
	// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
	"s3.GetObject": {{"s3:GetObject", ""}, {"s3:ListBucket", ""}, {"s3:GetObjectVersion", "s3.GetObjectInput.VersionId"}},
	// https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
	"s3.HeadObject":    {{"s3:GetObject", ""}, {"s3:ListBucket", ""}, {"s3:GetObjectVersion", "s3.HeadObjectInput.VersionId"}},
	"s3.ListObjectsV2": {{"s3:ListBucket", ""}},
	"s3.PutObject":     {{"s3:PutObject", ""}},

	// https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
	"s3.AbortMultipartUpload": {{"s3:AbortMultipartUpload", ""}},
	"s3.DeleteObjects":        {{"s3:DeleteObject", ""}, {"s3:DeleteObjectVersion", ""}},
	"s3.ListMultipartUploads": {{"s3:ListBucketMultipartUploads", ""}},
	"s3.ListObjectVersions":   {{"s3:ListBucketVersions", ""}},

	"scheduler.CreateSchedule": {{"scheduler:CreateSchedule", ""}, {"iam:PassRole", "scheduler.Target.RoleArn"}},
	"scheduler.DeleteSchedule": {{"scheduler:DeleteSchedule", ""}},
	"scheduler.GetSchedule":    {{"scheduler:GetSchedule", ""}},
	"scheduler.ListSchedules":  {{"scheduler:ListSchedules", ""}},
	"scheduler.UpdateSchedule": {{"scheduler:UpdateSchedule", ""}, {"iam:PassRole", "scheduler.Target.RoleArn"}},

	"sfn.DescribeExecution": {{"states:DescribeExecution", ""}},
	"sfn.SendTaskSuccess":   {{"states:SendTaskSuccess", ""}},
	"sfn.StartExecution":    {{"states:StartExecution", ""}},
	"sfn.StopExecution":     {{"states:StopExecution", ""}},

	"ecr.DescribeImages": {}, // with the role that cdk bootstrap has made, which allows it

	"lambda.Invoke": {{"lambda:InvokeFunction", ""}},

	"secretsmanager.GetSecretValue": {{"secretsmanager:GetSecretValue", ""}},

	"sns.Publish":       {{"sns:Publish", ""}},
	"ssm.GetParameters": {{"ssm:GetParameters", ""}},
	"ssm.PutParameter":  {{"ssm:PutParameter", ""}},

	"organizations.DescribeAccount":                  {{"organizations:DescribeAccount", ""}},
	"organizations.ListAccountsForParent":            {{"organizations:ListAccountsForParent", ""}},
	"organizations.ListOrganizationalUnitsForParent": {{"organizations:ListOrganizationalUnitsForParent", ""}},
	"organizations.ListParents":                      {{"organizations:ListParents", ""}},
	"sts.AssumeRole":                                 {{"sts:AssumeRole", ""}},
}

// An Action is an IAM action that a use needs, and the calls that need it.
type Action struct {
	Name string // as in "dynamodb:GetItem"
	For  []Call
}

// Actions are what a use needs, sorted by name. The error names an operation that the table does not list.
func (u Use) Actions() ([]Action, error) {
	by := make(map[string][]Call)
	for _, c := range u.Calls {
		needs, ok := table[c.Operation]
		if !ok {
			return nil, fmt.Errorf("%s asks for %s: nothing is known of what that needs: say so in calls/actions.go", c.Place, c.Operation)
		}
		for _, n := range needs {
			_, set := slices.BinarySearch(u.Fields, n.field)
			if (n.field == "" || set) && !slices.Contains(by[n.action], c) {
				by[n.action] = append(by[n.action], c)
			}
		}
	}
	var all []Action
	for name, calls := range by {
		all = append(all, Action{name, calls})
	}
	slices.SortFunc(all, func(a, b Action) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// To is the part of a use that calls one service, as in "cloudformation".
func (u Use) To(service string) Use {
	of := func(name string) bool { return strings.HasPrefix(name, service+".") }
	return Use{
		Calls:  slices.DeleteFunc(slices.Clone(u.Calls), func(c Call) bool { return !of(c.Operation) }),
		Fields: slices.DeleteFunc(slices.Clone(u.Fields), func(f string) bool { return !of(f) }),
	}
}

// And is the union of two uses.
func (u Use) And(other Use) Use {
	return Use{Calls: slices.Concat(u.Calls, other.Calls), Fields: slices.Concat(u.Fields, other.Fields)}.sorted()
}
