package suspend

// databaseKind is a DB instance that is in no cluster. RDS keeps its storage, and starts it by itself after seven days.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html
func databaseKind() Kind {
	return Kind{Type: "AWS::RDS::DBInstance", Name: "DB instance", Switch: machines{of: func(s Services) Machines { return s.Databases }, states: databaseStates}}
}

// databaseStates are the states of the statuses in which a database is on or off, or becomes so. In any other status it can be neither
// stopped nor started.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html#Overview.DBInstance.Status
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/accessing-monitoring.html#Aurora.Status
var databaseStates = map[string]State{"available": On, "stopped": Off, "starting": Starting, "stopping": Stopping}
