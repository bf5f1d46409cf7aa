package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// deploys brings all stacks up.
func (s *stage) deploys(ctx context.Context) error {
	s.say("Nothing is there yet: deploy creates nine stacks, each as soon as what it comes after is up.")
	if err := s.run(ctx, exitOK, "graph", s.project); err != nil {
		return err
	}
	if err := s.run(ctx, exitOK, "deploy", s.project); err != nil {
		return err
	}
	err := s.expect(ctx, happened{done: []string{
		"app/api/create", "app/orders/create", "app/uploads/create", "data/db/create", "data/images/create", "data/queue/create",
		"network/security/create", "network/vpc/create", "ops/alarms/create",
	}})
	if err == nil {
		s.first, err = s.newest(ctx)
	}
	return err
}

// showsOutputs prints the outputs of the stacks.
func (s *stage) showsOutputs(ctx context.Context) error {
	s.say("The outputs of all stacks are recorded; those of one stack were given to others as parameters.")
	return s.run(ctx, exitOK, "outputs")
}

// changes changes one parameter of one stack.
func (s *stage) changes(ctx context.Context) error {
	s.say("One parameter of one stack is changed: plan shows what may move, and deploy moves the queue only.")
	if err := s.edit("stackwright.yaml", "VisibilityTimeout: 60", "VisibilityTimeout: 120"); err != nil {
		return err
	}
	if err := s.run(ctx, exitChanges, "plan", s.project, "--exit-code"); err != nil {
		return err
	}
	if err := s.run(ctx, exitOK, "deploy", s.project); err != nil {
		return err
	}
	return s.expect(ctx, happened{
		done: []string{"data/queue/update"},
		same: []string{"app/api/update", "app/orders/update", "ops/alarms/update"},
	})
}

// fails has the database refuse an update.
func (s *stage) fails(ctx context.Context) error {
	s.say("A variable of six stacks is changed, and the database will fail: what comes after it is skipped and says why, the other branches finish.")
	if err := s.edit("stackwright.yaml", "retention_days: 7 ", "retention_days: 14"); err != nil {
		return err
	}
	if err := s.inject(ctx, fault{
		Stack: "shop-data-db", Operation: "update", Resource: "Cluster", Times: 1,
		Reason: `Resource handler returned message: "DB cluster is not available for modification with status backing-up (Service: Rds, Status Code: 400)" (HandlerErrorCode: InvalidRequest)`,
	}); err != nil {
		return err
	}
	if err := s.run(ctx, exitFailed, "deploy", s.project); err != nil {
		return err
	}
	return s.expect(ctx, happened{
		done:    []string{"app/uploads/update", "data/images/update", "data/queue/update"},
		failed:  []string{"data/db/update"},
		skipped: []string{"app/api/update", "app/orders/update", "ops/alarms/update"},
		cause:   "after data/db/update",
	})
}

// retries takes up what failed.
func (s *stage) retries(ctx context.Context) error {
	s.say("The backup is over by now: retry plans the same files afresh, leaves alone what is done and goes on with the database.")
	failed, err := s.newest(ctx)
	if err != nil {
		return err
	}
	if err := s.run(ctx, exitOK, "retry", failed.Run); err != nil {
		return err
	}
	return s.expect(ctx, happened{
		done: []string{"app/api/update", "app/orders/update", "data/db/update"},
		same: []string{"ops/alarms/update"},
	})
}

// reviews replaces a log group, after somebody has approved exactly that.
func (s *stage) reviews(ctx context.Context) error {
	s.say("A log group gets another name, which replaces it: plan shouts that its data is lost. The plan is saved; the deploy carries out that one or nothing, and waits until somebody approves it.")
	if err := s.edit("stackwright.yaml", "project: shop", "approve_plan: true\nproject: shop"); err != nil {
		return err
	}
	const retention = "      RetentionInDays: !Ref RetentionDays"
	if err := s.edit("templates/orders.yaml", retention, "      LogGroupName: /shop/orders\n"+retention); err != nil {
		return err
	}
	saved := filepath.Join(s.folder, "shop.plan")
	if err := s.run(ctx, exitOK, "plan", s.project, "--out", saved); err != nil {
		return err
	}
	if err := s.run(ctx, exitWaiting, "deploy", "--plan", saved); err != nil {
		return err
	}
	if err := s.run(ctx, exitOK, "approve", "--yes"); err != nil {
		return err
	}
	return s.expect(ctx, happened{done: []string{"app/orders/update", "approve"}, same: []string{"app/api/update", "ops/alarms/update"}})
}

// archive is a stack that somebody has created by hand, with the template that the project will have for it.
const archive = `AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      SqsManagedSseEnabled: true
`

// adopts takes over a stack that somebody has created.
func (s *stage) adopts(ctx context.Context) error {
	s.say("Somebody has created the stack legacy-archive by hand. The project describes it, and adopt takes it over: nothing in AWS is changed. That has to be approved, too.")
	if err := s.create(ctx, "legacy-archive", archive); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.project, "templates", "archive.yaml"), []byte(archive), 0o644); err != nil {
		return err
	}
	if err := s.edit("stackwright.yaml", "\nstacks:\n", "\nstacks:\n  data/archive:\n    template: templates/archive.yaml\n    stack_name: legacy-archive\n"); err != nil {
		return err
	}
	if err := s.run(ctx, exitWaiting, "adopt", s.project, "--only", "data/archive"); err != nil {
		return err
	}
	return s.approved(ctx, "approve", "data/archive/adopt")
}

