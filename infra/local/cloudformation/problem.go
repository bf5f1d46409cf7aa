package cloudformation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// problem is the error of a request, as the protocol transports it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
type problem struct {
	status  int
	code    string
	message string
}

func (p *problem) Error() string { return p.code + ": " + p.message }

// invalid is the error ValidationError, which CloudFormation uses for nearly everything.
func invalid(format string, args ...any) *problem {
	return refusal("ValidationError", format, args...)
}

func refusal(code, format string, args ...any) *problem {
	return &problem{status: 400, code: code, message: fmt.Sprintf(format, args...)}
}

// asProblem gives any error a code. An error without one is an internal error of the emulator.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	return &problem{status: 500, code: "InternalFailure", message: err.Error()}
}

// formatError is the refusal of a template that cannot be read.
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

// templateError is the refusal of a template that can be read but not evaluated.
func templateError(err error) error { return invalid("%s", message(err)) }

// message is the text of an error without the place in the file, which CloudFormation does not give.
func message(err error) string {
	if e, ok := errors.AsType[*document.Error](err); ok {
		return e.Text
	}
	return err.Error()
}
