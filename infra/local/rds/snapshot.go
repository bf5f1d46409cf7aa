package rds

import (
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// mostManual is how many manual snapshots of each kind an account may have in a region.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Limits.html
const mostManual = 100

// A snapshotKind is snapshots of DB instances, or of DB clusters.
type snapshotKind struct {
	of      kind
	name    string // as operations call it
	id      string // the parameter that names one
	arn     string // the part of the ARN before the identifier
	form    *regexp.Regexp
	most    int // letters, digits and hyphens of an identifier
	exists  string
	missing string
	state   string // the error of one that is in another status
}

// Identifiers begin with a letter, have letters, digits and hyphens, no two of these follow each other, and none is the last.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
var (
	identifier = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9]|-[A-Za-z0-9])*$`)

	instanceSnapshots = snapshotKind{instances, "DBSnapshot", "DBSnapshotIdentifier", "snapshot", identifier, 255, "DBSnapshotAlreadyExists", "DBSnapshotNotFound", "InvalidDBSnapshotState"}
	clusterSnapshots  = snapshotKind{clusters, "DBClusterSnapshot", "DBClusterSnapshotIdentifier", "cluster-snapshot", identifier, 63, "DBClusterSnapshotAlreadyExistsFault", "DBClusterSnapshotNotFoundFault", "InvalidDBClusterSnapshotStateFault"}
)

// A snapshot is a manual one.
type snapshot struct {
	Arn, Source, Engine string
	Made                time.Time // when it is available, or has failed
	Fails               bool
	Gone                time.Time // when it is deleted; zero if no request deletes it
}

// status is that of a snapshot; "" if it is gone.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DBSnapshot.html
func (s snapshot) status(now time.Time) string {
	switch {
	case !s.Gone.IsZero() && !now.Before(s.Gone):
		return ""
	case !s.Gone.IsZero():
		return "deleting"
	case now.Before(s.Made):
		return "creating"
	case s.Fails:
		return "failed"
	}
	return "available"
}

// FailSnapshot lets the next snapshot of a database fail.
func (s *Service) FailSnapshot(database string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = make(map[string]bool)
	}
	s.failing[database] = true
}

// snapshotKey is the key of a snapshot.
func (s *Service) snapshotKey(r *http.Request, k snapshotKind, id string) string {
	account, region := s.Place(r)
	return strings.Join([]string{account, region, k.name, strings.ToLower(id)}, " ")
}

// serveSnapshots answers requests about snapshots. It reports false if the action is another one. The caller holds s.mu.
func (s *Service) serveSnapshots(w http.ResponseWriter, r *http.Request, action string) bool {
	for _, k := range []snapshotKind{instanceSnapshots, clusterSnapshots} {
		switch action {
		case "Create" + k.name:
			s.createSnapshot(w, r, k)
		case "Describe" + k.name + "s":
			s.describeSnapshots(w, r, k)
		case "Delete" + k.name:
			s.deleteSnapshot(w, r, k)
		default:
			continue
		}
		return true
	}
	return false
}

// createSnapshot starts a snapshot of a database that is available.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
func (s *Service) createSnapshot(w http.ResponseWriter, r *http.Request, k snapshotKind) {
	refuse := func(status int, code, message string) {
		gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: message})
	}
	now, id, source := time.Now(), r.Form.Get(k.id), r.Form.Get(k.of.id)
	if !k.form.MatchString(id) || len(id) > k.most {
		refuse(http.StatusBadRequest, "InvalidParameterValue", "The parameter "+k.id+" is not a valid identifier. Identifiers must begin with a letter; must contain only ASCII letters, digits, and hyphens; and must not end with a hyphen or contain two consecutive hyphens.")
		return
	}
	key := s.snapshotKey(r, k, id)
	properties, state, ok := s.find(r, k.of, source)
	switch old, made := s.Snapshots[key]; {
	case made && old.status(now) != "":
		refuse(http.StatusBadRequest, k.exists, "Cannot create the snapshot because a snapshot with the identifier "+id+" already exists.")
	case !ok:
		refuse(http.StatusNotFound, k.of.missing, k.of.name+" "+source+" not found.")
	case k.of == instances && resource.Property(properties, "DBClusterIdentifier") != "":
		refuse(http.StatusBadRequest, "InvalidParameterCombination", "The requested DB Instance will be a member of a DB Cluster. Back up the cluster.")
	case s.Databases.Status(state, statuses) != statuses.On:
		refuse(http.StatusBadRequest, k.of.state, "Cannot create a snapshot because the database "+source+" is not currently in the available state.")
	case s.manual(r, k, now) >= mostManual:
		refuse(http.StatusBadRequest, "SnapshotQuotaExceeded", "Cannot create more than "+strconv.Itoa(mostManual)+" manual snapshots")
	default:
		account, region := s.Place(r)
		if s.Snapshots == nil {
			s.Snapshots = make(map[string]snapshot)
		}
		s.Snapshots[key] = snapshot{
			Arn:    "arn:aws:rds:" + region + ":" + account + ":" + k.arn + ":" + strings.ToLower(id),
			Source: source, Engine: resource.Property(properties, "Engine"), Made: now.Add(s.Takes), Fails: s.failing[source],
		}
		delete(s.failing, source)
		answer(w, "Create"+k.name, s.Snapshots[key].described(k, now))
	}
}

// manual counts the snapshots of a kind in the account and region of a request.
func (s *Service) manual(r *http.Request, k snapshotKind, now time.Time) int {
	n := 0
	for key, one := range s.Snapshots {
		if strings.HasPrefix(key, s.snapshotKey(r, k, "")) && one.status(now) != "" {
			n++
		}
	}
	return n
}

// describedSnapshot is a snapshot of an answer.
type describedSnapshot struct {
	XMLName                     xml.Name
	DBSnapshotIdentifier        string `xml:",omitempty"`
	DBInstanceIdentifier        string `xml:",omitempty"`
	DBSnapshotArn               string `xml:",omitempty"`
	DBClusterSnapshotIdentifier string `xml:",omitempty"`
	DBClusterIdentifier         string `xml:",omitempty"`
	DBClusterSnapshotArn        string `xml:",omitempty"`
	Engine, Status              string
	SnapshotType                string
	PercentProgress             int
}

func (s snapshot) described(k snapshotKind, now time.Time) describedSnapshot {
	one := describedSnapshot{XMLName: xml.Name{Local: k.name}, Engine: s.Engine, Status: s.status(now), SnapshotType: "manual"}
	if one.Status == "available" {
		one.PercentProgress = 100
	}
	id := s.Arn[strings.LastIndexByte(s.Arn, ':')+1:]
	if k.of == clusters {
		one.DBClusterSnapshotIdentifier, one.DBClusterIdentifier, one.DBClusterSnapshotArn = id, s.Source, s.Arn
	} else {
		one.DBSnapshotIdentifier, one.DBInstanceIdentifier, one.DBSnapshotArn = id, s.Source, s.Arn
	}
	return one
}

// describeSnapshots lists the manual snapshots of a kind, or the one that a request names.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBSnapshots.html
func (s *Service) describeSnapshots(w http.ResponseWriter, r *http.Request, k snapshotKind) {
	list := struct {
		XMLName xml.Name
		Members []describedSnapshot
	}{XMLName: xml.Name{Local: k.name + "s"}}
	now, id := time.Now(), r.Form.Get(k.id)
	for _, key := range slices.Sorted(maps.Keys(s.Snapshots)) {
		one := s.Snapshots[key]
		if one.status(now) == "" || id != "" && key != s.snapshotKey(r, k, id) || !strings.HasPrefix(key, s.snapshotKey(r, k, "")) {
			continue
		}
		list.Members = append(list.Members, one.described(k, now))
	}
	if id != "" && list.Members == nil {
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: k.missing, Message: k.name + " " + id + " not found."})
		return
	}
	answer(w, "Describe"+k.name+"s", list)
}

// deleteSnapshot deletes a snapshot that is available or has failed.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSnapshot.html
func (s *Service) deleteSnapshot(w http.ResponseWriter, r *http.Request, k snapshotKind) {
	now, id := time.Now(), r.Form.Get(k.id)
	key := s.snapshotKey(r, k, id)
	one := s.Snapshots[key]
	switch status := one.status(now); {
	case one.Arn == "" || status == "":
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: k.missing, Message: k.name + " " + id + " not found."})
	case status != "available" && status != "failed":
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: k.state, Message: "Cannot delete the snapshot because it is not currently in the available or failed state."})
	default:
		one.Gone = now.Add(s.Takes)
		s.Snapshots[key] = one
		answer(w, "Delete"+k.name, one.described(k, now))
	}
}
