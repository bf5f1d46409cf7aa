package awsbackup_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/awsbackup"
)

// A transport calls a handler, without a network.
type transport struct{ http.Handler }

// Do is aws.HTTPClient.
func (s transport) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// code is the code of an error of AWS; "" for none.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// A job runs, and then there is its recovery point with its tags, or it has failed. A repeated request with its token is the same job. A deleted recovery point is deleting, and then gone.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_StartBackupJob.html
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DeleteRecoveryPoint.html
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &awsbackup.Service{Takes: time.Minute, Place: func(*http.Request) (account, region string) { return "000000000000", "us-east-1" }, Find: func(_ *http.Request, kind, name string) bool {
			return kind == "AWS::EFS::FileSystem" && (name == "fs-1" || name == "fs-2")
		}}
		s.FailJob("fs-2")
		client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: transport{s}, Retryer: aws.NopRetryer{}, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
		})})
		start := func(vault, id, token string) (*sdk.StartBackupJobOutput, string) {
			out, err := client.StartBackupJob(t.Context(), &sdk.StartBackupJobInput{BackupVaultName: &vault, IamRoleArn: aws.String("arn:aws:iam::000000000000:role/any"), IdempotencyToken: &token, ResourceArn: aws.String("arn:aws:elasticfilesystem:us-east-1:000000000000:file-system/" + id), RecoveryPointTags: map[string]string{"name": token}})
			return out, code(err)
		}
		one, a := start(awsbackup.Vault, "fs-1", "a")
		again, b := start(awsbackup.Vault, "fs-1", "a")
		two, c := start(awsbackup.Vault, "fs-2", "b")
		if a+b+c != "" || *one.RecoveryPointArn != *again.RecoveryPointArn || *one.RecoveryPointArn == *two.RecoveryPointArn {
			t.Fatal(a, b, c)
		}
		_, vault := start("other", "fs-1", "c")
		_, files := start(awsbackup.Vault, "fs-3", "d")
		if vault != "ResourceNotFoundException" || files != "ResourceNotFoundException" {
			t.Error(vault, files)
		}
		state := func(id *string) string {
			out, err := client.DescribeBackupJob(t.Context(), &sdk.DescribeBackupJobInput{BackupJobId: id})
			if err != nil {
				t.Fatal(err)
			}
			return string(out.State)
		}
		status := func(arn *string) string {
			out, err := client.DescribeRecoveryPoint(t.Context(), &sdk.DescribeRecoveryPointInput{BackupVaultName: aws.String(awsbackup.Vault), RecoveryPointArn: arn})
			if err != nil {
				return code(err)
			}
			return string(out.Status)
		}
		remove := func(arn *string) string {
			_, err := client.DeleteRecoveryPoint(t.Context(), &sdk.DeleteRecoveryPointInput{BackupVaultName: aws.String(awsbackup.Vault), RecoveryPointArn: arn})
			return code(err)
		}
		if got := state(one.BackupJobId) + " " + status(one.RecoveryPointArn) + " " + remove(one.RecoveryPointArn); got != "RUNNING ResourceNotFoundException ResourceNotFoundException" {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := state(one.BackupJobId) + " " + status(one.RecoveryPointArn) + " " + state(two.BackupJobId) + " " + status(two.RecoveryPointArn); got != "COMPLETED COMPLETED FAILED ResourceNotFoundException" {
			t.Error(got)
		}
		if tags, err := client.ListTags(t.Context(), &sdk.ListTagsInput{ResourceArn: one.RecoveryPointArn}); err != nil || tags.Tags["name"] != "a" {
			t.Errorf("%+v, %v", tags, err)
		}
		of, err := client.ListBackupJobs(t.Context(), &sdk.ListBackupJobsInput{ByResourceArn: aws.String("arn:aws:elasticfilesystem:us-east-1:000000000000:file-system/fs-2"), ByBackupVaultName: aws.String(awsbackup.Vault), ByResourceType: aws.String("EFS")})
		if err != nil || len(of.BackupJobs) != 1 || *of.BackupJobs[0].RecoveryPointArn != *two.RecoveryPointArn {
			t.Errorf("%+v, %v", of, err)
		}
		if other, err := client.ListBackupJobs(t.Context(), &sdk.ListBackupJobsInput{ByBackupVaultName: aws.String("other")}); err != nil || len(other.BackupJobs) != 0 {
			t.Errorf("%+v, %v", other, err)
		}
		if got := remove(one.RecoveryPointArn) + status(one.RecoveryPointArn) + " " + remove(one.RecoveryPointArn); got != "DELETING InvalidResourceStateException" {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := status(one.RecoveryPointArn); got != "ResourceNotFoundException" {
			t.Error(got)
		}
		_, here := client.DescribeBackupVault(t.Context(), &sdk.DescribeBackupVaultInput{BackupVaultName: aws.String(awsbackup.Vault)})
		_, nowhere := client.DescribeBackupVault(t.Context(), &sdk.DescribeBackupVaultInput{BackupVaultName: aws.String("other")})
		_, unknown := client.ListBackupPlans(t.Context(), &sdk.ListBackupPlansInput{})
		if here != nil || code(nowhere) != "AccessDeniedException" || code(unknown) != "UnknownOperationException" {
			t.Error(here, nowhere, unknown)
		}
	})
}
