package project

// An Asset is a file that a stack needs in a bucket of its account, where the CDK's bootstrap
// stack has made a role that may write it. The installation's bucket has its bytes.
type Asset struct {
	Digest     string `json:"digest"` // SHA-256 of its bytes, in hex
	Bucket     string `json:"bucket"`
	Key        string `json:"key"`
	Role       string `json:"role"` // the ARN of the role that may write there
	ExternalID string `json:"external_id,omitempty"`
}

// Partition returns the partition of AWS that the target is in.
func (t Target) Partition() string { return partition(t.Region) }
