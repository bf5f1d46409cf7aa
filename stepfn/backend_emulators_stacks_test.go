package stepfn_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	item "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// found describes the live stack of a node, if there is one.
func (r *emulators) found(name string) *types.Stack {
	outside, physical := r.at(name)
	out, err := outside.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil || len(out.Stacks) == 0 {
		return nil
	}
	return &out.Stacks[0]
}

func (r *emulators) Status(name string) plan.Status {
	if s := r.found(name); s != nil {
		return plan.Status(s.StackStatus)
	}
	return ""
}

func (r *emulators) Deployed(name string) (version string, params map[string]string) {
	s := r.found(name)
	if s == nil {
		return "", nil
	}
	params = make(map[string]string)
	for _, p := range s.Parameters {
		params[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	return aws.ToString(s.Description), params
}

func (r *emulators) OutputOf(name, output string) string {
	if s := r.found(name); s != nil {
		for _, o := range s.Outputs {
			if aws.ToString(o.OutputKey) == output {
				return aws.ToString(o.OutputValue)
			}
		}
	}
	return ""
}

// ended returns when CloudFormation ended the last operation on the stack of a node.
func (r *emulators) ended(name string) time.Time {
	outside, physical := r.at(name)
	out, err := outside.DescribeStackEvents(r.Context(), &cloudformation.DescribeStackEventsInput{StackName: &physical})
	if err != nil {
		r.Fatal(err)
	}
	return aws.ToTime(out.StackEvents[0].Timestamp)
}

// firstStatus maps the first status of an operation of Stackwright to its verb.
var firstStatus = map[types.ResourceStatus]plan.Verb{
	"CREATE_IN_PROGRESS": plan.Create, "UPDATE_IN_PROGRESS": plan.Update, "DELETE_IN_PROGRESS": plan.Delete,
	"UPDATE_ROLLBACK_IN_PROGRESS": plan.Continue, "IMPORT_IN_PROGRESS": plan.Import,
}

// A request is an operation that a token of Stackwright started.
type request struct {
	at     time.Time
	number int
	what   string
}

// Requests lists the operations that tokens of Stackwright started, as the events of
// the stacks say.
func (r *emulators) Requests() []string {
	all := r.requestsIn("default")
	for target := range r.registered {
		all = append(all, r.requestsIn(target)...)
	}
	slices.SortFunc(all, func(a, b request) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) })
	var requests []string
	for _, q := range all {
		requests = append(requests, q.what)
	}
	return requests
}

func (r *emulators) requestsIn(target string) []request {
	all := r.refactorsIn(target)
	for _, st := range r.everStacksIn(target) {
		first := make(map[string]types.StackEvent) // of each token
		events := cloudformation.NewDescribeStackEventsPaginator(r.outsideIn(target), &cloudformation.DescribeStackEventsInput{StackName: st.StackId})
		for events.HasMorePages() {
			page, err := events.NextPage(r.Context())
			if err != nil {
				r.Fatal(err)
			}
			for _, e := range page.StackEvents {
				if aws.ToString(e.PhysicalResourceId) == aws.ToString(st.StackId) {
					first[aws.ToString(e.ClientRequestToken)] = e
				}
			}
		}
		for token, e := range first {
			_, number, _, ours := action.ParseToken(token)
			if !ours || r.seen[token] {
				continue
			}
			r.seen[token] = true
			what := string(firstStatus[e.ResourceStatus])
			if strings.HasSuffix(token, "-cancel") {
				what = "cancel"
			}
			node := at(strings.TrimPrefix(aws.ToString(st.StackName), "shop-"), target)
			all = append(all, request{aws.ToTime(e.Timestamp), number, node + "/" + what})
		}
	}
	return all
}

