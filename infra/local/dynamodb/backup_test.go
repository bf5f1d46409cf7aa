package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/dynamodb"
)

// handled sends requests to a handler without a network.
type handled struct{ http.Handler }

func (h handled) Do(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// backedUp returns a client in a region, and lets all regions have the tables orders, of a stack, and everywhere, a global one.
func backedUp(s *dynamodb.Backups, region string) *sdk.Client {
	s.Find = func(_ *http.Request, kind, name string) (string, string, bool) {
		return "{}", "stack", kind == "AWS::DynamoDB::Table" && name == "orders" || kind == "AWS::DynamoDB::GlobalTable" && name == "everywhere"
	}
	s.Place = func(r *http.Request) (string, string) {
		_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=k/")
		return "000000000000", strings.Split(after, "/")[1]
	}
	return sdk.New(sdk.Options{Region: region, HTTPClient: handled{s}, Retryer: aws.NopRetryer{}, Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")})
}

func codeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// A backup is CREATING and then AVAILABLE, and is deleted only then. Names are not unique, and have 3 to 255 letters. The backups of a table stay after it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
func TestBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &dynamodb.Backups{Takes: time.Minute}
		c := backedUp(s, "us-east-1")
		make := func(table, name string) (string, error) {
			out, err := c.CreateBackup(t.Context(), &sdk.CreateBackupInput{TableName: &table, BackupName: &name})
			if err != nil {
				return "", err
			}
			return *out.BackupDetails.BackupArn, nil
		}
		describe := func(c *sdk.Client, arn string) string {
			out, err := c.DescribeBackup(t.Context(), &sdk.DescribeBackupInput{BackupArn: &arn})
			if err != nil {
				return codeOf(err)
			}
			return string(out.BackupDescription.BackupDetails.BackupStatus)
		}
		remove := func(arn string) error {
			_, err := c.DeleteBackup(t.Context(), &sdk.DeleteBackupInput{BackupArn: &arn})
			return err
		}
		one, err := make("orders", "sw-one")
		two, again := make("orders", "sw-one")
		if err != nil || again != nil || one == two || !strings.HasPrefix(one, "arn:aws:dynamodb:us-east-1:000000000000:table/orders/backup/") || describe(c, one) != "CREATING" {
			t.Fatal(one, two, err, again)
		}
		if err := remove(one); codeOf(err) != "BackupInUseException" {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if got := describe(c, one); got != "AVAILABLE" {
			t.Error(got)
		}
		if got := describe(backedUp(s, "eu-west-1"), one); got != "BackupNotFoundException" {
			t.Errorf("in another region, the backup is %s", got)
		}
		for _, want := range []string{"", "BackupNotFoundException"} {
			if err := remove(one); codeOf(err) != want {
				t.Errorf("%v, want %q", err, want)
			}
		}
		for name, want := range map[string]string{"ab": "ValidationException", "a b c": "ValidationException", strings.Repeat("a", 256): "ValidationException", strings.Repeat("a", 255): ""} {
			if _, err := make("everywhere", name); codeOf(err) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := make("none", "sw-one"); codeOf(err) != "TableNotFoundException" {
			t.Error(err)
		}
		for i := range 50 { // one of everywhere is being made
			if _, err := make("orders", fmt.Sprint("sw-", i)); i < 49 && err != nil || i == 49 && codeOf(err) != "LimitExceededException" {
				t.Fatal(i, err)
			}
		}
		listed(t, c, 50)
	})
}

// listed lists the backups of the table orders by pages.
func listed(t *testing.T, c *sdk.Client, want int) {
	t.Helper()
	seen, pages := map[string]bool{}, sdk.ListBackupsInput{TableName: aws.String("orders"), Limit: aws.Int32(20)}
	for range 3 {
		out, err := c.ListBackups(context.Background(), &pages)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range out.BackupSummaries {
			seen[*one.BackupArn] = true
		}
		pages.ExclusiveStartBackupArn = out.LastEvaluatedBackupArn
	}
	if len(seen) != want || pages.ExclusiveStartBackupArn != nil {
		t.Errorf("%d backups are listed, want %d", len(seen), want)
	}
}

// Only tables of stacks are described here; all other requests reach the tables of Stackwright.
func TestOtherRequests(t *testing.T) {
	tables, err := dynamodb.Open("")
	if err != nil {
		t.Fatal(err)
	}
	c := backedUp(&dynamodb.Backups{Tables: tables}, "us-east-1")
	for table, want := range map[string]string{"orders": "", "none": "ResourceNotFoundException"} {
		if _, err := c.DescribeTable(t.Context(), &sdk.DescribeTableInput{TableName: &table}); codeOf(err) != want {
			t.Errorf("%s: %v", table, err)
		}
	}
	if out, err := c.ListTables(t.Context(), &sdk.ListTablesInput{}); err != nil || len(out.TableNames) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
