package cloudformation

import (
	"errors"
	"fmt"

	"github.com/stackwright/stackwright/pkg/document"
)

// problem is a refusal as it goes over the wire.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
type problem struct {
	status  int
	code    string
	message string
}

func (p *problem) Error() string { return p.code + ": " + p.message }

// invalid is CloudFormation's refusal for nearly everything.
func invalid(format string, args ...any) *problem {
	return refusal("ValidationError", format, args...)
}

func refusal(code, format string, args ...any) *problem {
	return &problem{status: 400, code: code, message: fmt.Sprintf(format, args...)}
}

// asProblem gives any error a code. What is not ours is a fault of the stand-in.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	return &problem{status: 500, code: "InternalFailure", message: err.Error()}
}

// words are an error's own words without the place in the file, which CloudFormation does not tell.
func words(err error) string {
	if e, ok := errors.AsType[*document.Error](err); ok {
		return e.Text
	}
	return err.Error()
}
