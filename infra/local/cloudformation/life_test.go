package cloudformation_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const queue = `
Parameters:
  Delay: {Type: Number, Default: 5}
Resources:
  Dead: {Type: AWS::SQS::Queue}
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      DelaySeconds: !Ref Delay
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
Outputs:
  Url: {Value: !Ref Queue}
  Arn: {Value: !GetAtt Queue.Arn, Export: {Name: !Sub '${AWS::StackName}-Arn'}}
`

// A stack and its resources pass through IN_PROGRESS, each resource after its dependencies.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
func TestLife(t *testing.T) {
	scenario(t, func(w *account) {
		id := *w.create("q", queue).StackId
		if got := w.stack("q").StackStatus; got != types.StackStatusCreateInProgress {
			t.Errorf("at once it is %s", got)
		}
		w.wait("q", types.StackStatusCreateComplete)
		all := w.stackEvents("q")
		if took := all[0].Timestamp.Sub(*all[len(all)-1].Timestamp); took != 1500*time.Millisecond {
			t.Errorf("create took %s", took)
		}
		w.reads(w.history("q"), `
q CREATE_IN_PROGRESS: User Initiated
Dead CREATE_IN_PROGRESS
Dead CREATE_IN_PROGRESS: Resource creation Initiated
Dead CREATE_COMPLETE
Queue CREATE_IN_PROGRESS
Queue CREATE_IN_PROGRESS: Resource creation Initiated
Queue CREATE_COMPLETE
q CREATE_COMPLETE`)

		w.update("q", queue, updateWith("Delay", "9"))
		w.wait("q", types.StackStatusUpdateComplete)
		w.reads(w.history("q")[len(w.history("q"))-len(updated):], updated)

		w.remove("q")
		w.wait(id, types.StackStatusDeleteComplete)
		w.reads(w.history(id)[len(w.history(id))-len(deleted):], deleted)
	})
}

const updated = `q UPDATE_IN_PROGRESS: User Initiated
Queue UPDATE_IN_PROGRESS
Queue UPDATE_COMPLETE
q UPDATE_COMPLETE_CLEANUP_IN_PROGRESS
q UPDATE_COMPLETE
`

const deleted = `q DELETE_IN_PROGRESS: User Initiated
Queue DELETE_IN_PROGRESS
Queue DELETE_COMPLETE
Dead DELETE_IN_PROGRESS
Dead DELETE_COMPLETE
q DELETE_COMPLETE
`

// The master user secret of RDS is a secret of Secrets Manager.
func TestSecretOfDatabaseIsASecret(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("db", `
Resources:
  Cluster: {Type: AWS::RDS::DBCluster, Properties: {ManageMasterUserPassword: true}}
  Instance: {Type: AWS::RDS::DBInstance, Properties: {ManageMasterUserPassword: true}}
Outputs:
  Cluster: {Value: !GetAtt Cluster.MasterUserSecret.SecretArn}
  Instance: {Value: !GetAtt Instance.MasterUserSecret.SecretArn}
`)
		for output, kind := range map[string]string{"Cluster": "cluster", "Instance": "db"} {
			want := regexp.MustCompile(`^arn:aws:secretsmanager:us-east-1:[0-9]{12}:secret:rds!` + kind + `-[0-9a-f-]{36}-[A-Z2-7]{6}$`)
			if got := w.output("db", output); !want.MatchString(got) {
				t.Errorf("%s: %s", output, got)
			}
		}
	})
}
