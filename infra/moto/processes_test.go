package moto

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/stackwright/stackwright/pkg/aws/autoscaling"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
)

// The hook that suspends the processes of Auto Scaling groups works with moto, but for what processesDiffer lists.
func processes(s *server) {
	laws := make(map[string]func(*trial))
	for name, law := range processLaws {
		laws[name] = func(t *trial) {
			s.reset()
			ground{s, t}.Up("web", contract.GroupsVersion)
			client := sdk.NewFromConfig(s.config)
			law(t, client, autoscaling.New(in[autoscaling.Client](client)))
		}
	}
	judged(s.T, laws, processesDiffer)
}

// suspended are the processes of the group web-a that are suspended, sorted.
func suspended(t *trial, client *sdk.Client) []string {
	out, err := client.DescribeAutoScalingGroups(t.Context(), &sdk.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"web-a"}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		t.Fatal(out, err)
	}
	var names []string
	for _, p := range out.AutoScalingGroups[0].SuspendedProcesses {
		names = append(names, aws.ToString(p.ProcessName))
	}
	slices.Sort(names)
	return names
}

// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_SuspendProcesses.html
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_ResumeProcesses.html
var processLaws = map[string]func(*trial, *sdk.Client, *autoscaling.Groups){
	"a process that is suspended is resumed": func(t *trial, client *sdk.Client, groups *autoscaling.Groups) {
		for _, want := range [][]string{{"Launch", "Terminate"}, nil} {
			do := groups.SuspendProcesses
			if want == nil {
				do = groups.ResumeProcesses
			}
			if err := do(t.Context(), target, "web-a", []string{"Terminate", "Launch"}); err != nil {
				t.Fatal(err)
			}
			if got := suspended(t, client); !slices.Equal(got, want) {
				t.Errorf("suspended are %q, want %q", got, want)
			}
		}
	},
	"without processes, all are suspended and resumed": func(t *trial, client *sdk.Client, groups *autoscaling.Groups) {
		if err := groups.SuspendProcesses(t.Context(), target, "web-a", nil); err != nil {
			t.Fatal(err)
		}
		if got := suspended(t, client); len(got) != 9 {
			t.Errorf("suspended are %q", got)
		}
		if err := groups.ResumeProcesses(t.Context(), target, "web-a", nil); err != nil {
			t.Fatal(err)
		}
		if got := suspended(t, client); len(got) != 0 {
			t.Errorf("suspended are %q", got)
		}
	},
	"a process that there is not is refused": func(t *trial, _ *sdk.Client, groups *autoscaling.Groups) {
		if err := groups.SuspendProcesses(t.Context(), target, "web-a", []string{"Dance"}); !fault.Is(err, fault.Refused) {
			t.Errorf("suspend Dance: %v", err)
		}
	},
	"a group that there is not is refused": func(t *trial, _ *sdk.Client, groups *autoscaling.Groups) {
		if err := groups.SuspendProcesses(t.Context(), target, "nobody", nil); !fault.Is(err, fault.Refused) {
			t.Errorf("suspend processes of nobody: %v", err)
		}
	},
	"a desired capacity outside of the other two sizes is refused": func(t *trial, client *sdk.Client, _ *autoscaling.Groups) {
		_, err := client.UpdateAutoScalingGroup(t.Context(), &sdk.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String("web-a"), DesiredCapacity: aws.Int32(5)})
		if err == nil {
			t.Error("it is accepted")
		}
	},
}
