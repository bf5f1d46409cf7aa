// Package awsbackup emulates AWS Backup on this machine as far as snapshots use it: it makes and deletes recovery points of the file systems of EFS that stacks have created. There are
// no files.
package awsbackup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// Vault is the only vault, which every account has in each region. https://docs.aws.amazon.com/aws-backup/latest/devguide/vaults.html
const Vault = "Default"

// Service is an http.Handler that speaks the REST protocol of AWS Backup. Use it by its address.
type Service struct {
	// Find reports whether a stack has the resource of a type and name, in the account and region of a request.
	Find func(r *http.Request, kind, name string) bool
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to make or delete a recovery point.
	Takes time.Duration

	mu sync.Mutex
	kept
	failing map[string]bool // file systems whose next job fails
}

// kept is what requests have made of the resources.
type kept struct {
	Jobs []*job // in the order in which they were started
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// A job makes a recovery point.
type job struct {
	Id, Place, Source, Point, Token string
	Tags                            map[string]string
	Since, Over                     time.Time
	Fails                           bool
	Gone                            time.Time // when its recovery point is deleted; zero if no request deletes it
}

// state is that of the job.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupJob.html
func (j *job) state(now time.Time) string {
	switch {
	case now.Before(j.Over):
		return "RUNNING"
	case j.Fails:
		return "FAILED"
	}
	return "COMPLETED"
}

// status is that of the recovery point; "" if there is none yet, or not any more.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeRecoveryPoint.html
func (j *job) status(now time.Time) string {
	switch {
	case j.state(now) != "COMPLETED", !j.Gone.IsZero() && !now.Before(j.Gone):
		return ""
	case !j.Gone.IsZero():
		return "DELETING"
	}
	return "COMPLETED"
}

// FailJob lets the next job of a file system fail.
func (s *Service) FailJob(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = make(map[string]bool)
	}
	s.failing[id] = true
}

// A refusal is an error of AWS Backup.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func missing(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, "ResourceNotFoundException", fmt.Sprintf(format, args...)}
}

// ServeHTTP answers requests about the vault, jobs, recovery points and their tags.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var answer any
	if err == nil {
		answer, err = s.serve(r, body)
	}
	if err != nil {
		known, ok := errors.AsType[*refusal](err)
		if !ok {
			known = &refusal{http.StatusInternalServerError, "ServiceUnavailableException", err.Error()}
		}
		gateway.Refuse(w, r, known.status, gateway.Fault{Code: known.code, Message: known.message})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the caller is gone if this fails
}

func (s *Service) serve(r *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(r.URL.EscapedPath(), "/"), "/") {
		text, err := url.PathUnescape(part)
		if err != nil {
			return nil, &refusal{http.StatusBadRequest, "InvalidRequestException", err.Error()}
		}
		parts = append(parts, text)
	}
	switch on := fmt.Sprint(r.Method, " ", parts[0], " ", len(parts)); {
	case on == "PUT backup-jobs 1":
		return s.start(r, body)
	case on == "GET backup-jobs 1":
		return s.list(r)
	case on == "GET backup-jobs 2":
		return s.describe(r, parts[1])
	case on == "GET tags 2":
		return s.tags(r, parts[1])
	// https://github.com/aws/aws-sdk-js/issues/2625
	// https://github.com/ansible-collections/amazon.aws/pull/1436
	case on == "GET backup-vaults 2" && parts[1] != Vault:
		return nil, &refusal{http.StatusForbidden, "AccessDeniedException", "Insufficient privileges to perform this action."}
	case parts[0] == "backup-vaults" && len(parts) > 1 && parts[1] != Vault:
		return nil, missing("Backup vault %s does not exist", parts[1])
	case on == "GET backup-vaults 2":
		account, region := s.Place(r)
		return map[string]any{"BackupVaultName": Vault, "BackupVaultArn": "arn:aws:backup:" + region + ":" + account + ":backup-vault:" + Vault}, nil
	case on == "GET backup-vaults 4" && parts[2] == "recovery-points":
		return s.point(r, parts[3])
	case on == "DELETE backup-vaults 4" && parts[2] == "recovery-points":
		return s.remove(r, parts[3])
	}
	return nil, &refusal{http.StatusBadRequest, "UnknownOperationException", "the local emulator of AWS Backup has no " + r.Method + " " + r.URL.Path}
}

// at is the account and region of a request, as ARNs have them.
func (s *Service) at(r *http.Request) string {
	account, region := s.Place(r)
	return region + ":" + account
}

