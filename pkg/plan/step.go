package plan

import (
	"encoding/json"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// StepID names a step: "db/update", or "db/hook:migrate" with a qualifier, so that
// two steps of one verb on one node differ. A step without a node is named by its
// verb.
func StepID(node string, v Verb, qualifier string) string {
	id := strings.TrimPrefix(node+"/"+string(v), "/")
	if qualifier != "" {
		id += ":" + qualifier
	}
	return id
}

// Arguments are the arguments of a step's verb: a value of a type that the verb defines,
// as JSON, and the version of that type.
type Arguments struct {
	Version int    `json:"version"`
	JSON    string `json:"json"`
}

// maxArguments is the most bytes that the arguments of a step may have, because a step
// is one item of the table.
const maxArguments = 4 << 10

// NewArguments returns v as the arguments of a step. The error is of kind Invalid if
// they are too large.
func NewArguments(version int, v any) (*Arguments, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.Broken, "arguments: %w", err)
	}
	if len(text) > maxArguments {
		return nil, fault.New(fault.Invalid, "the arguments of a step have %d bytes, at most %d are allowed", len(text), maxArguments)
	}
	return &Arguments{Version: version, JSON: string(text)}, nil
}

// Read decodes the arguments into v, a pointer to a value of the type of the given
// version. The error is of kind Broken if there are no arguments, or if they have another
// version, because the plan was made by another version of Stackwright.
func (a *Arguments) Read(version int, v any) error {
	switch {
	case a == nil:
		return fault.New(fault.Broken, "the step has no arguments")
	case a.Version != version:
		return fault.New(fault.Broken, "the arguments of the step are of version %d, and this code reads version %d: plan the operation again", a.Version, version)
	}
	if err := json.Unmarshal([]byte(a.JSON), v); err != nil {
		return fault.New(fault.Broken, "the arguments of the step cannot be read: %w", err)
	}
	return nil
}
