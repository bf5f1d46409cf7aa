package suspend

// documentKind is a DB cluster of DocumentDB, which the API of RDS stops and starts. DocumentDB starts it by itself after seven days.
// https://docs.aws.amazon.com/documentdb/latest/developerguide/db-cluster-stop-start.html
func documentKind() Kind {
	return Kind{Type: "AWS::DocDB::DBCluster", Name: "DocumentDB cluster", Switch: clusters()}
}
