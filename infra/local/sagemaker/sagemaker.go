// Package sagemaker emulates SageMaker on this machine as far as suspended stacks use it: it stops and starts the notebook instances that stacks
// have created. There are no notebooks.
package sagemaker

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// Service is an http.Handler that speaks SageMaker's JSON protocol. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Having lists the physical IDs of the resources of a type that stacks have, in the account and region of a request.
	Having func(r *http.Request, kind string) []string
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to stop or start a notebook instance.
	Takes time.Duration

	mu sync.Mutex
	kept
}

// kept is what requests have made of the resources.
type kept struct {
	Notebooks resource.Switches // by stack and ARN
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// statuses are those of notebook instances.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeNotebookInstance.html
var statuses = resource.Statuses{On: "InService", Starting: "Pending", Off: "Stopped", Stopping: "Stopping"}

// kind is the type of notebook instances, whose physical IDs are their ARNs.
const kind = "AWS::SageMaker::NotebookInstance"

// nameOf is the name of a notebook instance as it was given, which may have capitals, unlike its ARN. CloudFormation gives one to a notebook instance that has none.
func nameOf(properties, arn string) string {
	return cmp.Or(resource.Property(properties, "NotebookInstanceName"), arn[strings.LastIndexByte(arn, '/')+1:])
}

// ServeHTTP answers DescribeNotebookInstance, ListNotebookInstances, StopNotebookInstance and StartNotebookInstance. AWS does not say whether it compares capitals in names: the emulator
// does.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	var in struct{ NotebookInstanceName string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	operation := r.Header.Get("X-Amz-Target")[strings.LastIndexByte(r.Header.Get("X-Amz-Target"), '.')+1:]
	if operation == "ListNotebookInstances" {
		s.list(w, r)
		return
	}
	account, region := s.Place(r)
	arn := "arn:aws:sagemaker:" + region + ":" + account + ":notebook-instance/" + strings.ToLower(in.NotebookInstanceName)
	properties, stack, ok := s.Find(r, kind, arn)
	if !ok || nameOf(properties, arn) != in.NotebookInstanceName {
		refuse("ValidationException", "RecordNotFound")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := stack + " " + arn
	var answer any = struct{}{}
	switch operation {
	case "DescribeNotebookInstance":
		answer = map[string]string{
			"NotebookInstanceArn": arn, "NotebookInstanceName": in.NotebookInstanceName, "NotebookInstanceStatus": s.Notebooks.Status(key, statuses), "InstanceType": resource.Property(properties, "InstanceType"),
		}
	case "StopNotebookInstance", "StartNotebookInstance":
		if message := s.change(key, arn, operation == "StartNotebookInstance"); message != "" {
			refuse("ValidationException", message)
			return
		}
	default:
		refuse("UnknownOperationException", "the local emulator of SageMaker has no "+operation)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(answer) // the client is gone if it fails
}

// list lists all notebook instances, on one page.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListNotebookInstances.html
func (s *Service) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []map[string]string{}
	for _, arn := range s.Having(r, kind) {
		if properties, stack, ok := s.Find(r, kind, arn); ok {
			all = append(all, map[string]string{"NotebookInstanceArn": arn, "NotebookInstanceName": nameOf(properties, arn), "NotebookInstanceStatus": s.Notebooks.Status(stack+" "+arn, statuses)})
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{"NotebookInstances": all}) // the client is gone if it fails
}

// change stops a notebook instance that is in service, or starts one that is stopped. It returns what SageMaker says about another one.
// https://github.com/aws/amazon-sagemaker-examples/issues/1094
func (s *Service) change(key, arn string, on bool) string {
	from, to := statuses.On, statuses.Stopping
	if on {
		from, to = statuses.Off, statuses.Starting
	}
	if is := s.Notebooks.Status(key, statuses); is != from {
		if on {
			from += ", Failed"
		}
		return "Status (" + is + ") not in ([" + from + "]). Unable to transition to (" + to + ") for Notebook Instance (" + arn + ")"
	}
	s.Notebooks.Set(key, on, s.Takes)
	return ""
}
