package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// WarnName is the name of the operation warn-expiry.
const WarnName = "warn-expiry"

// warn says that the environment is about to expire. Stackwright requests it once for each lifetime.
func warn() Operation {
	return Operation{
		Name: WarnName, Lifetime: Warn,
		Effect: "it says until when the environment lives, and changes nothing",
	}
}

// Warn leaves the lifetime as it is.
func Warn(x Extension) (project.Lifetime, string, error) {
	l := x.Lifetime
	if !l.Expires.Equal(x.Expiry) {
		return l, fmt.Sprintf("%s no longer expires at %s: there is nothing to warn of", x.Project, shown(x.Expiry)), nil
	}
	name, environment, _ := strings.Cut(x.Project, "@")
	left := project.TTL(l.Expires.Sub(x.Requested).Round(time.Minute))
	return l, fmt.Sprintf("%s expires at %s, in %s: all its stacks are destroyed then, unless it is deployed again or extended: stackwright extend --project %s --env %s --for 2d", x.Project, shown(l.Expires), left, name, environment), nil
}
