package suspend

import (
	"context"

	"github.com/stackwright/stackwright/pkg/project"
)

// Clusters are DB clusters of Aurora, Neptune and DocumentDB.
type Clusters interface {
	// Clusters reads DB clusters of the account and region of the target by their identifiers. It leaves out those that do not exist.
	Clusters(ctx context.Context, in project.Target, ids []string) (map[string]Database, error)

	// StopCluster stops all instances of a cluster. The error is of kind Busy if it is not available now, and Missing if there is none.
	StopCluster(ctx context.Context, in project.Target, id string) error

	// StartCluster starts them. The error is of kind Busy if it is not stopped now.
	StartCluster(ctx context.Context, in project.Target, id string) error
}

// clusterKind is a DB cluster of Aurora. Aurora keeps its storage, and starts it by itself after seven days.
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-cluster-stop-start.html
func clusterKind() Kind {
	return Kind{Type: "AWS::RDS::DBCluster", Name: "DB cluster", Switch: clusters{}}
}

// clusters stops and starts DB clusters.
type clusters struct{}

// See implements Switch.
func (clusters) See(ctx context.Context, s Services, in project.Target, ids []string) (map[string]Seen, error) {
	found, err := s.Clusters.Clusters(ctx, in, ids)
	return seenDatabases(found), err
}

// Stop implements Switch.
func (clusters) Stop(ctx context.Context, s Services, in project.Target, id string) error {
	return s.Clusters.StopCluster(ctx, in, id)
}

// Start implements Switch.
func (clusters) Start(ctx context.Context, s Services, in project.Target, id, _ string) error {
	return s.Clusters.StartCluster(ctx, in, id)
}
