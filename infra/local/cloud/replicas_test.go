package cloud_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/stackwright/stackwright/infra/local/cloud"
)

// A DB instance that has a read replica is described with it, also one of another stack, and cannot be stopped until the replica is gone.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html#USER_StopInstance.Limitations
func TestReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, cloud.Options{Seconds: 1, Getenv: func(string) string { return "" }})
		defer c.Close()
		stacks, databases := cloudformation.NewFromConfig(c.Config()), rds.NewFromConfig(c.Config())
		for name, properties := range map[string]string{"source": "Engine: mysql", "replica": "SourceDBInstanceIdentifier: source"} {
			_, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &name, TemplateBody: aws.String(
				"Resources: { D: { Type: 'AWS::RDS::DBInstance', Properties: { DBInstanceIdentifier: " + name + ", " + properties + " } } }")})
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		has := func(want string) {
			t.Helper()
			out, err := databases.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: []string{"source"}}}})
			if err != nil || len(out.DBInstances) != 1 || strings.Join(out.DBInstances[0].ReadReplicaDBInstanceIdentifiers, " ") != want {
				t.Errorf("want the replicas %q: %v, %v", want, out, err)
			}
		}
		stop := func() error {
			_, err := databases.StopDBInstance(t.Context(), &rds.StopDBInstanceInput{DBInstanceIdentifier: aws.String("source")})
			return err
		}
		has("replica")
		if refused, ok := errors.AsType[*types.InvalidDBInstanceStateFault](stop()); !ok {
			t.Errorf("stop what has a replica: %v", refused)
		}
		if _, err := stacks.DeleteStack(t.Context(), &cloudformation.DeleteStackInput{StackName: aws.String("replica")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		has("")
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
