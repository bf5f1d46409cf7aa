package dynamodb

import (
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
)

// contention lists the reasons for cancelling a transaction that do not last, so that it
// can be sent again. The SDK does not do so.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
var contention = []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}

// verdict returns which condition of a transaction did not hold, if one did not, and
// whether the transaction has to be sent again.
func verdict(err error) (failed int, again bool) {
	if _, ok := errors.AsType[*types.TransactionInProgressException](err); ok {
		return held, true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return held, false
	}
	failed = held
	for i, reason := range cancelled.CancellationReasons {
		switch code := aws.ToString(reason.Code); {
		case slices.Contains(contention, code):
			return held, true
		case code == "ConditionalCheckFailed" && failed == held:
			failed = i
		}
	}
	return failed, false
}

// kinds are the error codes of DynamoDB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var kinds = awserr.Kinds{
	"ProvisionedThroughputExceededException": fault.Throttled,
	"LimitExceededException":                 fault.Throttled,
	"TransactionConflictException":           fault.Throttled,
	"TransactionInProgressException":         fault.Unavailable,
}

// fault returns the fault of a request about the table. A table that does not exist
// is Broken, because to the engine Missing is an item that does not exist.
func (t *Table) fault(do string, err error) error {
	if awserr.Is(err, "ResourceNotFoundException") {
		return fault.New(fault.Broken, "%s: table %s does not exist: deploy Stackwright, or set STACKWRIGHT_TABLE", do, t.name)
	}
	f := awserr.Fault(do+" table "+t.name, "table "+t.name, err, kinds)
	if _, again := verdict(err); again && awserr.Is(err, "TransactionCanceledException") {
		return fault.As(fault.Throttled, f)
	}
	return f
}
