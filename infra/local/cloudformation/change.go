package cloudformation

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// repeated finds the stack and the request that were accepted with this token before. A token belongs to one request
// for good: a stack that is created later with the same name knows it too.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (ClientRequestToken)
func (s *Service) repeated(nameOrID, action string, in any) (*stack, acceptedRequest, error) {
	token, digest, err := digest(in)
	if err != nil || token == "" {
		return nil, acceptedRequest{}, err
	}
	all := s.named[nameOrID]
	if st, ok := s.byID[nameOrID]; ok {
		all = s.named[st.Name]
	}
	for _, st := range all {
		h, ok := st.Requests[token]
		switch {
		case !ok:
		case h.Action == action && h.Digest == digest:
			return st, h, nil
		default:
			return nil, acceptedRequest{}, refusal("TokenAlreadyExistsException", "Token already exists: %s", token)
		}
	}
	return nil, acceptedRequest{}, nil
}

// rememberRequest stores an accepted request under its token.
func (s *Service) rememberRequest(st *stack, action, operation string, in any) error {
	token, digest, err := digest(in)
	if err != nil || token == "" {
		return err
	}
	if st.Requests == nil {
		st.Requests = map[string]acceptedRequest{}
	}
	st.Requests[token] = acceptedRequest{Action: action, Digest: digest, Operation: operation}
	return nil
}

// digest returns the token of a request, and a digest of all its other fields.
func digest(in any) (token, sum string, err error) {
	v := reflect.New(reflect.TypeOf(in).Elem()).Elem()
	v.Set(reflect.ValueOf(in).Elem())
	field := v.FieldByName("ClientRequestToken")
	if field.IsNil() {
		return "", "", nil
	}
	token = field.Elem().String()
	if err := checkToken(&token); err != nil {
		return "", "", err
	}
	field.SetZero()
	body, err := json.Marshal(v.Interface())
	if err != nil {
		return "", "", err
	}
	return token, hexa(hash(string(body)), 32), nil
}

func (s *Service) createStack(ctx context.Context, in *cfn.CreateStackInput) (*cfn.CreateStackOutput, error) {
	if err := checkName("stackName", in.StackName); err != nil {
		return nil, err
	}
	if in.DisableRollback != nil && in.OnFailure != "" {
		return nil, invalid("Only one of DisableRollback and OnFailure can be specified.")
	}
	mode, err := deploymentOf(in.DeploymentConfig, in.DisableRollback)
	if err != nil {
		return nil, err
	}
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	out := &cfn.CreateStackOutput{}
	return out, s.locked(func() error {
		if st, h, err := s.repeated(*in.StackName, "CreateStack", in); err != nil || st != nil {
			if st != nil {
				out.StackId, out.OperationId = &st.ID, &h.Operation
			}
			return err
		}
		if s.find(*in.StackName) != nil {
			return refusal("AlreadyExistsException", "Stack [%s] already exists", *in.StackName)
		}
		if err := s.refuseFull(); err != nil {
			return err
		}
		if _, err := readPolicy(in.StackPolicyBody); err != nil {
			return err
		}
		st := s.newStack(*in.StackName)
		st.Policy = aws.ToString(in.StackPolicyBody)
		st.OnFailure, st.Deployment = in.OnFailure, mode
		st.Protected, st.RetainNew = aws.ToBool(in.EnableTerminationProtection), aws.ToBool(in.RetainExceptOnCreate)
		st.Timeout = aws.ToInt32(in.TimeoutInMinutes)
		operation, err := s.create(st, aws.ToString(in.ClientRequestToken), desired{
			body: body, parameters: in.Parameters, tags: in.Tags, capabilities: in.Capabilities, types: in.ResourceTypes,
			role: in.RoleARN, notifications: in.NotificationARNs, triggers: in.RollbackConfiguration, unchecked: unchecked(ctx),
		})
		if err != nil {
			return err
		}
		s.add(st)
		out.StackId, out.OperationId = &st.ID, &operation
		return s.rememberRequest(st, "CreateStack", operation, in)
	})
}

// newStack is a stack without a version and without resources.
func (s *Service) newStack(name string) *stack {
	return &stack{
		ID: s.stackID(name, len(s.named[name])), Name: name, Created: time.Now(),
		Resources: map[string]*resource{},
	}
}

// create starts the creation of a stack. A stack whose creation is refused does not change.
func (s *Service) create(st *stack, token string, w desired) (operation string, err error) {
	v, t, err := s.version(w, nil)
	if err != nil {
		return "", err
	}
	b, err := s.evaluate(st, v, t)
	if err != nil {
		return "", err
	}
	v.Imports = b.imports
	st.Now = *v
	operation = st.newOperation(types.OperationTypeCreateStack)
	f := &stackOperation{Phase: creating, Token: token, ID: operation, Duration: s.duration(st), Timeout: time.Duration(st.Timeout) * time.Minute, Watched: time.Duration(v.Monitoring) * time.Minute,
		Levels: b.levels(), Outputs: b.outputs, Failure: b.failure}
	st.Operation = f
	s.setStatus(st, types.StackStatusCreateInProgress, "User Initiated")
	s.applyFault(st, "create", f)
	s.start(st, f)
	return operation, nil
}

