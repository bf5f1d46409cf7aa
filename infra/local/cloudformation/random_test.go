package cloudformation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

var (
	seed      = flag.Uint64("seed", 0, "run only the random scenario of this seed")
	scenarios = flag.Uint64("scenarios", 25, "how many random scenarios to run")
)

// TestRandomScenarios sends random requests for a few stacks that import from one
// another, in any state, with faults and restarts between them. Every operation must
// end, no imported export may be deleted or changed, and the status of a stack must
// agree with its resources.
func TestRandomScenarios(t *testing.T) {
	first, last := uint64(1), *scenarios
	if *seed != 0 {
		first, last = *seed, *seed
	}
	for n := first; n <= last; n++ {
		dir := ""
		if n%5 == 0 {
			dir = t.TempDir()
		}
		scenarioIn(t, dir, cloudformation.Options{Seed: n}, func(w *account) {
			r := rand.New(rand.NewPCG(n, n))
			for range 60 {
				w.anything(r)
				time.Sleep(time.Duration(r.IntN(1200)) * time.Millisecond)
				w.holds(n)
			}
			time.Sleep(time.Minute)
			w.holds(n)
			for _, st := range w.all() {
				if strings.HasSuffix(string(st.StackStatus), "_IN_PROGRESS") {
					t.Errorf("scenario %d: %s does not end: it is %s", n, *st.StackName, st.StackStatus)
				}
			}
		})
		if t.Failed() {
			t.Fatalf("run it again with -run TestRandomScenarios -seed %d", n)
		}
	}
}

// chain is a template that imports from the stack before and exports for the next.
const chain = `
Parameters: {V: {Type: String}, From: {Type: String, Default: ''}, Fail: {Type: String, Default: never}}
Conditions: {Imports: !Not [!Equals [!Ref From, '']], Fails: !Not [!Equals [!Ref Fail, never]]}
Resources:
  A: {Type: AWS::SNS::Topic, Properties: {DisplayName: !If [Imports, {'Fn::ImportValue': !Sub '${From}-V'}, none]}}
  B: {Type: AWS::EC2::VPC, DependsOn: A, Properties: {CidrBlock: !Ref V}, Metadata: {StackwrightLocal: !If [Fails, {Fail: luck, On: !Ref Fail}, !Ref 'AWS::NoValue']}}
  C: {Type: AWS::SNS::Topic, DependsOn: B}
Outputs: {V: {Value: !Ref V, Export: {Name: !Sub '${AWS::StackName}-V'}}, Seen: {Value: !If [Imports, {'Fn::ImportValue': !Sub '${From}-V'}, none]}}
`

// anything sends a random request. It may be refused.
func (w *account) anything(r *rand.Rand) {
	i := r.IntN(4)
	name := fmt.Sprint("s", i)
	parameters := given("V", fmt.Sprint(r.IntN(3)))
	if i > 0 && r.IntN(3) > 0 {
		parameters = append(parameters, given("From", fmt.Sprint("s", i-1))...)
	}
	if r.IntN(4) == 0 {
		parameters = append(parameters, given("Fail", []string{"create", "update", "delete"}[r.IntN(3)])...)
	}
	ctx := w.Context()
	var err error
	switch r.IntN(12) {
	case 0, 1, 2:
		_, err = w.client.CreateStack(ctx, &cfn.CreateStackInput{StackName: &name, TemplateBody: aws.String(chain), Parameters: parameters,
			OnFailure: []types.OnFailure{"", types.OnFailureDelete, types.OnFailureDoNothing}[r.IntN(3)]})
	case 3, 4, 5:
		_, err = w.client.UpdateStack(ctx, &cfn.UpdateStackInput{StackName: &name, TemplateBody: aws.String(chain), Parameters: parameters,
			DisableRollback: aws.Bool(r.IntN(4) == 0)})
	case 6, 7:
		_, err = w.client.DeleteStack(ctx, &cfn.DeleteStackInput{StackName: &name})
	case 8:
		_, err = w.client.CancelUpdateStack(ctx, &cfn.CancelUpdateStackInput{StackName: &name})
	case 9:
		_, err = w.client.ContinueUpdateRollback(ctx, &cfn.ContinueUpdateRollbackInput{StackName: &name})
	case 10:
		operation := []string{"create", "update", "delete", "rollback"}[r.IntN(4)]
		w.fault("POST", `{"stack":"`+name+`","operation":"`+operation+`","times":1}`, 200)
	case 11:
		if w.dir != "" {
			if err := w.service.Close(); err != nil {
				w.Fatal(err)
			}
			w.open(w.dir)
		}
	}
	if err != nil && !strings.Contains(err.Error(), "StatusCode: 400") {
		w.Fatalf("%s: %v", name, err)
	}
}

func (w *account) all() []types.Stack {
	w.Helper()
	out, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{})
	if err != nil {
		w.Fatal(err)
	}
	return out.Stacks
}

// holds checks what must hold at any time.
func (w *account) holds(n uint64) {
	w.Helper()
	exports := map[string]string{}
	out, err := w.client.ListExports(w.Context(), &cfn.ListExportsInput{})
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range out.Exports {
		exports[*e.Name] = *e.Value
	}
	for _, st := range w.all() {
		from, v := "", ""
		for _, p := range st.Parameters {
			switch *p.ParameterKey {
			case "From":
				from = *p.ParameterValue
			case "V":
				v = *p.ParameterValue
			}
		}
		switch st.StackStatus {
		case types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusUpdateRollbackComplete:
			w.holdsTogether(n, st, v, from, exports)
		}
	}
}

func (w *account) holdsTogether(n uint64, st types.Stack, v, from string, exports map[string]string) {
	w.Helper()
	name := *st.StackName
	for _, o := range st.Outputs {
		switch {
		case *o.OutputKey == "V" && *o.OutputValue != v:
			w.Errorf("scenario %d: %s puts out %s for the parameter %s", n, name, *o.OutputValue, v)
		case *o.OutputKey == "Seen" && from != "" && *o.OutputValue != exports[from+"-V"]:
			w.Errorf("scenario %d: %s has seen %s, and %s exports %q", n, name, *o.OutputValue, from, exports[from+"-V"])
		}
	}
	out, err := w.client.DescribeStackResources(w.Context(), &cfn.DescribeStackResourcesInput{StackName: st.StackId})
	if err != nil {
		w.Fatal(err)
	}
	if len(st.Outputs) > 0 && len(out.StackResources) != 3 {
		w.Errorf("scenario %d: %s is %s with %d resources\n%s", n, name, st.StackStatus, len(out.StackResources), w.history(name))
	}
	for _, r := range out.StackResources {
		if !strings.HasSuffix(string(r.ResourceStatus), "_COMPLETE") || r.ResourceStatus == types.ResourceStatusDeleteComplete {
			w.Errorf("scenario %d: %s is %s and its %s %s\n%s", n, name, st.StackStatus, *r.LogicalResourceId, r.ResourceStatus, w.history(name))
		}
	}
}