// refactorsIn lists the stack refactors with tokens of Stackwright that were executed. Their events have no token: each has
// the time of the next update that nobody else has started.
func (r *emulators) refactorsIn(target string) []request {
	out, err := r.outsideIn(target).ListStackRefactors(r.Context(), &cloudformation.ListStackRefactorsInput{})
	if err != nil {
		r.Fatal(err)
	}
	var all []request
	for _, s := range out.StackRefactorSummaries {
		token, id := aws.ToString(s.Description), aws.ToString(s.StackRefactorId)
		_, number, _, ours := action.ParseToken(token)
		switch s.ExecutionStatus {
		case types.StackRefactorExecutionStatusAvailable, types.StackRefactorExecutionStatusUnavailable, types.StackRefactorExecutionStatusObsolete:
			continue
		}
		if !ours || r.seen[id] {
			continue
		}
		r.seen[id] = true
		one, err := r.outsideIn(target).DescribeStackRefactor(r.Context(), &cloudformation.DescribeStackRefactorInput{StackRefactorId: &id})
		if err != nil {
			r.Fatal(err)
		}
		stack := one.StackIds[len(one.StackIds)-1]
		events, err := r.outsideIn(target).DescribeStackEvents(r.Context(), &cloudformation.DescribeStackEventsInput{StackName: &stack})
		if err != nil {
			r.Fatal(err)
		}
		for _, e := range slices.Backward(events.StackEvents) {
			if e.ClientRequestToken == nil && e.ResourceStatus == "UPDATE_IN_PROGRESS" && !r.seen[aws.ToString(e.EventId)] {
				r.seen[aws.ToString(e.EventId)] = true
				node := at(strings.TrimPrefix(aws.ToString(e.StackName), "shop-"), target)
				all = append(all, request{aws.ToTime(e.Timestamp), number, node + "/" + string(plan.MoveIn)})
				break
			}
		}
	}
	return all
}

// everStacks lists all stacks of the default target, deleted ones too.
func (r *emulators) everStacks() []types.StackSummary { return r.everStacksIn("default") }

// everStacksIn lists all stacks of a target, deleted ones too.
func (r *emulators) everStacksIn(target string) []types.StackSummary {
	var all []types.StackSummary
	pages := cloudformation.NewListStacksPaginator(r.outsideIn(target), &cloudformation.ListStacksInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, page.StackSummaries...)
	}
	return all
}

// Live brings a stack to a status with requests that Stackwright did not send.
func (r *emulators) Live(name string, s plan.Status) {
	outside, physical := r.at(name)
	ctx := r.Context()
	var err error
	switch now := r.Status(name); {
	case now.Busy(), now.Cleaning(): // the operation in progress brings it there
	case s == "CREATE_COMPLETE":
		_, err = outside.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: aws.String(string(stack{physical: physical, version: "theirs"}.template(nil)))})
	case s == "REVIEW_IN_PROGRESS":
		_, err = outside.CreateChangeSet(ctx, &cloudformation.CreateChangeSetInput{
			StackName: &physical, ChangeSetName: aws.String("theirs"), ChangeSetType: types.ChangeSetTypeCreate,
			TemplateBody: aws.String(string(stack{physical: physical, version: "theirs"}.template(nil))),
		})
	case s == "DELETE_COMPLETE":
		_, err = outside.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &physical})
	case s == "DELETE_FAILED":
		r.FailNext(name, plan.Delete)
		_, err = outside.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &physical})
	default:
		err = r.update(name, s)
	}
	if err != nil && !r.Status(name).Busy() { // if it is busy, only the answer was lost
		r.Fatalf("bring %s to %s: %v", name, s, err)
	}
	if s == "UPDATE_IN_PROGRESS" {
		return
	}
	r.waitNotBusy(name)
}

func (r *emulators) Foreign(name string, now, end plan.Status) {
	outside, physical := r.at(name)
	r.Slow(name, 5*time.Minute)
	defer r.Slow(name, operationSeconds*time.Second)
	var err error
	switch now {
	case "UPDATE_IN_PROGRESS":
		err = r.update(name, end)
	case "DELETE_IN_PROGRESS":
		if end == "DELETE_FAILED" {
			r.FailNext(name, plan.Delete)
		}
		_, err = outside.DeleteStack(r.Context(), &cloudformation.DeleteStackInput{StackName: &physical})
	default:
		r.Fatalf("the backend cannot start %s", now)
	}
	if err != nil {
		r.Fatalf("start %s on %s: %v", now, name, err)
	}
}

// waitNotBusy waits until no operation is in progress on a stack.
func (r *emulators) waitNotBusy(name string) {
	for s := r.Status(name); s.Busy() || s.Cleaning(); s = r.Status(name) {
		r.Pass(time.Second)
	}
}