// start starts a job. One with the same token is the same job.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_StartBackupJob.html
func (s *Service) start(r *http.Request, body []byte) (any, error) {
	var in struct {
		BackupVaultName, IamRoleArn, ResourceArn, IdempotencyToken string
		RecoveryPointTags                                          map[string]string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, &refusal{http.StatusBadRequest, "InvalidRequestException", err.Error()}
	}
	now, at := time.Now(), s.at(r)
	id, own := strings.CutPrefix(in.ResourceArn, "arn:aws:elasticfilesystem:"+at+":file-system/")
	same := slices.IndexFunc(s.Jobs, func(j *job) bool { return j.Place == at && in.IdempotencyToken != "" && j.Token == in.IdempotencyToken })
	switch {
	case in.IamRoleArn == "":
		return nil, &refusal{http.StatusBadRequest, "MissingParameterValueException", "IamRoleArn is required"}
	case in.BackupVaultName != Vault:
		return nil, missing("Backup vault %s does not exist", in.BackupVaultName)
	case same >= 0:
		return s.Jobs[same].started(), nil
	case !own || !s.Find(r, "AWS::EFS::FileSystem", id):
		return nil, missing("Resource %s does not exist", in.ResourceArn)
	}
	n := fmt.Sprintf("%012X", rand.Uint64()>>16) // unlike those of other processes: a snapshot of Stackwright outlives the backups of this one
	j := &job{
		Id: "00000000-0000-0000-0000-" + n, Place: at, Source: in.ResourceArn, Point: "arn:aws:backup:" + at + ":recovery-point:11111111-0000-0000-0000-" + n, Token: in.IdempotencyToken,
		Tags: in.RecoveryPointTags, Since: now, Over: now.Add(s.Takes), Fails: s.failing[id],
	}
	delete(s.failing, id)
	s.Jobs = append(s.Jobs, j)
	return j.started(), nil
}

func (j *job) started() map[string]any {
	return map[string]any{"BackupJobId": j.Id, "RecoveryPointArn": j.Point, "CreationDate": float64(j.Since.UnixMilli()) / 1000}
}

func (j *job) described() map[string]any {
	all := j.started()
	all["State"], all["ResourceArn"], all["BackupVaultName"], all["ResourceType"] = j.state(time.Now()), j.Source, Vault, "EFS"
	if all["State"] == "FAILED" {
		all["StatusMessage"] = "the backup job failed"
	}
	return all
}

// describe describes a job.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeBackupJob.html
func (s *Service) describe(r *http.Request, id string) (any, error) {
	for _, j := range s.Jobs {
		if j.Id == id && j.Place == s.at(r) {
			return j.described(), nil
		}
	}
	return nil, missing("Backup job %s does not exist", id)
}

// list lists the jobs of a resource, a vault or a type of resources, newest first.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_ListBackupJobs.html
func (s *Service) list(r *http.Request) (any, error) {
	q, all := r.URL.Query(), []map[string]any{}
	for _, j := range slices.Backward(s.Jobs) {
		if source := q.Get("resourceArn"); j.Place != s.at(r) || source != "" && source != j.Source || q.Get("backupVaultName") != Vault && q.Has("backupVaultName") || q.Get("resourceType") != "EFS" && q.Has("resourceType") {
			continue
		}
		all = append(all, j.described())
	}
	return map[string]any{"BackupJobs": all}, nil
}

// made is the job of a recovery point that there is.
func (s *Service) made(r *http.Request, arn string) (*job, error) {
	for _, j := range s.Jobs {
		if j.Point == arn && j.Place == s.at(r) && j.status(time.Now()) != "" {
			return j, nil
		}
	}
	return nil, missing("Recovery point %s does not exist", arn)
}

// point describes a recovery point.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeRecoveryPoint.html
func (s *Service) point(r *http.Request, arn string) (any, error) {
	j, err := s.made(r, arn)
	if err != nil {
		return nil, err
	}
	return map[string]any{"RecoveryPointArn": arn, "ResourceArn": j.Source, "BackupVaultName": Vault, "Status": j.status(time.Now())}, nil
}

// tags lists the tags of a recovery point.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_ListTags.html
func (s *Service) tags(r *http.Request, arn string) (any, error) {
	j, err := s.made(r, arn)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Tags": j.Tags}, nil
}

// remove deletes a recovery point.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DeleteRecoveryPoint.html
func (s *Service) remove(r *http.Request, arn string) (any, error) {
	j, err := s.made(r, arn)
	switch {
	case err != nil:
		return nil, err
	case j.status(time.Now()) == "DELETING":
		return nil, &refusal{http.StatusBadRequest, "InvalidResourceStateException", "Recovery point " + arn + " is being deleted"}
	}
	j.Gone = time.Now().Add(s.Takes)
	return map[string]any{}, nil
}
