package policy

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/pkg/lib/expression"
	"github.com/stackwright/stackwright/pkg/project"
)

// maxConditionCost is what the condition of a hook may cost, in steps of CEL.
const maxConditionCost = 10_000

// conditions is the language of the conditions of hooks.
var conditions = sync.OnceValues(func() (*expression.Language, error) {
	return expression.New(map[string]any{"project": "", "environment": "", "stack": project.Stack{}})
})

// Holds reports whether the condition of a hook holds. It implements project.Condition.
func Holds(text string, s project.Situation) (bool, error) {
	l, err := conditions()
	if err != nil {
		return false, err
	}
	x, err := l.Compile(text)
	if err != nil {
		return false, fmt.Errorf("%s", strings.Join(strings.Split(err.Error(), "\n"), "; "))
	}
	values := map[string]any{"project": s.Project, "environment": s.Environment, "stack": s.Stack}
	for name, v := range values {
		values[name] = expression.Plain(v)
	}
	holds, _, err := x.Evaluate(context.Background(), values, maxConditionCost)
	return holds, err
}

// Holds is the function of the same name.
func (Checker) Holds(text string, s project.Situation) (bool, error) { return Holds(text, s) }
