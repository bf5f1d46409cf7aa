package awsbackup_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/backup"

	"github.com/stackwright/stackwright/pkg/aws/awsbackup"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ backup.Backer = (*awsbackup.Points)(nil)

// A service keeps the requests, and answers each by its method and path: an error if the answer begins with a code and a colon. The code, if there is one, is the answer to all.
type service struct {
	got  []string
	said map[string]string
	code string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	var err error
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
	}
	at := r.Method + " " + r.URL.EscapedPath()
	s.got = append(s.got, strings.TrimSpace(at+" "+r.URL.RawQuery+string(body)))
	said, code, status := s.said[at], s.code, http.StatusOK
	if name, isError := strings.CutSuffix(said, ":"); isError {
		code = name
	}
	if said == "" && code == "" {
		code = "ResourceNotFoundException"
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if code != "" {
		said, status = `{"message": "it failed"}`, http.StatusBadRequest
		header.Set("X-Amzn-Errortype", code)
	}
	return &http.Response{StatusCode: status, Request: r, Header: header, Body: io.NopCloser(strings.NewReader(said))}, err
}

func points(s *service) *awsbackup.Points {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return awsbackup.New(backup.Vault{Name: "ours", Role: "service-role/backs-up"}, func(context.Context, project.Target) (awsbackup.Client, error) { return client, nil })
}

var in = project.Target{Account: "111111111111", Region: "us-east-1"}

const (
	arn     = "arn:aws:backup:us-east-1:111111111111:recovery-point:1"
	path    = "/backup-vaults/ours/recovery-points/arn%3Aaws%3Abackup%3Aus-east-1%3A111111111111%3Arecovery-point%3A1"
	tagPath = "/tags/arn%3Aaws%3Abackup%3Aus-east-1%3A111111111111%3Arecovery-point%3A1"
)

// All file systems are seen. Without the vault, none can be backed up, and the reason names it and the command that creates it.
func TestSee(t *testing.T) {
	s := &service{said: map[string]string{"GET /backup-vaults/ours": "{}"}}
	got, err := points(s).See(t.Context(), in, []string{"fs-1", "fs-2"})
	if err != nil || len(got) != 2 || got["fs-2"].Unready != "" || len(s.got) != 1 {
		t.Errorf("%+v, %q, %v", got, s.got, err)
	}
	got, err = points(&service{}).See(t.Context(), in, []string{"fs-1"})
	if want := "there is no backup vault ours in region us-east-1 of account 111111111111: create it: aws backup create-backup-vault --backup-vault-name ours --region us-east-1"; err != nil || got["fs-1"].Unready != want {
		t.Errorf("%+v, %v", got, err)
	}
	// AWS Backup answers this about a vault that does not exist, too.
	got, err = points(&service{code: "AccessDeniedException"}).See(t.Context(), in, []string{"fs-1", "fs-2"})
	for _, part := range []string{
		"the backup vault ours in region us-east-1 of account 111111111111 does not exist, or the role may not describe it", "aws backup create-backup-vault --backup-vault-name ours --region us-east-1",
		"backup:DescribeBackupVault", "arn:aws:backup:us-east-1:111111111111:backup-vault:ours", "it failed",
	} {
		if err != nil || len(got) != 2 || !strings.Contains(got["fs-2"].Unready, part) {
			t.Errorf("%+v has no %s: %v", got, part, err)
		}
	}
	if _, err := points(&service{code: "InvalidParameterValueException"}).See(t.Context(), in, []string{"fs-1"}); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
}

