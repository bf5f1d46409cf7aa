package suspend

// notebookKind is a notebook instance of SageMaker. SageMaker keeps its volume. One that has failed does not run, and can be started.
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopNotebookInstance.html
// https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeNotebookInstance.html
func notebookKind() Kind {
	return Kind{Type: "AWS::SageMaker::NotebookInstance", Name: "SageMaker notebook instance", Switch: machines{
		of:     func(s Services) Machines { return s.Notebooks },
		states: map[string]State{"InService": On, "Stopped": Off, "Failed": Off, "Pending": Starting, "Stopping": Stopping},
	}}
}
