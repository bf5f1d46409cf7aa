package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// What comes late is no error, and hides none that is found beside it, as by a
// sweep of many runs.
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
