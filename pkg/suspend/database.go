package suspend

import (
	"context"

	"github.com/stackwright/stackwright/pkg/project"
)

// Databases are DB instances of RDS.
type Databases interface {
	// Databases reads DB instances of the account and region of the target by their identifiers. It leaves out those that do not exist.
	Databases(ctx context.Context, in project.Target, ids []string) (map[string]Database, error)

	// StopDatabase stops a DB instance. The error is of kind Busy if it is not available now, and Missing if there is none.
	StopDatabase(ctx context.Context, in project.Target, id string) error

	// StartDatabase starts one. The error is of kind Busy if it is not stopped now.
	StartDatabase(ctx context.Context, in project.Target, id string) error
}

// A Database is a DB instance, or a cluster of them.
type Database struct {
	Status string // as RDS calls it
	Member bool   // it belongs to a cluster, with which it is stopped
	Fixed  string // why it cannot be stopped; "" if it can

	Charged string // what it is charged by the hour while it is available, without storage, for price.Charged; empty if that is not known
}

// databaseKind is a DB instance that is in no cluster. RDS keeps its storage, and starts it by itself after seven days.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html
func databaseKind() Kind {
	return Kind{Type: "AWS::RDS::DBInstance", Name: "DB instance", Switch: databases{}}
}

// databases stops and starts DB instances.
type databases struct{}

// See implements Switch.
func (databases) See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error) {
	found, err := s.Databases.Databases(ctx, in, ids)
	return seenDatabases(found), err
}

// Stop implements Switch.
func (databases) Stop(ctx context.Context, s Services, in project.Target, id string) error {
	return s.Databases.StopDatabase(ctx, in, id)
}

// Start implements Switch.
func (databases) Start(ctx context.Context, s Services, in project.Target, id, _ string) error {
	return s.Databases.StartDatabase(ctx, in, id)
}

// databaseStates are the states of the statuses in which a database is on or off, or becomes so. In any other status it can be neither
// stopped nor started.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html#Overview.DBInstance.Status
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/accessing-monitoring.html#Aurora.Status
var databaseStates = map[string]State{"available": On, "stopped": Off, "starting": Starting, "stopping": Stopping}

// seenDatabases are databases as a suspend sees them, without members of clusters.
func seenDatabases(found map[string]Database) map[string]Seen {
	all := make(map[string]Seen, len(found))
	for id, d := range found {
		state, known := databaseStates[d.Status]
		switch {
		case d.Member:
			continue
		case !known:
			state = Occupied
		case d.Fixed != "" && state != Off:
			all[id] = Seen{State: Fixed, Says: d.Fixed}
			continue
		}
		all[id] = Seen{State: state, Says: d.Status, Charged: d.Charged}
	}
	return all
}