// update updates a stack without Stackwright, such that the update ends with the
// given status.
func (r *emulators) update(name string, end plan.Status) error {
	outside, physical := r.at(name)
	if r.Status(name).Stuck() {
		if _, err := outside.ContinueUpdateRollback(r.Context(), &cloudformation.ContinueUpdateRollbackInput{StackName: &physical}); err != nil {
			return err
		}
		r.waitNotBusy(name)
		if end == "UPDATE_ROLLBACK_COMPLETE" {
			return nil
		}
	}
	if end == "UPDATE_IN_PROGRESS" {
		r.Slow(name, 5*time.Minute)
		defer r.Slow(name, operationSeconds*time.Second)
	}
	if end == "UPDATE_ROLLBACK_FAILED" || end == "UPDATE_ROLLBACK_COMPLETE" || end == "UPDATE_FAILED" {
		r.injectAt(name, local.Fault{Operation: "update", Reason: "injected", Times: 1})
	}
	if end == "UPDATE_ROLLBACK_FAILED" {
		r.injectAt(name, local.Fault{Operation: "rollback", Reason: "injected", Times: 1})
	}
	return r.updateWith(name, nil, end == "UPDATE_FAILED")
}

// updateWith updates a stack without Stackwright, with new values of some parameters and with other tags.
func (r *emulators) updateWith(name string, values map[string]string, unrolled bool) error {
	outside, physical := r.at(name)
	was, err := outside.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil {
		return err
	}
	in := &cloudformation.UpdateStackInput{StackName: &physical, UsePreviousTemplate: aws.Bool(true), DisableRollback: aws.Bool(unrolled), Tags: []types.Tag{{Key: aws.String("changed"), Value: aws.String(fmt.Sprint(r.next()))}}}
	for _, p := range was.Stacks[0].Parameters {
		given := types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)}
		if value, other := values[*p.ParameterKey]; other {
			given = types.Parameter{ParameterKey: p.ParameterKey, ParameterValue: &value}
		}
		in.Parameters = append(in.Parameters, given)
	}
	_, err = outside.UpdateStack(r.Context(), in)
	return err
}

// SetParameter is backend.
func (r *emulators) SetParameter(name, parameter, value string) {
	if err := r.updateWith(name, map[string]string{parameter: value}, false); err != nil {
		r.Fatal(err)
	}
	r.waitNotBusy(name)
}

func (r *emulators) ByHand(s stack, w stacks) {
	outside, physical := r.at(s.nameOnBackend())
	in := &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: aws.String(string(s.template(w)))}
	for name, value := range s.given(r, w) {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: &name, ParameterValue: &value})
	}
	if _, err := outside.CreateStack(r.Context(), in); err != nil {
		r.Fatal(err)
	}
	r.waitNotBusy(s.nameOnBackend())
}

// SetIgnored is backend.
func (r *emulators) SetIgnored(name, parameter, value string) {
	outside, physical := r.at(name)
	was, err := outside.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil {
		r.Fatal(err)
	}
	in := &cloudformation.UpdateStackInput{StackName: &physical, UsePreviousTemplate: aws.Bool(true)}
	for _, p := range was.Stacks[0].Parameters {
		given := types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)}
		if *p.ParameterKey == parameter {
			given = types.Parameter{ParameterKey: p.ParameterKey, ParameterValue: &value}
		}
		in.Parameters = append(in.Parameters, given)
	}
	if _, err := outside.UpdateStack(r.Context(), in); err != nil {
		r.Fatal(err)
	}
	r.waitNotBusy(name)
}

// Update is backend.
func (r *emulators) Update(s stack, w stacks) {
	outside, physical := r.at(s.nameOnBackend())
	was, err := outside.DescribeStacks(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical})
	if err != nil {
		r.Fatal(err)
	}
	in := &cloudformation.UpdateStackInput{StackName: &physical, TemplateBody: aws.String(string(s.template(w))), Tags: was.Stacks[0].Tags}
	for name, value := range s.given(r, w) {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: &name, ParameterValue: &value})
	}
	if _, err := outside.UpdateStack(r.Context(), in); err != nil {
		r.Fatal(err)
	}
	r.waitNotBusy(s.nameOnBackend())
}

