package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An event about a run that no longer exists is no error. It hides no other error,
// for instance in a sweep of many runs.
func TestUnlessLate(t *testing.T) {
	late := fmt.Errorf("sweep run a: %w", fault.New(fault.Missing, "there is no run a"))
	broken := fmt.Errorf("sweep run b: %w", fault.New(fault.Broken, "run b cannot be read"))
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":            {nil, ""},
		"late":               {late, ""},
		"all late":           {errors.Join(late, late), ""},
		"broken":             {broken, "sweep run b: run b cannot be read"},
		"one late, one not":  {errors.Join(late, broken), "sweep run b: run b cannot be read"},
		"two, of which none": {errors.Join(broken, broken), "sweep run b: run b cannot be read\nsweep run b: run b cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got := unlessLate(c.err)
			if c.want == "" && got != nil || c.want != "" && (got == nil || got.Error() != c.want || !fault.Is(got, fault.Broken)) {
				t.Errorf("it is %v, want %q", got, c.want)
			}
		})
	}
}
