package cloudformation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const moved = "  Orders: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders, KeySchema: [{AttributeName: id, KeyType: HASH}]}}\n"

func (w *account) tryRefactor(from, without, to, with string, moves ...string) (*cfn.CreateStackRefactorOutput, error) {
	in := &cfn.CreateStackRefactorInput{Description: aws.String("d"), StackDefinitions: []types.StackDefinition{{StackName: &from, TemplateBody: &without}, {StackName: &to, TemplateBody: &with}}}
	for i := 0; i+1 < len(moves); i += 2 {
		in.ResourceMappings = append(in.ResourceMappings, types.ResourceMapping{
			Source: &types.ResourceLocation{StackName: &from, LogicalResourceId: &moves[i]}, Destination: &types.ResourceLocation{StackName: &to, LogicalResourceId: &moves[i+1]},
		})
	}
	return w.client.CreateStackRefactor(w.Context(), in)
}

// refactor waits until a refactor has been created.
func (w *account) refactor(id *string) *cfn.DescribeStackRefactorOutput {
	w.Helper()
	for {
		out, err := w.client.DescribeStackRefactor(w.Context(), &cfn.DescribeStackRefactorInput{StackRefactorId: id})
		if err != nil {
			w.Fatal(err)
		}
		if out.Status != types.StackRefactorStatusCreateInProgress && out.ExecutionStatus != types.StackRefactorExecutionStatusExecuteInProgress {
			return out
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// two creates the stacks a, which has a table, and b.
func (w *account) two() {
	w.create("a", adding(alerts, moved))
	w.create("b", alerts)
	w.wait("a", types.StackStatusCreateComplete)
	w.wait("b", types.StackStatusCreateComplete)
}

// A refactor moves a resource with its physical ID, and neither deletes nor creates it. Both stacks are updated, and stay in
// progress for a while after the refactor is complete.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
func TestRefactorMovesAResource(t *testing.T) {
	scenario(t, func(w *account) {
		w.two()
		with := adding(alerts, strings.Replace(moved, "Orders", "Table", 1))
		made, err := w.tryRefactor("a", alerts, "b", with, "Orders", "Table")
		if err != nil {
			t.Fatal(err)
		}
		r := w.refactor(made.StackRefactorId)
		if r.Status != types.StackRefactorStatusCreateComplete || r.ExecutionStatus != types.StackRefactorExecutionStatusAvailable || *r.Description != "d" || len(r.StackIds) != 2 {
			t.Fatalf("%+v", r)
		}
		actions, err := w.client.ListStackRefactorActions(w.Context(), &cfn.ListStackRefactorActionsInput{StackRefactorId: made.StackRefactorId})
		if err != nil || len(actions.StackRefactorActions) != 1 || actions.StackRefactorActions[0].Action != types.StackRefactorActionTypeMove || *actions.StackRefactorActions[0].PhysicalResourceId != "orders" {
			t.Fatal(actions, err)
		}
		if _, err := w.client.ExecuteStackRefactor(w.Context(), &cfn.ExecuteStackRefactorInput{StackRefactorId: made.StackRefactorId}); err != nil {
			t.Fatal(err)
		}
		_, err = w.client.ExecuteStackRefactor(w.Context(), &cfn.ExecuteStackRefactorInput{StackRefactorId: made.StackRefactorId})
		w.refused(err, "ValidationError", "is in EXECUTE_IN_PROGRESS execution status and can not be executed")
		if got := w.stack("a").StackStatus; got != types.StackStatusUpdateInProgress {
			t.Error(got)
		}
		if r := w.refactor(made.StackRefactorId); r.ExecutionStatus != types.StackRefactorExecutionStatusExecuteComplete {
			t.Errorf("%+v", r)
		}
		if got := w.stack("b").StackStatus; got != types.StackStatusUpdateInProgress {
			t.Error(got)
		}
		for _, name := range []string{"a", "b"} {
			if st := w.wait(name, types.StackStatusUpdateComplete); st.LastUpdatedTime == nil {
				t.Errorf("%+v", st)
			}
		}
		w.reads(w.statuses("b", "Table"), "IMPORT_IN_PROGRESS IMPORT_COMPLETE")
		w.reads(w.statuses("a", "Orders"), "CREATE_IN_PROGRESS CREATE_IN_PROGRESS CREATE_COMPLETE")
		out, err := w.client.DescribeStackResources(w.Context(), &cfn.DescribeStackResourcesInput{PhysicalResourceId: aws.String("orders")})
		if err != nil || *out.StackResources[0].StackName != "b" {
			t.Fatal(out, err)
		}
		for name, template := range map[string]string{"a": alerts, "b": with} { // the templates are deployed
			_, err = w.tryUpdate(name, template)
			w.refused(err, "ValidationError", "No updates are to be performed.")
		}
	})
}

// A refactor that does anything else than to move resources fails to be created, and one whose stack has had another
// operation is obsolete.
func TestRefactorChangesNothingElse(t *testing.T) {
	scenario(t, func(w *account) {
		w.two()
		with := adding(alerts, moved)
		for why, c := range map[string]struct {
			without, with string
			moves         []string
		}{
			"Stack Refactor does not support modifying resources: [Orders]":                       {alerts, strings.Replace(with, "orders", "items", 1), []string{"Orders", "Orders"}},
			"Stack Refactor does not support creating, modifying or deleting resources: [Orders]": {alerts, with, nil},
			"Stack Refactor does not support creating, modifying or deleting resources: [New]":    {alerts, adding(with, "  New: {Type: AWS::SNS::Topic}\n"), []string{"Orders", "Orders"}},
			"The templates do not move the resources of the resource mappings.":                   {adding(alerts, moved), alerts, []string{"Orders", "Orders"}},
			"Stack Refactor does not support changes of parameters, conditions or mappings.":      {alerts, "Parameters: {A: {Type: String, Default: a}}\n" + with, []string{"Orders", "Orders"}},
		} {
			made, err := w.tryRefactor("a", c.without, "b", c.with, c.moves...)
			if err != nil {
				t.Fatal(why, err)
			}
			if r := w.refactor(made.StackRefactorId); r.Status != types.StackRefactorStatusCreateFailed || r.ExecutionStatus != types.StackRefactorExecutionStatusUnavailable || aws.ToString(r.StatusReason) != why {
				t.Errorf("%s: %s %s", why, r.Status, aws.ToString(r.StatusReason))
			}
		}
		_, err := w.tryRefactor("a", alerts, "none", with, "Orders", "Orders")
		w.refused(err, "ValidationError", "Stack [none] does not exist")
		_, err = w.client.DescribeStackRefactor(w.Context(), &cfn.DescribeStackRefactorInput{StackRefactorId: aws.String("none")})
		w.refused(err, "StackRefactorNotFoundException", "does not exist")
		made, err := w.tryRefactor("a", alerts, "b", with, "Orders", "Orders")
		if err != nil {
			t.Fatal(err)
		}
		w.refactor(made.StackRefactorId)
		if _, err := w.tryUpdate("b", adding(alerts, "  New: {Type: AWS::SNS::Topic}\n")); err != nil {
			t.Fatal(err)
		}
		w.wait("b", types.StackStatusUpdateComplete)
		if r := w.refactor(made.StackRefactorId); r.ExecutionStatus != types.StackRefactorExecutionStatusObsolete {
			t.Errorf("%+v", r)
		}
		all, err := w.client.ListStackRefactors(w.Context(), &cfn.ListStackRefactorsInput{ExecutionStatusFilter: []types.StackRefactorExecutionStatus{"OBSOLETE"}})
		if err != nil || len(all.StackRefactorSummaries) != 1 || *all.StackRefactorSummaries[0].StackRefactorId != *made.StackRefactorId {
			t.Error(all, err)
		}
	})
}
