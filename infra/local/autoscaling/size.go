package autoscaling

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A size is the sizes of a group.
type size struct{ MinSize, MaxSize, DesiredCapacity int }

// resized is the size that requests have set, and the stack and the properties that the group had then: an update of the group sets the sizes
// again, and another stack has another group of that name.
type resized struct {
	size
	Properties, Stack string
}

// An instance is one of a group.
type instance struct{ InstanceId, LifecycleState, InstanceType string }

// typeOf is the type of the instances of a group: that of its launch configuration or launch template, if a stack has it.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Instance.html
func (s *Service) typeOf(r *http.Request, name string) string {
	properties, _, _ := s.Find(r, group, name)
	var all struct {
		LaunchConfigurationName string
		LaunchTemplate          struct{ LaunchTemplateId string }
	}
	if json.Unmarshal([]byte(properties), &all) != nil {
		return ""
	}
	var made struct {
		InstanceType       string
		LaunchTemplateData struct{ InstanceType string }
	}
	for kind, id := range map[string]string{"AWS::AutoScaling::LaunchConfiguration": all.LaunchConfigurationName, "AWS::EC2::LaunchTemplate": all.LaunchTemplate.LaunchTemplateId} {
		if text, _, ok := s.Find(r, kind, id); ok && id != "" && json.Unmarshal([]byte(text), &made) == nil {
			return made.InstanceType + made.LaunchTemplateData.InstanceType
		}
	}
	return ""
}

// exists reports whether there is a group.
func (s *Service) exists(r *http.Request, name string) bool {
	_, _, ok := s.Find(r, group, name)
	return ok
}

// sizeOf returns the sizes of a group that exists: those of the last request, or those of its template. Without a desired capacity, it is
// the minimum.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-autoscaling-autoscalinggroup.html
func (s *Service) sizeOf(r *http.Request, name string) size {
	properties, stack, _ := s.Find(r, group, name)
	if set, ok := s.Resized[s.key(r, name)]; ok && set.Properties == properties && set.Stack == stack {
		return set.size
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(properties), &all); err != nil {
		return size{}
	}
	number := func(property string, missing int) int {
		text, _ := template.Text(all[property])
		n, err := strconv.Atoi(text)
		if err != nil {
			return missing
		}
		return n
	}
	least := number("MinSize", 0)
	return size{least, number("MaxSize", least), number("DesiredCapacity", least)}
}

// resize sets the sizes that a request has. The desired capacity follows the other two if the request does not have it, and lies between
// them.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_UpdateAutoScalingGroup.html
func (s *Service) resize(r *http.Request, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.sizeOf(r, name)
	for parameter, field := range map[string]*int{"MinSize": &to.MinSize, "MaxSize": &to.MaxSize, "DesiredCapacity": &to.DesiredCapacity} {
		if !r.Form.Has(parameter) {
			continue
		}
		n, err := strconv.Atoi(r.Form.Get(parameter))
		if err != nil || n < 0 {
			return fmt.Errorf("%s is no size: %q", parameter, r.Form.Get(parameter))
		}
		*field = n
	}
	if !r.Form.Has("DesiredCapacity") {
		to.DesiredCapacity = min(max(to.DesiredCapacity, to.MinSize), to.MaxSize)
	}
	if to.MinSize > to.MaxSize {
		return errors.New("Max bound, " + strconv.Itoa(to.MaxSize) + ", must be greater than or equal to min bound, " + strconv.Itoa(to.MinSize))
	}
	if to.DesiredCapacity < to.MinSize || to.DesiredCapacity > to.MaxSize {
		return errors.New("Desired capacity:" + strconv.Itoa(to.DesiredCapacity) + " must be between the specified min size:" + strconv.Itoa(to.MinSize) + " and max size:" + strconv.Itoa(to.MaxSize))
	}
	if s.Resized == nil {
		s.Resized = make(map[string]resized)
	}
	properties, stack, _ := s.Find(r, group, name)
	s.Resized[s.key(r, name)] = resized{to, properties, stack}
	return nil
}
