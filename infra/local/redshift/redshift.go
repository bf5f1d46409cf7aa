// Package redshift emulates Redshift on this machine as far as suspended stacks and snapshots use it: it pauses and resumes the clusters that stacks have
// created, and makes snapshots of them. There are no databases.
package redshift

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Service is an http.Handler that speaks the query protocol of Redshift. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to pause or resume a cluster, and to make or delete a snapshot.
	Takes time.Duration

	mu sync.Mutex
	kept
	failing map[string]bool // clusters whose next snapshot fails
}

// kept is what requests have made of the resources.
type kept struct {
	States    map[string]state    // by place, stack and name; available if it is missing
	Snapshots map[string]snapshot // by place and identifier
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// A state is what a request has made of a cluster.
type state struct {
	On   bool
	Over time.Time // when it is paused or resumed
}

// status is that of the state. A cluster is pausing, and then paused; or resuming, and then available.
// https://docs.aws.amazon.com/redshift/latest/mgmt/rs-mgmt-pause-resume-cluster.html
func (s state) status(now time.Time) string {
	switch over := !now.Before(s.Over); {
	case s.On && over:
		return "available"
	case s.On:
		return "resuming"
	case over:
		return "paused"
	}
	return "pausing"
}

// A cluster is one of an answer.
type cluster struct {
	XMLName                          xml.Name `xml:"Cluster"`
	ClusterIdentifier                string
	ClusterStatus                    string
	NodeType                         string
	NumberOfNodes                    int
	AutomatedSnapshotRetentionPeriod int
	HsmStatus                        *hsm
}

// An hsm is the hardware security module of a cluster.
type hsm struct{ HsmConfigurationIdentifier string }

// ServeHTTP answers DescribeClusters of one cluster, PauseCluster and ResumeCluster, and requests about snapshots.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, message string) {
		gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: message})
	}
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "MalformedQueryString", err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	action, id := r.Form.Get("Action"), r.Form.Get("ClusterIdentifier")
	if s.serveSnapshots(w, r, action) {
		return
	}
	switch {
	case action != "DescribeClusters" && action != "PauseCluster" && action != "ResumeCluster":
		refuse(http.StatusBadRequest, "InvalidAction", "the local emulator of Redshift has no "+action)
		return
	case id == "":
		refuse(http.StatusBadRequest, "InvalidParameterValue", "the local emulator of Redshift describes one cluster, by ClusterIdentifier")
		return
	}
	properties, stack, ok := s.Find(r, "AWS::Redshift::Cluster", id)
	if !ok {
		refuse(http.StatusNotFound, "ClusterNotFound", "Cluster "+id+" not found.")
		return
	}
	key := s.key(r, stack, id)
	one := described(id, properties)
	if action != "DescribeClusters" {
		if code, message := s.change(key, one, action == "ResumeCluster"); code != "" {
			refuse(http.StatusBadRequest, code, message)
			return
		}
	}
	one.ClusterStatus = s.stateOf(key).status(time.Now())
	answer(w, action, "Clusters", one)
}

// key is the key of a cluster of a stack.
func (s *Service) key(r *http.Request, stack, id string) string {
	account, region := s.Place(r)
	return strings.Join([]string{account, region, stack, id}, " ")
}

// change pauses a cluster that is available, or resumes one that is paused. It returns the error of another one, and of one that cannot be paused.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_PauseCluster.html
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_ResumeCluster.html
func (s *Service) change(key string, one cluster, on bool) (code, message string) {
	now := time.Now()
	if is := s.stateOf(key).status(now); is != map[bool]string{false: "available", true: "paused"}[on] {
		return "InvalidClusterState", "Cluster " + one.ClusterIdentifier + " is " + is
	}
	if !on && (one.HsmStatus != nil || one.AutomatedSnapshotRetentionPeriod == 0) {
		return "UnsupportedOperation", "a cluster with an HSM, or without automated snapshots, cannot be paused"
	}
	if s.States == nil {
		s.States = make(map[string]state)
	}
	s.States[key] = state{on, now.Add(s.Takes)}
	return "", ""
}

// stateOf is the state of a cluster; available if no request has changed it.
func (s *Service) stateOf(key string) state {
	if is, changed := s.States[key]; changed {
		return is
	}
	return state{On: true}
}

// described describes a cluster of a template. Without a number of nodes it has one, and its automated snapshots are kept for a day.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-redshift-cluster.html
func described(id, properties string) cluster {
	var all map[string]any
	if json.Unmarshal([]byte(properties), &all) != nil {
		all = nil
	}
	text := func(name string) string {
		value, _ := template.Text(all[name])
		return value
	}
	number := func(name string) int {
		if n, err := strconv.Atoi(text(name)); err == nil {
			return n
		}
		return 1
	}
	one := cluster{ClusterIdentifier: id, NodeType: text("NodeType"), NumberOfNodes: number("NumberOfNodes"), AutomatedSnapshotRetentionPeriod: number("AutomatedSnapshotRetentionPeriod")}
	if module := text("HsmConfigurationIdentifier"); module != "" {
		one.HsmStatus = &hsm{module}
	}
	return one
}

// answer writes the answer to an action: what it is about, or the list of these if the action describes them.
func answer[T any](w http.ResponseWriter, action, list string, all ...T) {
	said := ""
	for _, one := range all {
		text, err := xml.Marshal(one)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		said += string(text)
	}
	if strings.HasPrefix(action, "Describe") {
		said = "<" + list + ">" + said + "</" + list + ">"
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write([]byte("<" + action + `Response xmlns="http://redshift.amazonaws.com/doc/2012-12-01/"><` + action + "Result>" + said + "</" + action + "Result></" + action + "Response>")) // the client is gone if it fails
}