// imports brings a table that exists into a stack.
func (s *stage) imports(ctx context.Context) error {
	s.say("The table orders-archive exists, and no stack has it. The template describes it, and import: says that it exists: the stack imports it by a change set that does nothing else, and then an update does the rest.")
	if err := s.edit("templates/archive.yaml", "\n  Jobs:", archiveTable+"\n  Jobs:"); err != nil {
		return err
	}
	const named = "    stack_name: legacy-archive\n"
	if err := s.edit("stackwright.yaml", named, named+"    import: { Table: auto }\n"); err != nil {
		return err
	}
	if err := s.run(ctx, exitChanges, "plan", s.project, "--exit-code"); err != nil {
		return err
	}
	if err := s.run(ctx, exitWaiting, "deploy", s.project); err != nil {
		return err
	}
	return s.approved(ctx, "approve", "data/archive/import", "data/archive/update")
}

// forgets gives a stack away.
func (s *stage) forgets(ctx context.Context) error {
	s.say("Forget deletes the record of a stack: the stack stays, with its queue, and another project can adopt it.")
	if err := s.run(ctx, exitWaiting, "forget", "data/archive", "--project", "shop"); err != nil {
		return err
	}
	if err := s.approved(ctx, "approve", "data/archive/forget"); err != nil {
		return err
	}
	if err := s.edit("stackwright.yaml", "  data/archive:\n    template: templates/archive.yaml\n    stack_name: legacy-archive\n", ""); err != nil {
		return err
	}
	if err := s.edit("stackwright.yaml", "    "+key+"\n", ""); err != nil {
		return err
	}
	exported := filepath.Join(s.folder, "exported")
	s.say("Export writes the project of the live stacks, with references: a plan of it says that nothing would change.")
	if err := s.run(ctx, exitOK, "export", "shop", "--project", exported); err != nil {
		return err
	}
	return s.run(ctx, exitOK, "plan", exported, "--exit-code")
}

// approved approves the plan of the run that waits, and expects that these steps are done.
func (s *stage) approved(ctx context.Context, done ...string) error {
	if err := s.run(ctx, exitOK, "approve", "--yes"); err != nil {
		return err
	}
	return s.expect(ctx, happened{done: done})
}

// destroys takes all stacks down.
func (s *stage) destroys(ctx context.Context) error {
	s.say("Destroy deletes all stacks, users before what they use. It has to be approved, too.")
	if err := s.run(ctx, exitWaiting, "destroy", s.project, "--yes"); err != nil {
		return err
	}
	if err := s.approved(ctx, "app/api/delete", "app/orders/delete", "app/uploads/delete", "approve", "data/db/delete", "data/images/delete", "data/queue/delete",
		"network/security/delete", "network/vpc/delete", "ops/alarms/delete"); err != nil {
		return err
	}
	if err := s.reversed(ctx); err != nil {
		return err
	}
	left, err := s.ask(ctx, "stacks", "-o", "json")
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("there are stacks left:\n%s", left)
	}
	return err
}

// reversed checks that what was created after something was deleted before it.
func (s *stage) reversed(ctx context.Context) error {
	last, err := s.newest(ctx)
	if err != nil {
		return err
	}
	after := make(map[string][]string)
	for _, step := range last.Steps {
		after[step.Step] = step.After
	}
	for _, step := range s.first.Steps {
		gone := strings.Replace(step.Step, "/create", "/delete", 1)
		for _, need := range step.After {
			need = strings.Replace(need, "/create", "/delete", 1)
			if !slices.Contains(after[need], gone) {
				return fmt.Errorf("run %s: %s does not wait for %s", last.Run, need, gone)
			}
		}
	}
	return nil
}

// happened is what is expected of the steps of a run: their IDs, sorted.
type happened struct {
	done    []string // and changed something
	same    []string // done, and found nothing to change
	failed  []string
	skipped []string
	cause   string // of what was skipped
}

// expect compares the newest run with what is expected of it.
func (s *stage) expect(ctx context.Context, want happened) error {
	r, err := s.newest(ctx)
	if err != nil {
		return err
	}
	var got happened
	for _, step := range r.Steps {
		switch {
		case step.Status == "done" && step.Why == "unchanged":
			got.same = append(got.same, step.Step)
		case step.Status == "done":
			got.done = append(got.done, step.Step)
		case step.Status == "failed":
			got.failed = append(got.failed, step.Step)
		case step.Status == "skipped":
			got.skipped = append(got.skipped, step.Step)
			if step.Why != want.cause {
				return fmt.Errorf("run %s: step %s was skipped for %q, not for %q", r.Run, step.Step, step.Why, want.cause)
			}
		}
	}
	for _, list := range []struct {
		what      string
		got, want []string
	}{{"done", got.done, want.done}, {"unchanged", got.same, want.same}, {"failed", got.failed, want.failed}, {"skipped", got.skipped, want.skipped}} {
		slices.Sort(list.got)
		if !slices.Equal(list.got, list.want) {
			return fmt.Errorf("run %s: %s are %s, not %s", r.Run, list.what, strings.Join(list.got, " "), strings.Join(list.want, " "))
		}
	}
	return nil
}
