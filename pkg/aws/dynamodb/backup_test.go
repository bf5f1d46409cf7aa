package dynamodb

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ backup.Backer = (*Backups)(nil)

// backupService is an aws.HTTPClient that answers each operation with a text, and keeps what it was sent.
type backupService struct {
	says map[string][]string // by operation; the last one is repeated
	code map[string]string   // of errors, by operation
	got  []string
}

func (s *backupService) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	s.got = append(s.got, operation+" "+string(body))
	status, text := http.StatusOK, "{}"
	if code := s.code[operation]; code != "" {
		status, text = http.StatusBadRequest, `{"__type": "com.amazonaws.dynamodb.v20120810#`+code+`", "message": "it failed"}`
	} else if all := s.says[operation]; len(all) > 0 {
		text = all[0]
		s.says[operation] = all[min(1, len(all)-1):]
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(text))}, err
}

func (s *backupService) backups() *Backups {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}, DisableValidateResponseChecksum: true})
	return NewBackups(func(context.Context, project.Target) (BackupClient, error) { return client, nil })
}

// A table that does not exist is left out, and one whose key is gone has to be repaired first.
func TestSeeTables(t *testing.T) {
	for status, want := range map[types.TableStatus]string{"ACTIVE": "", "UPDATING": "", "ARCHIVED": "it is ARCHIVED", "INACCESSIBLE_ENCRYPTION_CREDENTIALS": "cannot use its KMS key"} {
		s := &backupService{says: map[string][]string{"DescribeTable": {`{"Table": {"TableStatus": "` + string(status) + `"}}`}}}
		got, err := s.backups().See(t.Context(), project.Target{}, []string{"orders"})
		if err != nil || len(got) != 1 || want == "" && got["orders"].Unready != "" || !strings.Contains(got["orders"].Unready, want) {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
	s := &backupService{code: map[string]string{"DescribeTable": "ResourceNotFoundException"}}
	if got, err := s.backups().See(t.Context(), project.Target{}, []string{"orders"}); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// An earlier call is found by the name of its backup, on whatever page, and one that was deleted is none.
func TestBackUpTable(t *testing.T) {
	one := func(name, arn, status string) string {
		return `{"BackupName": "` + name + `", "BackupArn": "` + arn + `", "BackupStatus": "` + status + `"}`
	}
	create := []string{`{"BackupDetails": {"BackupArn": "arn:new"}}`}
	for what, c := range map[string]struct {
		pages []string
		want  string
		calls int
	}{
		"none":        {[]string{`{"BackupSummaries": [` + one("other", "arn:other", "AVAILABLE") + `]}`}, "arn:new", 2},
		"deleted":     {[]string{`{"BackupSummaries": [` + one("sw-one", "arn:gone", "DELETED") + `]}`}, "arn:new", 2},
		"second page": {[]string{`{"BackupSummaries": [], "LastEvaluatedBackupArn": "arn:last"}`, `{"BackupSummaries": [` + one("sw-one", "arn:one", "CREATING") + `]}`}, "arn:one", 2},
	} {
		s := &backupService{says: map[string][]string{"ListBackups": c.pages, "CreateBackup": create}}
		arn, err := s.backups().BackUp(t.Context(), project.Target{}, "orders", "sw-one", nil)
		if arn != c.want || err != nil || len(s.got) != c.calls || !strings.Contains(s.got[0], `"TableName":"orders"`) {
			t.Errorf("%s: %s, %v: %q", what, arn, err, s.got)
		}
	}
	s := &backupService{says: map[string][]string{"ListBackups": {`{}`}}, code: map[string]string{"CreateBackup": "LimitExceededException"}}
	if _, err := s.backups().BackUp(t.Context(), project.Target{}, "orders", "sw-one", nil); !fault.Is(err, fault.Busy) {
		t.Error(err)
	}
}

func described(name, status string) map[string][]string {
	return map[string][]string{"DescribeBackup": {`{"BackupDescription": {"BackupDetails": {"BackupName": "` + name + `", "BackupStatus": "` + status + `"}}}`}}
}

// Each status of the SDK is a state, and that of one that was deleted is that there is none.
func TestStatesOfBackups(t *testing.T) {
	want := map[types.BackupStatus]backup.State{types.BackupStatusCreating: backup.Making, types.BackupStatusAvailable: backup.Available, "of tomorrow": backup.Making}
	for _, status := range append(types.BackupStatus("").Values(), "of tomorrow") {
		s := &backupService{says: described("sw-one", string(status))}
		got, err := s.backups().Backup(t.Context(), project.Target{}, "arn:one")
		if status == types.BackupStatusDeleted {
			if !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %+v, %v", status, got, err)
			}
			continue
		}
		if err != nil || want[status] == "" || got != (backup.Made{State: want[status], Says: string(status)}) {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
}

// Only a backup with a name of Stackwright is deleted: IAM cannot see the name.
func TestDeleteOwnBackups(t *testing.T) {
	for name, want := range map[string]fault.Kind{"sw-one": "", "nightly": fault.Refused} {
		s := &backupService{says: described(name, "AVAILABLE")}
		err := s.backups().Delete(t.Context(), project.Target{}, "arn:one")
		deleted := strings.Contains(strings.Join(s.got, "\n"), `DeleteBackup {"BackupArn":"arn:one"}`)
		if want == "" && (err != nil || !deleted) || want != "" && (!fault.Is(err, want) || deleted) {
			t.Errorf("%s: %v, %q", name, err, s.got)
		}
	}
}

// The errors of DynamoDB have the kinds that the contract says.
func TestRefusedBackups(t *testing.T) {
	for code, want := range map[string]fault.Kind{
		"LimitExceededException": fault.Busy, "BackupInUseException": fault.Busy, "TableInUseException": fault.Busy, "ResourceInUseException": fault.Busy, "ContinuousBackupsUnavailableException": fault.Busy,
		"TableNotFoundException": fault.Missing, "ResourceNotFoundException": fault.Missing, "BackupNotFoundException": fault.Missing,
		"ValidationException": fault.Refused, "ThrottlingException": fault.Throttled, "AccessDeniedException": fault.Denied,
	} {
		s := &backupService{says: described("sw-one", "AVAILABLE"), code: map[string]string{"CreateBackup": code, "DeleteBackup": code}}
		if _, err := s.backups().BackUp(t.Context(), project.Target{}, "orders", "sw-one", nil); !fault.Is(err, want) {
			t.Errorf("create: %s: %v", code, err)
		}
		if err := s.backups().Delete(t.Context(), project.Target{}, "arn:one"); !fault.Is(err, want) {
			t.Errorf("delete: %s: %v", code, err)
		}
		s = &backupService{code: map[string]string{"ListBackups": code, "DescribeBackup": code}}
		_, found := s.backups().Find(t.Context(), project.Target{}, "orders", "sw-one")
		_, read := s.backups().Backup(t.Context(), project.Target{}, "arn:one")
		if !fault.Is(found, want) || !fault.Is(read, want) {
			t.Errorf("read: %s: %v, %v", code, found, read)
		}
	}
}
