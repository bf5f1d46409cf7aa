package suspend

// clusterKind is a DB cluster of Aurora. Aurora keeps its storage, and starts it by itself after seven days.
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-cluster-stop-start.html
func clusterKind() Kind {
	return Kind{Type: "AWS::RDS::DBCluster", Name: "DB cluster", Switch: clusters()}
}

// clusters stops and starts all instances of DB clusters.
func clusters() Switch {
	return machines{of: func(s Services) Machines { return s.Clusters }, states: databaseStates}
}
