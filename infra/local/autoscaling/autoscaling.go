// Package autoscaling emulates EC2 Auto Scaling on this machine as far as hooks and suspended stacks use it: it suspends and resumes the processes
// of groups that stacks have created, and sets their sizes. A group has at once as many instances as it is to have.
package autoscaling

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// group is the resource type of a group.
const group = "AWS::AutoScaling::AutoScalingGroup"

// processes are those that can be suspended.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html
var processes = []string{"AZRebalance", "AddToLoadBalancer", "AlarmNotification", "HealthCheck", "InstanceRefresh", "Launch", "ReplaceUnhealthy", "ScheduledActions", "Terminate"}

// Service is an http.Handler that speaks the query protocol of Auto Scaling. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)

	mu sync.Mutex
	kept
}

// kept is what requests have made of the resources.
type kept struct {
	Suspended map[string][]string // sorted, by the place and name of the group
	Resized   map[string]resized  // the sizes that requests have set, by the same
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// ServeHTTP answers SuspendProcesses, ResumeProcesses and UpdateAutoScalingGroup with sizes, and DescribeAutoScalingGroups of names.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	if !gateway.Form(w, r) {
		return
	}
	action, name, some := r.Form.Get("Action"), r.Form.Get("AutoScalingGroupName"), members(r, "ScalingProcesses")
	switch {
	case action == "DescribeAutoScalingGroups" && len(members(r, "AutoScalingGroupNames")) > 0:
		s.describe(w, r)
	case action == "DescribeAutoScalingGroups":
		refuse("ValidationError", "the local emulator of Auto Scaling describes groups by their names only")
	case action != "SuspendProcesses" && action != "ResumeProcesses" && action != "UpdateAutoScalingGroup":
		refuse("InvalidAction", "the local emulator of Auto Scaling has no "+action)
	case !s.exists(r, name):
		refuse("ValidationError", "AutoScalingGroup name not found - AutoScalingGroup '"+name+"' not found")
	case slices.ContainsFunc(some, func(p string) bool { return !slices.Contains(processes, p) }):
		refuse("ValidationError", "a process is none of those that can be suspended")
	case action == "UpdateAutoScalingGroup":
		if err := s.resize(r, name); err != nil {
			refuse("ValidationError", err.Error())
			return
		}
		answer(w, action, nil)
	default:
		s.change(s.key(r, name), some, action == "SuspendProcesses")
		answer(w, action, nil)
	}
}

// members is a list of a request.
func members(r *http.Request, list string) []string { return gateway.List(r, list+".member") }

// key is the place and name of a group.
func (s *Service) key(r *http.Request, name string) string {
	account, region := s.Place(r)
	return account + ":" + region + ":" + name
}

// change suspends or resumes some processes, or all if none is named.
func (s *Service) change(key string, some []string, suspend bool) {
	if some == nil {
		some = processes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Suspended == nil {
		s.Suspended = make(map[string][]string)
	}
	left := slices.DeleteFunc(slices.Clone(s.Suspended[key]), func(p string) bool { return slices.Contains(some, p) })
	if suspend {
		left = append(left, some...)
	}
	slices.Sort(left)
	s.Suspended[key] = slices.Compact(left)
}

// A described is a group of an answer.
type described struct {
	AutoScalingGroupName string
	size
	Instances          []instance `xml:"Instances>member"`
	SuspendedProcesses []process  `xml:"SuspendedProcesses>member"`
}

// A process is one that is suspended.
type process struct{ ProcessName, SuspensionReason string }

// describe lists the groups that a request names and that exist.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html
func (s *Service) describe(w http.ResponseWriter, r *http.Request) {
	var list struct {
		XMLName xml.Name    `xml:"AutoScalingGroups"`
		Members []described `xml:"member"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range members(r, "AutoScalingGroupNames") {
		if !s.exists(r, name) {
			continue
		}
		one := described{AutoScalingGroupName: name, size: s.sizeOf(r, name)}
		for i := range one.DesiredCapacity {
			one.Instances = append(one.Instances, instance{fmt.Sprintf("i-%017d", i), "InService", s.typeOf(r, name)})
		}
		for _, p := range s.Suspended[s.key(r, name)] {
			one.SuspendedProcesses = append(one.SuspendedProcesses, process{p, "User suspended"})
		}
		list.Members = append(list.Members, one)
	}
	answer(w, "DescribeAutoScalingGroups", list)
}

// answer writes the answer to an action.
func answer(w http.ResponseWriter, action string, result any) {
	gateway.Answer(w, "http://autoscaling.amazonaws.com/doc/2011-01-01/", action, result)
}
