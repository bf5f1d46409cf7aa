package main

import (
	"context"
	"fmt"
	"strings"
)

// archiveTable is a table that a user has created before any stack has it.
const archiveTable = `
  Table:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      TableName: orders-archive
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]
      KeySchema: [{ AttributeName: id, KeyType: HASH }]
`

// key is what the plan says to write under the stack that gets the table.
const key = "move_from: {data/archive: {Table: Table}}"

// moves brings the table into another stack.
func (s *stage) moves(ctx context.Context) error {
	s.say("The table goes into the template of another stack. A plan of that would create it there, and says how to move it instead: by a stack refactor, which moves the table as it is. The same deploy changes a parameter of that stack.")
	if err := s.edit("templates/archive.yaml", archiveTable, ""); err != nil {
		return err
	}
	if err := s.edit("templates/queue.yaml", "\n  DeadLetters:\n", archiveTable+"\n  DeadLetters:\n"); err != nil {
		return err
	}
	if err := s.edit("stackwright.yaml", "    import: { Table: auto }\n", ""); err != nil {
		return err
	}
	shown, err := s.ask(ctx, "plan", s.project, "-o", "json")
	if err != nil {
		return err
	}
	if !strings.Contains(string(shown), key) {
		return fmt.Errorf("the plan does not say %s:\n%s", key, shown)
	}
	if err := s.edit("stackwright.yaml", "    template: templates/queue.yaml\n", "    template: templates/queue.yaml\n    "+key+"\n"); err != nil {
		return err
	}
	if err := s.edit("stackwright.yaml", "VisibilityTimeout: 120", "VisibilityTimeout: 180"); err != nil { // the same deploy may change anything else
		return err
	}
	if err := s.run(ctx, exitChanges, "plan", s.project, "--exit-code"); err != nil {
		return err
	}
	if err := s.run(ctx, exitWaiting, "deploy", s.project); err != nil {
		return err
	}
	if err := s.run(ctx, exitOK, "approve", "--yes"); err != nil {
		return err
	}
	return s.expect(ctx, happened{
		done: []string{"approve", "data/archive/move-out", "data/queue/move-in", "data/queue/update"},
		same: []string{"app/api/update", "app/orders/update", "data/archive/update", "ops/alarms/update"},
	})
}
