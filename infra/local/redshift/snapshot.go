package redshift

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
)

// mostManual is how many manual snapshots an account may have in a region.
// https://docs.aws.amazon.com/redshift/latest/mgmt/amazon-redshift-limits.html
const mostManual = 700

// identifier is the form of the names of Snapshots: they begin with a letter, have letters, digits and hyphens, no two of these follow each other, and none is the last.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
var identifier = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9]|-[A-Za-z0-9])*$`)

// A snapshot is a manual one.
type snapshot struct {
	Name, Source, Arn string
	Made              time.Time // when it is available, or has failed
	Fails             bool
	Gone              time.Time // when it is deleted; zero if no request deletes it
}

// status is that of a snapshot; "" if it is gone.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_Snapshot.html
func (s snapshot) status(now time.Time) string {
	switch {
	case !s.Gone.IsZero() && !now.Before(s.Gone):
		return ""
	case !s.Gone.IsZero():
		return "deleted"
	case now.Before(s.Made):
		return "creating"
	case s.Fails:
		return "failed"
	}
	return "available"
}

// FailSnapshot lets the next snapshot of a cluster fail.
func (s *Service) FailSnapshot(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = make(map[string]bool)
	}
	s.failing[cluster] = true
}

// snapshotKey is the key of a snapshot: the name is unique in the account and region.
func (s *Service) snapshotKey(r *http.Request, name string) string {
	account, region := s.Place(r)
	return strings.Join([]string{account, region, strings.ToLower(name)}, " ")
}

// serveSnapshots answers requests about snapshots. It reports false if the action is another one. The caller holds s.mu.
func (s *Service) serveSnapshots(w http.ResponseWriter, r *http.Request, action string) bool {
	switch action {
	case "CreateClusterSnapshot":
		s.createSnapshot(w, r)
	case "DescribeClusterSnapshots":
		s.describeSnapshots(w, r)
	case "DeleteClusterSnapshot":
		s.deleteSnapshot(w, r)
	default:
		return false
	}
	return true
}

// createSnapshot starts a snapshot of a cluster that is available.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
func (s *Service) createSnapshot(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, message string) {
		gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: message})
	}
	now, name, source := time.Now(), r.Form.Get("SnapshotIdentifier"), r.Form.Get("ClusterIdentifier")
	if !identifier.MatchString(name) || len(name) > 255 {
		refuse(http.StatusBadRequest, "InvalidParameterValue", "SnapshotIdentifier must be 1 to 255 alphanumeric characters or hyphens, begin with a letter, not end with a hyphen, and not contain two consecutive hyphens")
		return
	}
	key := s.snapshotKey(r, name)
	_, stack, ok := s.Find(r, "AWS::Redshift::Cluster", source)
	switch old, made := s.Snapshots[key]; {
	case made && old.status(now) != "":
		refuse(http.StatusBadRequest, "ClusterSnapshotAlreadyExists", "The snapshot "+name+" already exists")
	case !ok:
		refuse(http.StatusNotFound, "ClusterNotFound", "Cluster "+source+" not found.")
	case s.stateOf(s.key(r, stack, source)).status(now) != "available":
		refuse(http.StatusBadRequest, "InvalidClusterState", "There is an operation running on the cluster "+source+", or it is paused: it is not available")
	case s.manual(r, now) >= mostManual:
		refuse(http.StatusBadRequest, "ClusterSnapshotQuotaExceeded", "Cannot create more than "+strconv.Itoa(mostManual)+" manual snapshots")
	default:
		account, region := s.Place(r)
		if s.Snapshots == nil {
			s.Snapshots = make(map[string]snapshot)
		}
		one := snapshot{Name: strings.ToLower(name), Source: source, Made: now.Add(s.Takes), Fails: s.failing[source]}
		one.Arn = "arn:aws:redshift:" + region + ":" + account + ":snapshot:" + source + "/" + one.Name
		s.Snapshots[key] = one
		delete(s.failing, source)
		answer(w, "CreateClusterSnapshot", "", one.described(now))
	}
}

// manual counts the snapshots in the account and region of a request.
func (s *Service) manual(r *http.Request, now time.Time) int {
	n := 0
	for key, one := range s.Snapshots {
		if strings.HasPrefix(key, s.snapshotKey(r, "")) && one.status(now) != "" {
			n++
		}
	}
	return n
}

// describedSnapshot is a snapshot of an answer.
type describedSnapshot struct {
	XMLName            xml.Name `xml:"Snapshot"`
	SnapshotIdentifier string
	ClusterIdentifier  string
	SnapshotArn        string
	SnapshotType       string
	Status             string
}

func (s snapshot) described(now time.Time) describedSnapshot {
	return describedSnapshot{SnapshotIdentifier: s.Name, ClusterIdentifier: s.Source, SnapshotArn: s.Arn, SnapshotType: "manual", Status: s.status(now)}
}

// describeSnapshots lists the manual snapshots, or the one that a request names, or those of the cluster that it names.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DescribeClusterSnapshots.html
func (s *Service) describeSnapshots(w http.ResponseWriter, r *http.Request) {
	var list []describedSnapshot
	now, name, cluster := time.Now(), r.Form.Get("SnapshotIdentifier"), r.Form.Get("ClusterIdentifier")
	for _, key := range slices.Sorted(maps.Keys(s.Snapshots)) {
		one := s.Snapshots[key]
		if one.status(now) == "" || name != "" && key != s.snapshotKey(r, name) || cluster != "" && one.Source != cluster || !strings.HasPrefix(key, s.snapshotKey(r, "")) {
			continue
		}
		list = append(list, one.described(now))
	}
	if name != "" && list == nil {
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: "ClusterSnapshotNotFound", Message: "Snapshot " + name + " not found."})
		return
	}
	answer(w, "DescribeClusterSnapshots", "Snapshots", list...)
}

// deleteSnapshot deletes a snapshot that is available or has failed.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DeleteClusterSnapshot.html
func (s *Service) deleteSnapshot(w http.ResponseWriter, r *http.Request) {
	now, name := time.Now(), r.Form.Get("SnapshotIdentifier")
	key := s.snapshotKey(r, name)
	one := s.Snapshots[key]
	switch status := one.status(now); {
	case one.Name == "" || status == "":
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: "ClusterSnapshotNotFound", Message: "Snapshot " + name + " not found."})
	case status != "available" && status != "failed":
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidClusterSnapshotState", Message: "The snapshot " + name + " is not in the available state."})
	default:
		one.Gone = now.Add(s.Takes)
		s.Snapshots[key] = one
		answer(w, "DeleteClusterSnapshot", "", one.described(now))
	}
}
