package difference_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/difference"
)

// A value is secret by the path to it, or by the name beside it.
func TestSensitiveAt(t *testing.T) {
	const task = `{"Containers":[{"Environment":[{"Name":"LEVEL","Value":"info"},{"Name":"DB_PASSWORD","Value":"hunter2"}]}],"Environment":{"Variables":{"API_KEY":"x","SIZE":"1"}}}`
	for _, c := range []struct {
		properties string
		at         []string
		want       bool
	}{
		{task, []string{"Containers", "[0]", "Environment", "[0]", "Value"}, false},
		{task, []string{"Containers", "[0]", "Environment", "[1]", "Value"}, true},
		{task, []string{"Containers", "[0]", "Environment", "[1]"}, true},
		{task, []string{"Environment", "Variables", "API_KEY"}, true},
		{task, []string{"Environment", "Variables", "SIZE"}, false},
		{task, []string{"Containers", "[7]", "Environment"}, false},
		{task, []string{"Missing", "x"}, false},
		{`{"cut": "of`, []string{"MasterUserPassword"}, true},
		{`{"cut": "of`, []string{"Size"}, false},
	} {
		if got := difference.SensitiveAt(c.properties, c.at); got != c.want {
			t.Errorf("%v: %v", c.at, got)
		}
	}
}
