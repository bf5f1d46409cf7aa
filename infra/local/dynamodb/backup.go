package dynamodb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// mostMade is how many backups an account may make at the same time in a region.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html#API_CreateBackup_Errors
const mostMade = 50

// mostListed is how many backups are on a page of ListBackups.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
const mostListed = 100

// backupName is the form of names of backups. They are not unique.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html#API_CreateBackup_RequestSyntax
var backupName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

// Backups is an http.Handler that makes on-demand backups of the tables that stacks have created, in all accounts and regions. These tables hold no items.
// Tables carries out all other requests. Use it by its address.
type Backups struct {
	Tables http.Handler
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to make a backup.
	Takes time.Duration

	mu   sync.Mutex
	made map[string]tableBackup // by ARN
	lag  time.Duration          // how late ListBackups shows a backup
}

// Lag lets ListBackups show each backup so late. Lists of DynamoDB are eventually consistent, as its reads are unless they are said to be strongly so.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
func (s *Backups) Lag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = d
}

// A keptBackup is a backup as it is kept.
type keptBackup struct {
	tableBackup
	Made, Ready time.Time
}

// Keep returns the backups, as JSON. Restore takes them over again, in a new process.
func (s *Backups) Keep() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]keptBackup)
	for arn, b := range s.made {
		all[arn] = keptBackup{b, b.made, b.ready}
	}
	return json.Marshal(all)
}

// Restore takes over what Keep returned.
func (s *Backups) Restore(body []byte) error {
	var all map[string]keptBackup
	if err := json.Unmarshal(body, &all); err != nil {
		return err
	}
	s.made = make(map[string]tableBackup)
	for arn, k := range all {
		k.made, k.ready = k.Made, k.Ready
		s.made[arn] = k.tableBackup
	}
	return nil
}

// A tableBackup is an on-demand backup.
type tableBackup struct {
	BackupArn, BackupName, BackupStatus, BackupType string
	BackupCreationDateTime                          float64
	BackupSizeBytes                                 int
	TableName, TableArn                             string `json:",omitempty"` // in lists

	made, ready time.Time
}

// details are those that an answer about one backup has.
func (b tableBackup) details(now time.Time) tableBackup {
	b = b.listed(now)
	b.TableName, b.TableArn = "", ""
	return b
}

// listed is the backup as it is now: CREATING, and then AVAILABLE. DELETED is only what the answer to its deletion says.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BackupDetails.html
func (b tableBackup) listed(now time.Time) tableBackup {
	if b.BackupStatus == "" {
		b.BackupStatus = "AVAILABLE"
		if now.Before(b.ready) {
			b.BackupStatus = "CREATING"
		}
	}
	return b
}

// ServeHTTP carries out one request.
func (s *Backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var carryOut func(*http.Request, []byte) (any, error)
	switch operation(r.Header.Get("X-Amz-Target")) {
	case "CreateBackup":
		carryOut = inBackups(s.create)
	case "ListBackups":
		carryOut = inBackups(s.list)
	case "DescribeBackup":
		carryOut = inBackups(s.describe)
	case "DeleteBackup":
		carryOut = inBackups(s.remove)
	case "DescribeTable":
		carryOut = inBackups(s.describeTable)
	default:
		s.Tables.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "SerializationException", Message: err.Error()})
		return
	}
	s.mu.Lock()
	out, err := carryOut(r, body)
	s.mu.Unlock()
	switch known := (refusal{}); {
	case errors.Is(err, errOfStacks): // Tables may know it
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.Tables.ServeHTTP(w, r)
	case errors.As(err, &known):
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: known.Code, Message: known.Message})
	default:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(out) // the caller is gone if this fails
	}
}

// errOfStacks says that no stack has a table.
var errOfStacks = errors.New("no stack has the table")

// inBackups is an operation whose input is read from the body of a request. A field that the input does not have is refused.
func inBackups[In any](do func(*http.Request, In) (any, error)) func(*http.Request, []byte) (any, error) {
	return func(r *http.Request, body []byte) (any, error) {
		var in In
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return nil, invalid("this emulator of DynamoDB cannot carry out the request: %v", err)
		}
		return do(r, in)
	}
}

// table reports whether a stack has a table, and returns its ARN.
func (s *Backups) table(r *http.Request, name string) (arn string, ok bool) {
	account, region := s.Place(r)
	for _, kind := range []string{"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"} {
		if _, _, has := s.Find(r, kind, name); has {
			ok = true
		}
	}
	return "arn:aws:dynamodb:" + region + ":" + account + ":table/" + name, ok
}

