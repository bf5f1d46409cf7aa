// Package ecs emulates ECS on this machine as far as suspended stacks use it: it describes the services that stacks have created, and sets how
// many tasks they have. There are no containers.
package ecs

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// Service is an http.Handler that speaks ECS's JSON protocol. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Takes is how long it takes to start or stop tasks.
	Takes time.Duration

	mu sync.Mutex
	kept
}

// kept is what requests have made of the resources.
type kept struct {
	Scaled map[string]scaled // by ARN
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// A scaled is what a request has made of a service, and the stack and the properties that the service had then: an update of the service sets
// the desired count again, and another stack has another service of that name.
type scaled struct {
	Desired, Before   int
	Over              time.Time // when so many tasks run
	Properties, Stack string
}

// A described is a service of an answer.
type described struct {
	ServiceArn         string `json:"serviceArn"`
	ServiceName        string `json:"serviceName"`
	Status             string `json:"status"`
	DesiredCount       int    `json:"desiredCount"`
	RunningCount       int    `json:"runningCount"`
	PendingCount       int    `json:"pendingCount"`
	SchedulingStrategy string `json:"schedulingStrategy"`
	TaskDefinition     string `json:"taskDefinition,omitempty"`
	LaunchType         string `json:"launchType,omitempty"`
	Strategy           []used `json:"capacityProviderStrategy,omitempty"`
}

// A used is a capacity provider of a service.
type used struct {
	CapacityProvider string `json:"capacityProvider"`
}

// ServeHTTP answers DescribeServices of ARNs, DescribeTaskDefinition, and UpdateService of a desired count.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	var in struct {
		Cluster      string
		Services     []string
		Service      string
		DesiredCount *int

		TaskDefinition string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch operation := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]; {
	case operation == "DescribeServices" && (len(in.Services) == 0 || len(in.Services) > 10):
		refuse("InvalidParameterException", "Services must contain 1 to 10 services.")
	case operation == "DescribeServices":
		s.describe(w, r, in.Cluster, in.Services)
	case operation == "DescribeTaskDefinition":
		properties, _, ok := s.Find(r, "AWS::ECS::TaskDefinition", in.TaskDefinition)
		if !ok {
			refuse("ClientException", "Unable to describe task definition.")
			return
		}
		answer(w, map[string]any{"taskDefinition": definition(in.TaskDefinition, properties)})
	case operation != "UpdateService" || in.DesiredCount == nil:
		refuse("UnsupportedFeatureException", "the local emulator of ECS has no "+operation+" but of a desired count")
	default:
		properties, stack, ok := s.find(r, in.Cluster, in.Service)
		switch {
		case !ok:
			refuse("ServiceNotFoundException", "Service not found.")
		case daemon(properties):
			refuse("InvalidParameterException", "The daemon scheduling strategy does not support a desired count for services.")
		case *in.DesiredCount < 0:
			refuse("InvalidParameterException", "desiredCount can not be negative.")
		default:
			if s.Scaled == nil {
				s.Scaled = make(map[string]scaled)
			}
			before := s.described(in.Service, properties, stack).RunningCount
			s.Scaled[in.Service] = scaled{*in.DesiredCount, before, time.Now().Add(s.Takes), properties, stack}
			answer(w, map[string]any{"service": s.described(in.Service, properties, stack)})
		}
	}
}

// find returns the properties of a service of a cluster, and the ID of its stack. A request that names no cluster is about the cluster default.
func (s *Service) find(r *http.Request, cluster, arn string) (properties, stack string, ok bool) {
	if cluster == "" {
		cluster = "default"
	}
	if !strings.Contains(arn, ":service/"+cluster+"/") {
		return "", "", false
	}
	return s.Find(r, "AWS::ECS::Service", arn)
}

// describe lists the services that a request names. Those that do not exist are failures.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeServices.html
func (s *Service) describe(w http.ResponseWriter, r *http.Request, cluster string, arns []string) {
	services, failures := []described{}, []map[string]string{}
	for _, arn := range arns {
		if properties, stack, ok := s.find(r, cluster, arn); ok {
			services = append(services, s.described(arn, properties, stack))
		} else {
			failures = append(failures, map[string]string{"arn": arn, "reason": "MISSING"})
		}
	}
	answer(w, map[string]any{"services": services, "failures": failures})
}

// definition describes a task definition of a template, as far as a task on Fargate is charged for it.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_TaskDefinition.html
func definition(arn, properties string) map[string]any {
	d := map[string]any{"taskDefinitionArn": arn, "status": "ACTIVE"}
	for name, key := range map[string]string{"Cpu": "cpu", "Memory": "memory"} {
		if text := resource.Property(properties, name); text != "" {
			d[key] = text
		}
	}
	var all struct {
		RuntimePlatform  struct{ CpuArchitecture, OperatingSystemFamily string }
		EphemeralStorage struct{ SizeInGiB json.Number }
	}
	if json.Unmarshal([]byte(properties), &all) != nil {
		return d
	}
	if p := all.RuntimePlatform; p.CpuArchitecture+p.OperatingSystemFamily != "" {
		d["runtimePlatform"] = map[string]string{"cpuArchitecture": p.CpuArchitecture, "operatingSystemFamily": p.OperatingSystemFamily}
	}
	if n, err := all.EphemeralStorage.SizeInGiB.Int64(); err == nil {
		d["ephemeralStorage"] = map[string]int64{"sizeInGiB": n}
	}
	return d
}

// placed returns the capacity providers of a service, or else its launch type, which is EC2 if the template has none.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ecs-service.html
func placed(properties string) ([]used, string) {
	var all struct{ CapacityProviderStrategy []used }
	if json.Unmarshal([]byte(properties), &all) == nil && len(all.CapacityProviderStrategy) > 0 {
		return all.CapacityProviderStrategy, ""
	}
	return nil, cmp.Or(resource.Property(properties, "LaunchType"), "EC2")
}

// described describes a service. It has the desired count of its template until a request sets another one; 1 if the template has none.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ecs-service.html
func (s *Service) described(arn, properties, stack string) described {
	d := described{ServiceArn: arn, ServiceName: arn[strings.LastIndexByte(arn, '/')+1:], Status: "ACTIVE", SchedulingStrategy: "REPLICA", TaskDefinition: resource.Property(properties, "TaskDefinition")}
	d.Strategy, d.LaunchType = placed(properties)
	if daemon(properties) {
		d.SchedulingStrategy = "DAEMON"
	}
	desired, err := strconv.Atoi(resource.Property(properties, "DesiredCount"))
	if err != nil {
		desired = 1
	}
	d.DesiredCount, d.RunningCount = desired, desired
	if set, ok := s.Scaled[arn]; ok && set.Properties == properties && set.Stack == stack {
		d.DesiredCount, d.RunningCount = set.Desired, set.Desired
		if time.Now().Before(set.Over) {
			d.RunningCount = set.Before
		}
	}
	return d
}

// daemon reports whether a service has a task on each container instance.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_services.html#service_scheduler_daemon
func daemon(properties string) bool {
	return resource.Property(properties, "SchedulingStrategy") == "DAEMON"
}

// answer writes an answer.
func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(body) // the client is gone if it fails
}
