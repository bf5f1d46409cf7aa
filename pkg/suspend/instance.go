package suspend

// instanceKind is an instance of EC2 that is in no Auto Scaling group. EC2 keeps its volumes, and its private addresses.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Stop_Start.html
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceState.html
func instanceKind() Kind {
	return Kind{Type: "AWS::EC2::Instance", Name: "EC2 instance", Switch: machines{
		of:     func(s Services) Machines { return s.Instances },
		states: map[string]State{"running": On, "stopped": Off, "pending": Starting, "stopping": Stopping},
	}}
}
