package project

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// regions are the regions that this version knows: those of partitions.json in
// the AWS SDK that it is built with.
var regions = strings.Fields(`
	af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2
	ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7
	ca-central-1 ca-west-1 cn-north-1 cn-northwest-1 eu-central-1 eu-central-2 eu-isoe-west-1 eu-north-1
	eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 eusc-de-east-1 il-central-1 me-central-1 me-south-1
	mx-central-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-iso-east-1 us-iso-west-1
	us-isob-east-1 us-isob-west-1 us-isof-east-1 us-isof-south-1 us-west-1 us-west-2
`)

var regionName = pattern.New(`^((?:[a-z]+-)+(?:north|south|east|west|central|northeast|northwest|southeast|southwest)-)(\d)$`)

// newer is how far the number of a region may be above the numbers that are
// known, so that a region can be used that is newer than this version.
const newer = 2

// CheckRegion refuses a region that does not exist, as far as this version knows,
// with a Fault of kind Invalid.
func CheckRegion(region string) error {
	if slices.Contains(regions, region) {
		return nil
	}
	if m := regionName.FindStringSubmatch(region); m != nil {
		highest, known := 0, false
		for _, r := range regions {
			if digit, ok := strings.CutPrefix(r, m[1]); ok {
				n, err := strconv.Atoi(digit)
				highest, known = max(highest, n), known || err == nil
			}
		}
		if n, err := strconv.Atoi(m[2]); err == nil && known && n > 0 && n <= highest+newer {
			return nil
		}
	}
	hint := ": write one such as eu-west-1"
	if closest := suggest.Closest(region, regions); closest != "" {
		hint = ": did you mean " + closest + "?"
	}
	return fault.New(fault.Invalid, "there is no AWS region %q%s", region, hint)
}
