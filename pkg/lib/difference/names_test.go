package difference

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// CloudFormation replaces no resource that keeps its name, and creates none with a name that another resource of the
// stack still has. Nothing is lost then.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func TestNamesThatStay(t *testing.T) {
	table := func(name, key string) string {
		return "{Type: AWS::DynamoDB::Table, Properties: {" + name + "KeySchema: [{AttributeName: " + key + ", KeyType: HASH}]}}"
	}
	const rename, keep = "it replaces no resource with a name of its own: give orders another name", "it creates resources before it deletes others"
	for _, c := range []struct{ name, before, after, want string }{
		{"named", "R: " + table("TableName: orders, ", "a"), "R: " + table("TableName: orders, ", "b"), "R replace refused " + rename},
		{"renamed", "R: " + table("TableName: orders, ", "a"), "R: " + table("TableName: others, ", "b"), "R replace loses a table"},
		{"not named", "R: " + table("", "a"), "R: " + table("", "b"), "R replace loses a table"},
		{"the name is removed", "R: " + table("TableName: orders, ", "a"), "R: " + table("", "b"), "R replace loses a table"},
		{"named by a parameter", "R: " + table("TableName: !Ref P, ", "a"), "R: " + table("TableName: !Ref P, ", "b"),
			"R replace refused it replaces no resource with a name of its own: give p another name"},
		{"named by an unknown value", "R: " + table("TableName: !ImportValue x, ", "a"), "R: " + table("TableName: !ImportValue x, ", "b"),
			"R replace refused it replaces no resource with a name of its own: give the resource another name"},
		{"named by a resource that changes", "R: " + table("TableName: !Ref N, ", "a") + "\n  N: {Type: AWS::SNS::Topic, Properties: {TopicName: n}}",
			"R: " + table("TableName: !Ref N, ", "b") + "\n  N: {Type: AWS::SNS::Topic, Properties: {TopicName: m}}", "N replace\nR replace loses a table"},
		{"may be replaced", "R: {Type: AWS::RDS::DBInstance, Properties: {DBInstanceIdentifier: db, Engine: mysql}}",
			"R: {Type: AWS::RDS::DBInstance, Properties: {DBInstanceIdentifier: db, Engine: mariadb}}", "R modify"},
		{"another logical ID", "R: " + table("TableName: orders, ", "a"), "S: " + table("TableName: orders, ", "a"), "R remove\nS add refused " + keep},
		{"another logical ID and name", "R: " + table("TableName: orders, ", "a"), "S: " + table("TableName: others, ", "a"), "R remove loses a table\nS add"},
		{"the names are swapped", "R: " + table("TableName: a, ", "a") + "\n  S: " + table("TableName: b, ", "a"),
			"R: " + table("TableName: b, ", "a") + "\n  S: " + table("TableName: a, ", "a"), "R replace refused " + keep + "\nS replace refused " + keep},
		{"one of another type", "R: " + table("TableName: orders, ", "a"), "S: {Type: AWS::SQS::Queue, Properties: {QueueName: orders}}",
			"R remove loses a table\nS add"},
		{"a service", "R: {Type: AWS::ECS::Service, Properties: {ServiceName: web, LaunchType: EC2}}",
			"R: {Type: AWS::ECS::Service, Properties: {ServiceName: web, LaunchType: FARGATE}}",
			"R replace refused it replaces no resource with a name of its own: give web another name"},
		{"a service in another cluster", "R: {Type: AWS::ECS::Service, Properties: {ServiceName: web, Cluster: a}}",
			"R: {Type: AWS::ECS::Service, Properties: {ServiceName: web, Cluster: b}}", "R replace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := func(resources string) Side {
				return parse(t, "Parameters: {P: {Type: String}}\nResources:\n  "+resources+"\n", map[string]string{"P": "p"})
			}
			var all []string
			for _, r := range Of(side(c.before), side(c.after), Uncertain{}).Resources {
				line := fmt.Sprint(r.ID, " ", r.Action)
				if r.Refused != "" {
					line += " refused " + r.Refused
				}
				if r.Loses != "" {
					line += " loses " + r.Loses
				}
				all = append(all, line)
			}
			slices.Sort(all)
			want := strings.Split(c.want, "\n")
			for i := range max(len(all), len(want)) {
				if i >= len(all) || i >= len(want) || !strings.HasPrefix(all[i], want[i]) {
					t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(all, "\n"), c.want)
				}
			}
		})
	}
}
