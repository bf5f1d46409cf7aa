package suspend

// graphKind is a DB cluster of Neptune, which the API of RDS stops and starts. Neptune starts it by itself after seven days.
// https://docs.aws.amazon.com/neptune/latest/userguide/manage-console-stop-start.html
func graphKind() Kind {
	return Kind{Type: "AWS::Neptune::DBCluster", Name: "Neptune cluster", Switch: clusters()}
}
