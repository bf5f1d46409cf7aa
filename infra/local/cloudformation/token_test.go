package cloudformation_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// A ClientRequestToken starts one operation, and all events of that operation have it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackEvent.html
func TestTokens(t *testing.T) {
	scenario(t, func(w *account) {
		first := w.create("q", queue, createToken("one"))
		again := w.create("q", queue, createToken("one"))
		if *first.StackId != *again.StackId || *first.OperationId != *again.OperationId {
			t.Errorf("not the same: %v %v", first, again)
		}
		w.wait("q", types.StackStatusCreateComplete)
		w.create("q", queue, createToken("one"))
		_, err := w.tryCreate("q", queue, createToken("one"), createWith("Delay", "8"))
		w.refused(err, "TokenAlreadyExistsException", "one")
		_, err = w.tryUpdate("q", queue, updateToken("one"), updateWith("Delay", "8"))
		w.refused(err, "TokenAlreadyExistsException", "one")
		_, err = w.tryCreate("q", queue, createToken("two"))
		w.refused(err, "AlreadyExistsException", "already exists")

		w.update("q", queue, updateToken("three"), updateWith("Delay", "8"))
		w.update("q", queue, updateToken("three"), updateWith("Delay", "8")) // while busy
		w.wait("q", types.StackStatusUpdateComplete)
		w.update("q", queue, updateToken("three"), updateWith("Delay", "8")) // would be no update
		before := len(w.stackEvents("q"))

		w.remove("q", func(in *cfn.DeleteStackInput) { in.ClientRequestToken = aws.String("four") })
		w.wait(*first.StackId, types.StackStatusDeleteComplete)
		w.remove("q", func(in *cfn.DeleteStackInput) { in.ClientRequestToken = aws.String("four") })
		if again := w.create("q", queue, createToken("one")); *again.StackId != *first.StackId {
			t.Error("a token that was used for a deleted stack created another")
		}

		all := w.stackEvents(*first.StackId)
		for i, e := range all {
			want := "one"
			switch {
			case i < len(all)-before:
				want = "four"
			case i < len(all)-8:
				want = "three"
			}
			if aws.ToString(e.ClientRequestToken) != want {
				t.Errorf("%s %s bears %s, not %s", *e.LogicalResourceId, e.ResourceStatus, aws.ToString(e.ClientRequestToken), want)
			}
		}
	})
}

// The token of a refused request can be used again.
func TestRefusedTokens(t *testing.T) {
	scenario(t, func(w *account) {
		_, err := w.tryCreate("q", "{}", createToken("one"))
		w.refused(err, "ValidationError", "")
		w.create("q", queue, createToken("one"))
		_, err = w.tryUpdate("q", queue, updateToken("two"))
		w.refused(err, "ValidationError", "CREATE_IN_PROGRESS")
		w.wait("q", types.StackStatusCreateComplete)
		w.update("q", queue, updateToken("two"), updateWith("Delay", "8"))
		w.wait("q", types.StackStatusUpdateComplete)
	})
}

// The rollback of an operation has the token of the operation and another operation ID.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeEvents.html
func TestRollbackBearsTheToken(t *testing.T) {
	scenario(t, func(w *account) {
		w.fault("POST", `{"stack":"q","operation":"create","reason":"no capacity","times":1}`, 200)
		out := w.create("q", queue, createToken("one"))
		st := w.wait("q", types.StackStatusRollbackComplete)
		for _, e := range w.stackEvents("q") {
			if aws.ToString(e.ClientRequestToken) != "one" || aws.ToString(e.OperationId) == "" {
				t.Errorf("%s %s bears %s", *e.LogicalResourceId, e.ResourceStatus, aws.ToString(e.ClientRequestToken))
			}
		}
		if len(st.LastOperations) != 2 || st.LastOperations[0].OperationType != types.OperationTypeRollback ||
			*st.LastOperations[1].OperationId != *out.OperationId {
			t.Errorf("operations: %v", st.LastOperations)
		}
	})
}
