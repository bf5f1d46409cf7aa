package report

// Accepted names the run of an accepted request that cannot be shown now.
type Accepted struct {
	Run string `json:"run"`
}

// A RemovedTarget names a target that was removed.
type RemovedTarget struct {
	Target string `json:"target"`
}
