package hook

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Parameters are those of the parameter store of Systems Manager.
type Parameters interface {
	// PutParameter sets the value of a parameter of the type String. It creates the parameter if there is none. The error is of
	// kind Refused if the parameter has another type.
	PutParameter(ctx context.Context, in project.Target, name, value string) error
}

// maxParameter is how many bytes the value of a parameter of the standard tier may have.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
const maxParameter = 4096

// parameterType sets a parameter of the parameter store. Its value is in plain text, so it is no secret.
func parameterType() Type {
	return Type{
		Name: "parameter", What: "the ARN of a parameter of the parameter store",
		Form: pattern.New(`^arn:aws[a-z-]*:ssm:[a-z0-9-]+:[0-9]{12}:parameter/[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+){0,14}$`),
		Keys: []Key{{Name: "value"}}, Caller: parameter{},
	}
}

// parameter sets a parameter. To set it again changes nothing.
type parameter struct{ instant }

// Call implements Caller.
func (parameter) Call(ctx context.Context, s Services, c Call) (string, error) {
	part, err := c.inTarget(c.On())
	if err != nil {
		return "", err
	}
	value := c.Values["value"]
	if value == "" || len(value) > maxParameter {
		return "", fault.New(fault.Invalid, "the value of %s has %d bytes: a parameter has 1 to %d", c.On(), len(value), maxParameter)
	}
	return "", s.Parameters.PutParameter(ctx, c.Target, parameterName(part), value)
}

// parameterName returns the name of a parameter from the last part of its ARN. A name with levels begins with a slash, which
// the ARN has only once.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html
func parameterName(part string) string {
	name := strings.TrimPrefix(part, "parameter/")
	if strings.Contains(name, "/") {
		return "/" + name
	}
	return name
}