func (s *Service) updateStack(ctx context.Context, in *cfn.UpdateStackInput) (*cfn.UpdateStackOutput, error) {
	mode, err := deploymentOf(in.DeploymentConfig, in.DisableRollback)
	if err != nil {
		return nil, err
	}
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	out := &cfn.UpdateStackOutput{}
	return out, s.locked(func() error {
		name := aws.ToString(in.StackName)
		if st, h, err := s.repeated(name, "UpdateStack", in); err != nil || st != nil {
			if st != nil {
				out.StackId, out.OperationId = &st.ID, &h.Operation
			}
			return err
		}
		st := s.find(name)
		if st == nil || !st.exists() {
			return invalid("Stack [%s] does not exist", name)
		}
		if _, err := readPolicy(in.StackPolicyBody); err != nil {
			return err
		}
		if aws.ToBool(in.UsePreviousTemplate) {
			body = st.Now.Template
		}
		operation, err := s.update(st, aws.ToString(in.ClientRequestToken), mode, desired{
			body: body, parameters: in.Parameters, tags: in.Tags, capabilities: in.Capabilities, types: in.ResourceTypes,
			role: in.RoleARN, notifications: in.NotificationARNs, triggers: in.RollbackConfiguration, unchecked: unchecked(ctx), during: in.StackPolicyDuringUpdateBody,
		})
		if err != nil {
			return err
		}
		st.Policy = cmp.Or(aws.ToString(in.StackPolicyBody), st.Policy)
		out.StackId, out.OperationId = &st.ID, &operation
		return s.rememberRequest(st, "UpdateStack", operation, in)
	})
}

// update starts the update of a stack.
func (s *Service) update(st *stack, token string, mode deployment, w desired) (operation string, err error) {
	if !updatable(st.Status) {
		return "", invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
	}
	if err := checkFailedState(st, mode.DisableRollback); err != nil {
		return "", err
	}
	v, t, err := s.version(w, &st.Now)
	if err != nil {
		return "", err
	}
	b, err := s.evaluate(st, v, t)
	if err != nil {
		return "", err
	}
	policy, err := st.policyOf(w.during)
	if err != nil {
		return "", err
	}
	b.obey(policy)
	failed := st.Status == types.StackStatusCreateFailed || st.Status == types.StackStatusUpdateFailed
	if !failed && !b.differs(&st.Now, v) {
		return "", invalid("No updates are to be performed.")
	}
	if st.Before == nil {
		was := st.Now
		st.Before = &was
	}
	v.Imports, v.Outputs = b.imports, st.Now.Outputs
	st.Now, st.Updated, st.Deployment = *v, time.Now(), mode
	st.outdateChangeSets()
	operation = st.newOperation(types.OperationTypeUpdateStack)
	f := &stackOperation{Phase: updating, Token: token, ID: operation, Duration: s.duration(st) * 3 / 4,
		Levels: b.levels(), Outputs: b.outputs, Cleanup: b.cleanup, Failure: b.failure, Watched: time.Duration(v.Monitoring) * time.Minute}
	st.Operation = f
	s.setStatus(st, types.StackStatusUpdateInProgress, "User Initiated")
	s.applyFault(st, "update", f)
	s.start(st, f)
	return operation, nil
}

// checkFailedState refuses the update of a stack whose last operation failed without rollback, unless rollback is
// disabled for this update too.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
func checkFailedState(st *stack, disableRollback bool) error {
	switch {
	case st.Status != types.StackStatusCreateFailed && st.Status != types.StackStatusUpdateFailed:
		return nil
	case st.Status == types.StackStatusCreateFailed && st.OnFailure == types.OnFailureDoNothing:
		return invalid("This stack cannot be updated from [%s] state because it contains [on-failure: DO_NOTHING]. Please use disable-rollback option instead during stack creation.", st.Status)
	case !disableRollback:
		return invalid("This stack is currently in a non-terminal [%s] state. To update the stack from this state, please use the disable-rollback parameter with update-stack API. To rollback to the last known good state, use the rollback-stack API", st.Status)
	}
	return nil
}

// updatable reports whether a stack with this status can be updated.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html (stack status codes)
func updatable(status types.StackStatus) bool {
	switch status {
	case types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusUpdateRollbackComplete,
		types.StackStatusImportComplete, types.StackStatusImportRollbackComplete,
		types.StackStatusCreateFailed, types.StackStatusUpdateFailed:
		return true
	}
	return false
}
