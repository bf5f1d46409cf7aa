package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/smithy-go"
)

// What AWS answers if it knows who asks but does not allow it, and if it does
// not take the credentials.
var (
	forbidden = []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "NotAuthorized"}
	unknown   = []string{
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidToken",
		"UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidSignatureException", "MissingAuthenticationToken",
	}
)

// prefixes are those of IAM's actions, by the SDK's names of services.
var prefixes = map[string]string{
	"CloudFormation": "cloudformation", "DynamoDB": "dynamodb", "S3": "s3", "SFN": "states", "STS": "sts", "Scheduler": "scheduler",
}

// permissions are those of requests that have no action of their own.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
var permissions = map[string]string{
	"dynamodb:TransactWriteItems": "dynamodb:PutItem and dynamodb:DeleteItem",
}

// forbids reports whether AWS knows who asks and does not allow it.
func forbids(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(forbidden, api.ErrorCode())
}

// advice says what to do about an error by which AWS refuses whoever asks, or
// "" for all others.
func (c *call) advice(err error) string {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || c.flags.installation == "" {
		return ""
	}
	requested, named := errors.AsType[*smithy.OperationError](err)
	switch {
	case slices.Contains(unknown, api.ErrorCode()):
		return "AWS does not take these credentials, or no longer: log in anew (aws sso login), or set another AWS_PROFILE"
	case forbids(err) && named:
		action := prefixes[requested.ServiceID] + ":" + requested.OperationName
		if needs, ok := permissions[action]; ok {
			action = needs
		}
		return fmt.Sprintf("whoever you are to AWS needs the permission %s at installation %s", action, c.flags.installation)
	}
	return ""
}