func (r *emulators) Unreadable(name string) {
	r.injectAt(name, local.Fault{Error: &local.FaultError{Action: "GetTemplate", Code: "AccessDenied", Status: 403}})
}

func (r *emulators) Import(user, name string) {
	outside, physical := r.at(user)
	body := string(stack{physical: physical, version: "theirs"}.template(nil))
	body = strings.Replace(body, "[theirs]", "[theirs, !ImportValue "+physicalName(name)+"-Name]", 1)
	if _, err := outside.CreateStack(r.Context(), &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: &body}); err != nil {
		r.Fatal(err)
	}
	r.Live(user, "CREATE_COMPLETE")
}

// injectAt injects a fault into the operations of one stack.
func (r *emulators) injectAt(name string, f local.Fault) {
	name, target, _ := strings.Cut(name, "@")
	f.Stack = physicalName(name)
	if err := r.stacksIn(target).Inject(f); err != nil {
		r.Fatal(err)
	}
}

func (r *emulators) inject(f local.Fault) {
	if err := r.cloud.Stacks.Inject(f); err != nil {
		r.Fatal(err)
	}
}

func (r *emulators) FailNext(name string, v plan.Verb) {
	if v == plan.Propose {
		r.injectAt(name, local.Fault{Error: &local.FaultError{Action: actions[v], Code: "ValidationError", Message: "injected"}, Times: 1})
		return
	}
	r.injectAt(name, local.Fault{Operation: operationOf(v), Reason: "injected", Times: 1})
}

// operationOf is the operation of the emulator that a verb starts.
func operationOf(v plan.Verb) string {
	switch v {
	case plan.Continue:
		return "rollback"
	case plan.CreateEmpty:
		return string(plan.Create)
	case plan.MoveIn:
		return "refactor"
	}
	return string(v)
}

func (r *emulators) Slow(name string, d time.Duration) {
	r.injectAt(name, local.Fault{Seconds: (d / r.speedup).Seconds()})
}

// Drift is backend.
func (r *emulators) Drift(name string, deleted bool) {
	r.injectAt(name, topicDrift(deleted))
}

// DriftInside is backend. CloudFormation names a nested stack after its parent and its logical ID.
func (r *emulators) DriftInside(name string) {
	f := topicDrift(false)
	f.Stack = physicalName(name) + "-" + sim.Nested + "-*"
	r.inject(f)
}

// topicDrift changes the topic that every stack has, or deletes it.
func topicDrift(deleted bool) local.Fault {
	if deleted {
		return local.Fault{Resource: "Topic", Drift: &local.Drift{Deleted: true}}
	}
	return local.Fault{Resource: "Topic", Drift: &local.Drift{Properties: map[string]any{"DisplayName": "drifted"}}}
}

// actions are the requests that start steps, by verb.
var actions = map[plan.Verb]string{
	plan.Create: "CreateStack", plan.Update: "UpdateStack", plan.Delete: "DeleteStack", plan.Continue: "ContinueUpdateRollback",
	plan.Detect: "DetectStackDrift", plan.ProposeRevert: "CreateChangeSet", plan.Revert: "ExecuteChangeSet", plan.Propose: "CreateChangeSet", "withdraw": "DeleteChangeSet",
	plan.Import: "CreateChangeSet", plan.CreateEmpty: "CreateStack", "execute": "ExecuteChangeSet",
	plan.MoveIn: "CreateStackRefactor", "execute-move": "ExecuteStackRefactor",
}

// Fault lets the request fail on its way to CloudFormation. For CloudFormation, a
// function that crashed and one that got no answer are the same.
func (r *emulators) Fault(name string, v plan.Verb, m sim.Fault) {
	e := &local.FaultError{Action: actions[v], Code: "InternalFailure", Status: 500, After: m == sim.KillAfter || m == sim.Lose}
	if m == sim.Throttle {
		e.Code, e.Status = "Throttling", 400
	}
	r.injectAt(name, local.Fault{Error: e, Times: 1})
}

func (r *emulators) Events(deliveries ...time.Duration) {
	r.events = func() []time.Duration { return deliveries }
}

func (r *emulators) Lag(d time.Duration) { r.inject(local.Fault{Lag: (d / r.speedup).Seconds()}) }

