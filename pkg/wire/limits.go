package wire

import (
	"regexp"
	"strconv"

	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// The variables that limit the requests a second to CloudFormation in one account
// and region. Both are optional.
const (
	envReads  = "STACKWRIGHT_READS"
	envWrites = "STACKWRIGHT_WRITES"
)

var rate = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)

// limitsFrom reads the limits, and lists what is malformed.
func limitsFrom(getenv func(string) string) (l budget.Limits, wrong []string) {
	l = budget.CloudFormation()
	for name, to := range map[string]*float64{envReads: &l.Reads, envWrites: &l.Writes} {
		v := getenv(name)
		n, err := strconv.Atoi(v)
		switch {
		case v == "":
		case err != nil || !rate.MatchString(v):
			wrong = append(wrong, name+" is not a number of requests a second from 1 to 9999: "+v)
		default:
			*to = float64(n)
		}
	}
	return l, wrong
}
