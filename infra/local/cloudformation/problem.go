package cloudformation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
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

// formatError is what a template is refused with that cannot be read.
func formatError(err error) error {
	e, ok := errors.AsType[*document.Error](err)
	switch {
	case !ok:
		return invalid("Template format error: %v", err)
	case strings.HasPrefix(e.Text, "Template"):
		return invalid("%s", e.Text)
	case strings.HasPrefix(e.Text, "not YAML"):
		return invalid("Template format error: YAML not well-formed. (line %d, column %d)", e.Line, e.Column)
	}
	return invalid("Template format error: %s", e.Text)
}

// templateError is what a template is refused with that can be read and not evaluated.
func templateError(err error) error { return invalid("%s", message(err)) }

// words are an error's own words without the place in the file, which CloudFormation does not tell.
func message(err error) string {
	if e, ok := errors.AsType[*document.Error](err); ok {
		return e.Text
	}
	return err.Error()
}