func (r *emulators) Misrecord(name string) {
	_, err := dynamodb.NewFromConfig(r.direct(r.cloud.Tables)).UpdateItem(r.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("stackwright"), Key: map[string]item.AttributeValue{"PK": &item.AttributeValueMemberS{Value: "PROJECT#" + r.id()}, "SK": &item.AttributeValueMemberS{Value: "STACK#" + name}},
		UpdateExpression: aws.String("SET outputs = :outputs"), ConditionExpression: aws.String("attribute_exists(PK)"),
		ExpressionAttributeValues: map[string]item.AttributeValue{":outputs": &item.AttributeValueMemberM{Value: map[string]item.AttributeValue{"Value": &item.AttributeValueMemberS{Value: "misrecorded"}}}},
	})
	if err != nil {
		r.Fatal(err)
	}
}

// ChangeSets is backend.
func (r *emulators) ChangeSets() []string {
	var stacks []string
	for _, st := range r.everStacks() {
		if len(r.changeSets(aws.ToString(st.StackId))) > 0 {
			stacks = append(stacks, strings.TrimPrefix(aws.ToString(st.StackName), physicalName("")))
		}
	}
	slices.Sort(stacks)
	return stacks
}

// SetOutside is backend.
func (r *emulators) SetOutside(name, setting string) {
	outside, physical := r.at(name)
	ctx := r.Context()
	var err error
	if setting == "policy" {
		_, err = outside.SetStackPolicy(ctx, &cloudformation.SetStackPolicyInput{StackName: &physical, StackPolicyBody: aws.String(theirPolicy)})
	} else if out, failed := outside.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &physical}); failed != nil {
		err = failed
	} else {
		_, err = outside.UpdateTerminationProtection(ctx, &cloudformation.UpdateTerminationProtectionInput{StackName: &physical, EnableTerminationProtection: aws.Bool(!aws.ToBool(out.Stacks[0].EnableTerminationProtection))})
	}
	if err != nil {
		r.Fatal(err)
	}
}

// StackLimit is backend.
func (r *emulators) StackLimit(n int) {
	for _, target := range append(slices.Sorted(maps.Keys(accesses)), "default") {
		r.stacksIn(target).SetStackLimit(n)
	}
}

// LoseTemplate is backend.
func (r *emulators) LoseTemplate(stack string) {
	key := "templates/" + r.Recorded()[stack].Template
	if _, err := r.bucket.DeleteObject(r.Context(), &s3.DeleteObjectInput{Bucket: aws.String("stackwright"), Key: &key}); err != nil {
		r.Fatal(err)
	}
}

// DeleteChangeSets is backend.
func (r *emulators) DeleteChangeSets(stack string) {
	for _, c := range r.changeSets(physicalName(stack)) {
		in := &cloudformation.DeleteChangeSetInput{ChangeSetName: c.ChangeSetId}
		if _, err := r.outsideIn("default").DeleteChangeSet(r.Context(), in); err != nil {
			r.Fatal(err)
		}
	}
}

// Holding is backend.
func (r *emulators) Holding(table string) string {
	out, err := r.outsideIn("default").DescribeStackResources(r.Context(), &cloudformation.DescribeStackResourcesInput{PhysicalResourceId: &table})
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(aws.ToString(out.StackResources[0].StackName), physicalName(""))
}

// changeSets lists the change sets of a stack in the default target.
func (r *emulators) changeSets(stack string) []types.ChangeSetSummary {
	out, err := r.outsideIn("default").ListChangeSets(r.Context(), &cloudformation.ListChangeSetsInput{StackName: &stack})
	if err != nil {
		r.Fatal(err)
	}
	return slices.DeleteFunc(out.Summaries, func(c types.ChangeSetSummary) bool { // one that was executed belongs to the stack
		return c.ExecutionStatus == types.ExecutionStatusExecuteComplete || c.ExecutionStatus == types.ExecutionStatusExecuteFailed
	})
}

// Planned is backend.
func (r *emulators) Planned(q run.Run) (c plan.Changes) {
	key := "plans/" + q.Changes + ".json"
	out, err := r.bucket.GetObject(r.Context(), &s3.GetObjectInput{Bucket: aws.String("stackwright"), Key: &key})
	if err == nil {
		err = json.NewDecoder(out.Body).Decode(&c)
	}
	if err != nil {
		r.Fatal(err)
	}
	return c
}
