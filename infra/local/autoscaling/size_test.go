package autoscaling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/smithy-go"
)

// sizes are the sizes of web, and how many instances are in service.
func sizes(t *testing.T, client *sdk.Client) string {
	t.Helper()
	out, err := client.DescribeAutoScalingGroups(t.Context(), &sdk.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"web"}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		t.Fatal(out, err)
	}
	g := out.AutoScalingGroups[0]
	return fmt.Sprint(*g.MinSize, *g.MaxSize, *g.DesiredCapacity, len(g.Instances))
}

// A group has the sizes of its template until a request sets others, and again after an update of its stack. The desired capacity lies
// between the other two.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_UpdateAutoScalingGroup.html
func TestSizes(t *testing.T) {
	properties := `{"MinSize": "1", "MaxSize": 3}`
	client := servedWith(t, func() string { return properties })
	size := func(n int32) *int32 {
		if n < 0 {
			return nil
		}
		return &n
	}
	for i, c := range []struct {
		least, most, desired int32 // -1: not in the request
		want, code           string
	}{
		{-1, -1, 2, "1 3 2 2", ""},
		{-1, 1, -1, "1 1 1 1", ""}, // the capacity follows
		{2, 5, -1, "2 5 2 2", ""},
		{-1, -1, 1, "2 5 2 2", "ValidationError"},
		{-1, -1, 6, "2 5 2 2", "ValidationError"},
		{4, 3, 3, "2 5 2 2", "ValidationError"},
		{0, 0, 0, "0 0 0 0", ""},
	} {
		_, err := client.UpdateAutoScalingGroup(t.Context(), &sdk.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String("web"), MinSize: size(c.least), MaxSize: size(c.most), DesiredCapacity: size(c.desired)})
		code := ""
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			code = api.ErrorCode()
		}
		if got := sizes(t, client); got != c.want || code != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%d: sizes are %s, want %s; %v, want %s", i, got, c.want, err, c.code)
		}
	}
	properties = `{"MinSize": "1", "MaxSize": 4, "DesiredCapacity": "3"}`
	if got := sizes(t, client); got != "1 4 3 3" {
		t.Errorf("after an update of the stack, sizes are %s", got)
	}
	_, err := client.UpdateAutoScalingGroup(t.Context(), &sdk.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String("none")})
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "ValidationError" {
		t.Errorf("a group that does not exist: %v", err)
	}
}
