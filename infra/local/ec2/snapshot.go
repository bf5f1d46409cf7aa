package ec2

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// A snapshot is one of a volume.
type snapshot struct {
	Place, Id, Volume string
	Tags              []tag
	Started, Made     time.Time // made is when it is completed, or has failed
	Fails             bool
}

// A tag is one of an answer.
type tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// status is that of a snapshot.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Snapshot.html
func (s snapshot) status(now time.Time) string {
	switch {
	case now.Before(s.Made):
		return "pending"
	case s.Fails:
		return "error"
	}
	return "completed"
}

// FailSnapshot lets the next snapshot of a volume fail.
func (s *Service) FailSnapshot(volume string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = make(map[string]bool)
	}
	s.failing[volume] = true
}

// describeVolumes lists the volumes that a request names and that exist.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
func (s *Service) describeVolumes(w http.ResponseWriter, r *http.Request) {
	type volume struct {
		ID    string `xml:"volumeId"`
		State string `xml:"status"`
	}
	var all struct {
		XMLName xml.Name `xml:"DescribeVolumesResponse"`
		Volumes []volume `xml:"volumeSet>item"`
	}
	for _, id := range list(r, "Filter.1.Value.") {
		if _, _, ok := s.Find(r, "AWS::EC2::Volume", id); ok {
			all.Volumes = append(all.Volumes, volume{id, "in-use"})
		}
	}
	answer(w, all)
}

// mostPending is how many snapshots of a volume may be pending.
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-creating-snapshot.html
const mostPending = 5

// createSnapshot starts a snapshot of a volume. It gets an ID and the tags of the request; there is no token, so a repeated request makes another one.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSnapshot.html
func (s *Service) createSnapshot(w http.ResponseWriter, r *http.Request) {
	now, volume, at := time.Now(), r.Form.Get("VolumeId"), s.placeOf(r)
	pending := 0
	for _, one := range s.Snapshots {
		if one.Volume == volume && one.Place == at && one.status(now) == "pending" {
			pending++
		}
	}
	_, _, ok := s.Find(r, "AWS::EC2::Volume", volume)
	switch {
	case !ok:
		refuse(w, r, "InvalidVolume.NotFound", "The volume '"+volume+"' does not exist.")
		return
	case pending >= mostPending:
		refuse(w, r, "ConcurrentSnapshotLimitExceeded", "Maximum allowed in-progress snapshots for a single volume exceeded.")
		return
	}
	one := snapshot{Place: at, Id: fmt.Sprintf("snap-%017x", rand.Uint64()), Volume: volume, Started: now, Made: now.Add(s.Takes), Fails: s.failing[volume]}
	delete(s.failing, volume)
	for i := 1; r.Form.Get("TagSpecification.1.Tag."+strconv.Itoa(i)+".Key") != ""; i++ {
		prefix := "TagSpecification.1.Tag." + strconv.Itoa(i)
		one.Tags = append(one.Tags, tag{r.Form.Get(prefix + ".Key"), r.Form.Get(prefix + ".Value")})
	}
	s.Snapshots = append(s.Snapshots, one)
	answer(w, struct {
		XMLName xml.Name `xml:"CreateSnapshotResponse"`
		describedSnapshot
	}{describedSnapshot: one.described(r, s, now)})
}

// placeOf is the account and region of a request.
func (s *Service) placeOf(r *http.Request) string {
	account, region := s.Place(r)
	return account + " " + region
}

// describedSnapshot is a snapshot of an answer.
type describedSnapshot struct {
	ID       string `xml:"snapshotId"`
	Volume   string `xml:"volumeId"`
	Status   string `xml:"status"`
	Started  string `xml:"startTime"`
	Progress string `xml:"progress"`
	Owner    string `xml:"ownerId"`
	Tags     []tag  `xml:"tagSet>item"`
}

func (one snapshot) described(r *http.Request, s *Service, now time.Time) describedSnapshot {
	account, _ := s.Place(r)
	progress := "100%"
	if one.status(now) == "pending" {
		progress = ""
	}
	return describedSnapshot{one.Id, one.Volume, one.status(now), one.Started.UTC().Format("2006-01-02T15:04:05.000Z"), progress, account, one.Tags}
}

// describeSnapshots lists the snapshots of the account: those that a request names, all of which must exist, or those that its filters match.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSnapshots.html
func (s *Service) describeSnapshots(w http.ResponseWriter, r *http.Request) {
	ids := list(r, "SnapshotId.")
	var all struct {
		XMLName   xml.Name            `xml:"DescribeSnapshotsResponse"`
		Snapshots []describedSnapshot `xml:"snapshotSet>item"`
	}
	for _, id := range ids {
		if s.at(r, id) < 0 {
			refuse(w, r, "InvalidSnapshot.NotFound", "The snapshot '"+id+"' does not exist.")
			return
		}
	}
	for _, one := range s.Snapshots {
		matches, known := one.matches(r)
		if !known {
			refuse(w, r, "InvalidParameterValue", "the local emulator of EC2 knows only the filters volume-id and tag:")
			return
		}
		if matches && one.Place == s.placeOf(r) && (ids == nil || slices.Contains(ids, one.Id)) {
			all.Snapshots = append(all.Snapshots, one.described(r, s, time.Now()))
		}
	}
	answer(w, all)
}

// matches reports whether the filters of a request match the snapshot, and whether they are known.
func (one snapshot) matches(r *http.Request) (matches, known bool) {
	matches = true
	for i := 1; r.Form.Get("Filter."+strconv.Itoa(i)+".Name") != ""; i++ {
		prefix := "Filter." + strconv.Itoa(i)
		key, tagged := strings.CutPrefix(r.Form.Get(prefix+".Name"), "tag:")
		values := list(r, prefix+".Value.")
		switch {
		case tagged:
			matches = matches && slices.ContainsFunc(one.Tags, func(t tag) bool { return t.Key == key && slices.Contains(values, t.Value) })
		case key == "volume-id":
			matches = matches && slices.Contains(values, one.Volume)
		default:
			return false, false
		}
	}
	return matches, true
}

// at is the place of a snapshot among those that there are; -1 if there is none.
func (s *Service) at(r *http.Request, id string) int {
	return slices.IndexFunc(s.Snapshots, func(one snapshot) bool { return one.Id == id && one.Place == s.placeOf(r) })
}

// deleteSnapshot deletes a snapshot at once.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSnapshot.html
func (s *Service) deleteSnapshot(w http.ResponseWriter, r *http.Request) {
	id := r.Form.Get("SnapshotId")
	i := s.at(r, id)
	if i < 0 {
		refuse(w, r, "InvalidSnapshot.NotFound", "The snapshot '"+id+"' does not exist.")
		return
	}
	s.Snapshots = slices.Delete(s.Snapshots, i, i+1)
	answer(w, struct {
		XMLName xml.Name `xml:"DeleteSnapshotResponse"`
		Return  bool     `xml:"return"`
	}{Return: true})
}

// refuse writes an error.
func refuse(w http.ResponseWriter, r *http.Request, code, message string) {
	gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
}