// A job has the name as its token and the tags, and the role of the account. If the answer has no recovery point, the job says which it is, and is read again until it does.
func TestBackUp(t *testing.T) {
	s := &service{said: map[string]string{"PUT /backup-jobs": `{"BackupJobId": "j", "RecoveryPointArn": "` + arn + `"}`}}
	tags := map[string]string{"stackwright:project": "shop@prod"}
	got, err := points(s).BackUp(t.Context(), in, "fs-1", "sw-one", tags)
	if err != nil || got != arn || len(s.got) != 1 || len(tags) != 1 {
		t.Errorf("%s, %q, %v", got, s.got, err)
	}
	for _, part := range []string{`"BackupVaultName":"ours"`, `"IamRoleArn":"arn:aws:iam::111111111111:role/service-role/backs-up"`, `"IdempotencyToken":"sw-one"`, `"ResourceArn":"arn:aws:elasticfilesystem:us-east-1:111111111111:file-system/fs-1"`, `"stackwright:backup":"sw-one"`, `"stackwright:project":"shop@prod"`} {
		if !strings.Contains(s.got[0], part) {
			t.Errorf("the request has no %s: %s", part, s.got[0])
		}
	}
	s.said["PUT /backup-jobs"] = `{"BackupJobId": "j"}`
	for said, want := range map[string]string{`{"RecoveryPointArn": "` + arn + `"}`: arn, `{"State": "PENDING"}`: ""} {
		s.said["GET /backup-jobs/j"] = said
		if got, err := points(s).BackUp(t.Context(), in, "fs-1", "sw-one", nil); got != want || want == "" && !fault.Is(err, fault.Busy) || want != "" && err != nil {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
}

// The backup of a name is found by the tags of the recovery points of the jobs of its file system. While a job has none yet, it may be of that name, unless a backup plan has started it.
func TestFind(t *testing.T) {
	const own, other = `{"Tags": {"stackwright:backup": "sw-one"}}`, `{"Tags": {"stackwright:backup": "sw-two"}}`
	const point, plan = `, "RecoveryPointArn": "` + arn + `"`, `, "CreatedBy": {"BackupPlanId": "nightly"}`
	for about, c := range map[string]struct {
		job, tags string
		want      fault.Kind
	}{
		"own":                       {`"State": "COMPLETED"` + point, own, ""},
		"other":                     {`"State": "COMPLETED"` + point, other, fault.Missing},
		"deleted":                   {`"State": "COMPLETED"` + point, "", fault.Missing},
		"running":                   {`"State": "RUNNING"` + point, "", fault.Busy},
		"running, known":            {`"State": "RUNNING"` + point, own, ""},
		"running, of a plan":        {`"State": "RUNNING"` + point + plan, "", fault.Missing},
		"without an ARN":            {`"State": "CREATED"`, "", fault.Busy},
		"without an ARN, of a plan": {`"State": "CREATED"` + plan, "", fault.Missing},
		"without an ARN, failed":    {`"State": "FAILED"`, "", fault.Missing},
		"failed":                    {`"State": "FAILED"` + point, "", fault.Missing},
		"denied":                    {`"State": "COMPLETED"` + point, "AccessDeniedException:", fault.Denied},
	} {
		s := &service{said: map[string]string{"GET /backup-jobs": `{"BackupJobs": [{"BackupJobId": "j", ` + c.job + `}]}`, "GET " + tagPath: c.tags}}
		got, err := points(s).Find(t.Context(), in, "fs-1", "sw-one")
		if c.want == "" && (got != arn || err != nil) || c.want != "" && !fault.Is(err, c.want) || !strings.Contains(s.got[0], "resourceArn=arn%3Aaws%3Aelasticfilesystem%3Aus-east-1%3A111111111111%3Afile-system%2Ffs-1") {
			t.Errorf("%s: %s, %q, %v", about, got, s.got, err)
		}
		if c.want == fault.Busy && !strings.Contains(err.Error(), "another backup job (j) of the file system fs-1 is running (") {
			t.Errorf("%s: %v", about, err)
		}
	}
	s := &service{said: map[string]string{"GET /backup-jobs": `{"BackupJobs": [{"BackupJobId": "j", "State": "CREATED"}, {"State": "COMPLETED"` + point + `}]}`, "GET " + tagPath: own}}
	if got, err := points(s).Find(t.Context(), in, "fs-1", "sw-one"); got != arn || err != nil {
		t.Errorf("one that is known is not found beside one that is not: %s, %v", got, err)
	}
}

// Each status of a recovery point is a state. While there is none, the job says how far it is; one that has failed has left nothing. One that another vault has is not missing.
func TestStates(t *testing.T) {
	for status, want := range map[string]backup.State{"COMPLETED": backup.Available, "AVAILABLE": backup.Available, "CREATING": backup.Making, "DELETING": backup.Deleting, "PARTIAL": backup.Failed, "EXPIRED": backup.Failed, "OF TOMORROW": backup.Making} {
		s := &service{said: map[string]string{"GET " + path: `{"Status": "` + status + `"}`}}
		if got, err := points(s).Backup(t.Context(), in, arn); err != nil || got != (backup.Made{State: want, Says: status}) {
			t.Errorf("%s: %+v, %q, %v", status, got, s.got, err)
		}
	}
	for job, want := range map[string]backup.Made{
		`"State": "RUNNING", "PercentDone": "30"`:         {State: backup.Making, Says: "RUNNING (30)"},
		`"State": "FAILED", "StatusMessage": "no access"`: {State: backup.Failed, Says: "FAILED (no access)", Gone: true},
		`"State": "EXPIRED"`:                              {State: backup.Failed, Says: "EXPIRED", Gone: true},
	} {
		s := &service{said: map[string]string{"GET /backup-jobs": `{"BackupJobs": [{"RecoveryPointArn": "another"}, {"RecoveryPointArn": "` + arn + `", ` + job + `}]}`}}
		if got, err := points(s).Backup(t.Context(), in, arn); err != nil || got != want {
			t.Errorf("%s: %+v, %v", job, got, err)
		}
	}
	jobs := map[string]string{"GET /backup-jobs": `{"BackupJobs": [{"RecoveryPointArn": "` + arn + `", "State": "COMPLETED"}]}`}
	if _, err := points(&service{said: jobs}).Backup(t.Context(), in, arn); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
	jobs["GET "+tagPath] = "{}"
	if _, err := points(&service{said: jobs}).Backup(t.Context(), in, arn); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "exists, and not in the vault ours: the setting backupVault has changed since it was made") {
		t.Error(err)
	}
}

// The errors of AWS Backup have the kinds that the contract says, and a deletion names the recovery point.
func TestRefused(t *testing.T) {
	s := &service{said: map[string]string{"DELETE " + path: "{}"}}
	if err := points(s).Delete(t.Context(), in, arn); err != nil {
		t.Errorf("%q, %v", s.got, err)
	}
	for code, want := range map[string]fault.Kind{
		"LimitExceededException": fault.Busy, "InvalidResourceStateException": fault.Busy, "ResourceNotFoundException": fault.Missing, "InvalidParameterValueException": fault.Refused, "ThrottlingException": fault.Throttled, "AccessDeniedException": fault.Denied,
	} {
		b := points(&service{code: code})
		_, one := b.BackUp(t.Context(), in, "fs-1", "sw-one", nil)
		_, two := b.Find(t.Context(), in, "fs-1", "sw-one")
		for i, err := range []error{one, two, b.Delete(t.Context(), in, arn)} {
			if !fault.Is(err, want) {
				t.Errorf("%s, request %d: %v", code, i, err)
			}
		}
	}
}