// describeTable describes the table of a stack.
func (s *Backups) describeTable(r *http.Request, in struct{ TableName string }) (any, error) {
	arn, ok := s.table(r, in.TableName)
	if !ok {
		return nil, errOfStacks
	}
	return map[string]any{"Table": map[string]any{"TableName": in.TableName, "TableArn": arn, "TableStatus": "ACTIVE", "ItemCount": 0}}, nil
}

// create begins a backup.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
func (s *Backups) create(r *http.Request, in struct{ TableName, BackupName string }) (any, error) {
	now := time.Now()
	arn, ok := s.table(r, in.TableName)
	switch {
	case !backupName.MatchString(in.BackupName):
		return nil, invalid("1 validation error detected: Value '%s' at 'backupName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+ and have a length of 3 to 255", in.BackupName)
	case !ok:
		return nil, refusal{Code: "TableNotFoundException", Message: "Table not found: " + in.TableName}
	case s.making(r, now) >= mostMade:
		return nil, refusal{Code: "LimitExceededException", Message: fmt.Sprintf("Subscriber limit exceeded: Only %d concurrent backups can be created per account", mostMade)}
	}
	if s.made == nil {
		s.made = make(map[string]tableBackup)
	}
	b := tableBackup{
		BackupArn: fmt.Sprintf("%s/backup/%014d-%08x", arn, now.UnixMilli(), len(s.made)), BackupName: in.BackupName, BackupType: "USER",
		BackupCreationDateTime: float64(now.UnixMilli()) / 1000, TableName: in.TableName, TableArn: arn, made: now, ready: now.Add(s.Takes),
	}
	s.made[b.BackupArn] = b
	return map[string]any{"BackupDetails": b.details(now)}, nil
}

// making counts the backups that are not available yet, in the account and region of a request.
func (s *Backups) making(r *http.Request, now time.Time) int {
	n := 0
	for arn, b := range s.made {
		if s.in(r, arn) && b.listed(now).BackupStatus == "CREATING" {
			n++
		}
	}
	return n
}

// in reports whether a backup that exists is in the account and region of a request.
func (s *Backups) in(r *http.Request, arn string) bool {
	account, region := s.Place(r)
	return strings.HasPrefix(arn, "arn:aws:dynamodb:"+region+":"+account+":") && s.made[arn].BackupStatus != "DELETED"
}

type listBackups struct {
	TableName, BackupType   string
	ExclusiveStartBackupArn string
	Limit                   int
}

// list lists the backups of a table by its name or ARN, also of one that does not exist any more, or all.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
func (s *Backups) list(r *http.Request, in listBackups) (any, error) {
	if in.BackupType != "" && in.BackupType != "USER" && in.BackupType != "ALL" {
		return nil, invalid("this emulator of DynamoDB has no backups of type %s", in.BackupType)
	}
	most := mostListed
	if in.Limit > 0 {
		most = min(in.Limit, mostListed)
	}
	summaries, last := []tableBackup{}, ""
	for _, arn := range slices.Sorted(maps.Keys(s.made)) {
		b := s.made[arn]
		if time.Since(b.made) < s.lag || !s.in(r, arn) || arn <= in.ExclusiveStartBackupArn || in.TableName != "" && in.TableName != b.TableName && in.TableName != b.TableArn {
			continue
		}
		if len(summaries) == most {
			last = summaries[most-1].BackupArn
			break
		}
		summaries = append(summaries, b.listed(time.Now()))
	}
	out := map[string]any{"BackupSummaries": summaries}
	if last != "" {
		out["LastEvaluatedBackupArn"] = last
	}
	return out, nil
}

// find returns a backup that exists.
func (s *Backups) find(r *http.Request, arn string) (tableBackup, error) {
	b, ok := s.made[arn]
	if !ok || !s.in(r, arn) {
		return b, refusal{Code: "BackupNotFoundException", Message: "Backup not found: " + arn}
	}
	return b, nil
}

// describe describes a backup.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBackup.html
func (s *Backups) describe(r *http.Request, in struct{ BackupArn string }) (any, error) {
	b, err := s.find(r, in.BackupArn)
	return described(b), err
}

// remove deletes a backup that is available.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
func (s *Backups) remove(r *http.Request, in struct{ BackupArn string }) (any, error) {
	b, err := s.find(r, in.BackupArn)
	switch {
	case err != nil:
		return nil, err
	case b.listed(time.Now()).BackupStatus == "CREATING":
		return nil, refusal{Code: "BackupInUseException", Message: "Backup is being created: " + in.BackupArn}
	}
	b.BackupStatus = "DELETED"
	s.made[in.BackupArn] = b
	return described(b), nil
}

// described is an answer about a backup.
func described(b tableBackup) any {
	return map[string]any{"BackupDescription": map[string]any{"BackupDetails": b.details(time.Now())}}
}
