package cloudformation

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// call is one operation of the API.
type call struct {
	mutates bool
	serve   func(s *Service, ctx context.Context, form *field) (any, error)
}

// reading and changing make a call from a method on the SDK's own types.
func reading[In, Out any](serve func(*Service, context.Context, *In) (*Out, error)) call {
	return call{serve: typed(serve)}
}

func changing[In, Out any](serve func(*Service, context.Context, *In) (*Out, error)) call {
	return call{mutates: true, serve: typed(serve)}
}

func typed[In, Out any](serve func(*Service, context.Context, *In) (*Out, error)) func(*Service, context.Context, *field) (any, error) {
	return func(s *Service, ctx context.Context, form *field) (any, error) {
		in := new(In)
		if err := form.fill(reflect.ValueOf(in).Elem()); err != nil {
			return nil, err
		}
		return serve(s, ctx, in)
	}
}

var operations = map[string]call{
	"CreateStack":                       changing((*Service).createStack),
	"UpdateStack":                       changing((*Service).updateStack),
	"DeleteStack":                       changing((*Service).deleteStack),
	"ContinueUpdateRollback":            changing((*Service).continueUpdateRollback),
	"CancelUpdateStack":                 changing((*Service).cancelUpdateStack),
	"UpdateTerminationProtection":       changing((*Service).updateTerminationProtection),
	"SetStackPolicy":                    changing((*Service).setStackPolicy),
	"GetStackPolicy":                    reading((*Service).getStackPolicy),
	"DetectStackDrift":                  changing((*Service).detectStackDrift),
	"CreateChangeSet":                   changing((*Service).createChangeSet),
	"ExecuteChangeSet":                  changing((*Service).executeChangeSet),
	"DeleteChangeSet":                   changing((*Service).deleteChangeSet),
	"CreateStackRefactor":               changing((*Service).createStackRefactor),
	"ExecuteStackRefactor":              changing((*Service).executeStackRefactor),
	"DescribeStackRefactor":             reading((*Service).describeStackRefactor),
	"ListStackRefactors":                reading((*Service).listStackRefactors),
	"ListStackRefactorActions":          reading((*Service).listStackRefactorActions),
	"DescribeStackDriftDetectionStatus": reading((*Service).describeStackDriftDetectionStatus),
	"DescribeStackResourceDrifts":       reading((*Service).describeStackResourceDrifts),
	"DescribeChangeSet":                 reading((*Service).describeChangeSet),
	"ListChangeSets":                    reading((*Service).listChangeSets),
	"DescribeStacks":                    reading((*Service).describeStacks),
	"DescribeStackEvents":               reading((*Service).describeStackEvents),
	"DescribeStackResources":            reading((*Service).describeStackResources),
	"DescribeStackResource":             reading((*Service).describeStackResource),
	"ListStackResources":                reading((*Service).listStackResources),
	"ListStacks":                        reading((*Service).listStacks),
	"GetTemplate":                       reading((*Service).getTemplate),
	"DescribeAccountLimits":             reading((*Service).describeAccountLimits),
	"ValidateTemplate":                  reading((*Service).validateTemplate),
	"EstimateTemplateCost":              reading((*Service).estimateTemplateCost),
	"ListExports":                       reading((*Service).listExports),
	"ListImports":                       reading((*Service).listImports),
}

// FaultsPath is the path of the list of faults; see Fault.
const FaultsPath = "/_faults"

// ServeHTTP answers the AWS Query protocol, and manages the faults at FaultsPath.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == FaultsPath {
		s.serveFaults(w, r)
		return
	}
	request := s.requestID()
	action, out, err := s.answer(w, r)
	status, body := http.StatusOK, []byte(nil)
	if err != nil {
		p := asProblem(err)
		status, body = p.status, errorXML(p, request)
	} else {
		body = answerXML(action, request, out)
	}
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("X-Amzn-Requestid", request)
	w.WriteHeader(status)
	// If the write fails, the client has disconnected; its request has been carried out.
	_, _ = w.Write(body)
}

func (s *Service) answer(w http.ResponseWriter, r *http.Request) (action string, out any, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<20)
	if err := r.ParseForm(); err != nil {
		return "", nil, refusal("MalformedInput", "read the request: %v", err)
	}
	form := fields(r.Form)
	action = r.Form.Get("Action")
	op, ok := operations[action]
	if !ok {
		return action, nil, refusal("InvalidAction", "Could not find operation %s for version %s", action, aws.ToString(form.text("Version")))
	}
	name := s.about(r.Form)
	if err := s.admit(action, name, op.mutates); err != nil {
		return action, nil, err
	}
	if out, err = op.serve(s, withUnchecked(r), form); err != nil {
		return action, nil, err
	}
	return action, out, s.errorAfter(action, name)
}

// about is the stack that a request is about: of a stack refactor, the last one; "" if there is none.
func (s *Service) about(form url.Values) string {
	if name := form.Get("StackName"); name != "" {
		return name
	}
	if id := form.Get("StackRefactorId"); id != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		r, err := s.refactor(&id)
		if err != nil {
			return ""
		}
		return r.Stacks[len(r.Stacks)-1].ID
	}
	for n := maxRefactored; n > 0; n-- {
		if name := form.Get("StackDefinitions.member." + strconv.Itoa(n) + ".StackName"); name != "" {
			return name
		}
	}
	return ""
}

// text is the value of a field; nil if it is absent.
func (f *field) text(name string) *string {
	if at, ok := f.below[name]; ok {
		return &at.value
	}
	return nil
}

// admit counts a request, unless a fault refuses it.
func (s *Service) admit(action, stack string, mutates bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refused, err := s.throttled(action)
	if err != nil {
		return err
	}
	if refused {
		s.throttledRequests[action]++
		return refusal("Throttling", "Rate exceeded")
	}
	p, err := s.errorFault(action, plainName(stack), false)
	if err != nil {
		return err
	}
	if p != nil {
		return p
	}
	if mutates {
		s.calls[action]++
	} else {
		s.reads[action]++
	}
	return nil
}

// errorAfter replaces the answer to a request that was carried out, if a fault says so.
func (s *Service) errorAfter(action, stack string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.errorFault(action, plainName(stack), true)
	if p != nil {
		return p
	}
	return err
}

// plainName is the name in a stack's ID, or the name itself.
func plainName(nameOrID string) string {
	if parts := strings.Split(nameOrID, "/"); len(parts) == 3 && strings.HasPrefix(nameOrID, "arn:") {
		return parts[1]
	}
	return nameOrID
}
