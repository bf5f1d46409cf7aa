// Package ec2 emulates EC2 on this machine as far as suspended stacks and snapshots use it: it stops and starts the instances that stacks have created, and makes snapshots
// of their volumes. There are no machines, and no disks.
package ec2

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// Service is an http.Handler that speaks the query protocol of EC2. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to stop or start an instance, and to make a snapshot.
	Takes time.Duration

	mu sync.Mutex
	kept
	failing map[string]bool // volumes whose next snapshot fails
}

// kept is what requests have made of the resources.
type kept struct {
	States    map[string]state // by ID; running if it is missing
	Snapshots []snapshot       // in the order in which they were made
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// A state is what a request has made of an instance.
type state struct {
	On   bool
	Over time.Time // when it is stopped or started
}

// name is that of the state, with its code.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html
func (s state) name(now time.Time) (name string, code int) {
	switch over := !now.Before(s.Over); {
	case s.On && over:
		return "running", 16
	case s.On:
		return "pending", 0
	case over:
		return "stopped", 80
	}
	return "stopping", 64
}

// ServeHTTP answers DescribeInstances of IDs, StopInstances and StartInstances, and requests about volumes and their snapshots.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	if err := r.ParseForm(); err != nil {
		refuse("MalformedQueryString", err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch action := r.Form.Get("Action"); action {
	case "DescribeInstances":
		if r.Form.Get("Filter.1.Name") != "instance-id" {
			refuse("InvalidParameterValue", "the local emulator of EC2 describes instances by the filter instance-id only")
			return
		}
		s.describe(w, r)
	case "StopInstances", "StartInstances":
		ids := list(r, "InstanceId.")
		for _, id := range ids {
			if _, _, ok := s.Find(r, "AWS::EC2::Instance", id); !ok {
				refuse("InvalidInstanceID.NotFound", "The instance ID '"+id+"' does not exist")
				return
			}
			// An instance that is stopping cannot be started, and one that is pending cannot be stopped. In the requested state, nothing is changed.
			// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
			if is, _ := s.stateOf(id).name(time.Now()); is == "pending" && action == "StopInstances" || is == "stopping" && action == "StartInstances" {
				refuse("IncorrectInstanceState", "The instance '"+id+"' is not in a state from which it can be changed: "+is)
				return
			}
		}
		s.change(w, action, ids)
	case "DescribeVolumes":
		if r.Form.Get("Filter.1.Name") != "volume-id" {
			refuse("InvalidParameterValue", "the local emulator of EC2 describes volumes by the filter volume-id only")
			return
		}
		s.describeVolumes(w, r)
	case "CreateSnapshot":
		s.createSnapshot(w, r)
	case "DescribeSnapshots":
		s.describeSnapshots(w, r)
	case "DeleteSnapshot":
		s.deleteSnapshot(w, r)
	default:
		refuse("InvalidAction", "the local emulator of EC2 has no "+action)
	}
}

// list is the list of a request.
func list(r *http.Request, name string) []string {
	var all []string
	for i := 1; r.Form.Get(name+strconv.Itoa(i)) != ""; i++ {
		all = append(all, r.Form.Get(name+strconv.Itoa(i)))
	}
	return all
}

// stateOf is the state of an instance; running if no request has changed it.
func (s *Service) stateOf(id string) state {
	if is, changed := s.States[id]; changed {
		return is
	}
	return state{On: true}
}

// A named is a state of an answer.
type named struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

// namedOf is the state of an instance now.
func (s *Service) namedOf(id string) named {
	name, code := s.stateOf(id).name(time.Now())
	return named{code, name}
}

// An instance is one of an answer.
type instance struct {
	ID   string `xml:"instanceId"`
	Is   *named `xml:"instanceState"`
	Now  *named `xml:"currentState"`
	Was  *named `xml:"previousState"`
	Root string `xml:"rootDeviceType,omitempty"`

	Type    string     `xml:"instanceType,omitempty"`
	Usage   string     `xml:"usageOperation,omitempty"`
	Placing *placement `xml:"placement"`
}

// A placement says on whose hardware an instance runs.
type placement struct {
	Tenancy string `xml:"tenancy"`
}

// describe lists the instances that a request names and that exist. None has an instance store, and each image is of Linux. An instance whose
// template has no type is an m1.small.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-instance.html
func (s *Service) describe(w http.ResponseWriter, r *http.Request) {
	var all struct {
		XMLName   xml.Name   `xml:"DescribeInstancesResponse"`
		Instances []instance `xml:"reservationSet>item>instancesSet>item"`
	}
	for _, id := range list(r, "Filter.1.Value.") {
		if properties, _, ok := s.Find(r, "AWS::EC2::Instance", id); ok {
			is := s.namedOf(id)
			all.Instances = append(all.Instances, instance{
				ID: id, Is: &is, Root: "ebs", Type: cmp.Or(resource.Property(properties, "InstanceType"), "m1.small"), Usage: "RunInstances",
				Placing: &placement{cmp.Or(resource.Property(properties, "Tenancy"), "default")},
			})
		}
	}
	answer(w, all)
}

// change stops or starts instances.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StopInstances.html
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StartInstances.html
func (s *Service) change(w http.ResponseWriter, action string, ids []string) {
	var all struct {
		XMLName   xml.Name
		Instances []instance `xml:"instancesSet>item"`
	}
	all.XMLName.Local = action + "Response"
	if s.States == nil {
		s.States = make(map[string]state)
	}
	on := strings.HasPrefix(action, "Start")
	for _, id := range ids {
		was := s.namedOf(id)
		if s.stateOf(id).On != on {
			s.States[id] = state{on, time.Now().Add(s.Takes)}
		}
		now := s.namedOf(id)
		all.Instances = append(all.Instances, instance{ID: id, Now: &now, Was: &was})
	}
	answer(w, all)
}

// answer writes an answer.
func answer(w http.ResponseWriter, body any) {
	text, err := xml.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write(text) // the client is gone if it fails
}
