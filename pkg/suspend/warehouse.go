package suspend

// warehouseKind is a cluster of Redshift. It is paused and resumed; its storage stays.
// https://docs.aws.amazon.com/redshift/latest/mgmt/rs-mgmt-pause-resume-cluster.html
func warehouseKind() Kind {
	return Kind{Type: "AWS::Redshift::Cluster", Name: "Redshift cluster", Switch: machines{
		of:     func(s Services) Machines { return s.Warehouses },
		states: map[string]State{"available": On, "paused": Off, "resuming": Starting, "pausing": Stopping},
	}}
}
