package project

// An Asset is what a stack needs in its account, in a place that the CDK's bootstrap stack has made with a role that may write
// there: a file in a bucket, whose bytes the installation's bucket has, or a container image in a repository of ECR, which
// somebody else publishes.
type Asset struct {
	Digest     string `json:"digest,omitempty"` // SHA-256 of the file's bytes, in hex
	Image      bool   `json:"image,omitempty"`
	Bucket     string `json:"bucket"` // or the repository of an image
	Key        string `json:"key"`    // or the tag of an image
	Role       string `json:"role"`   // the ARN of the role that may write there
	ExternalID string `json:"external_id,omitempty"`
}

// InstallationQualifier is the qualifier of the CDK's bootstrap stack from which installations are deployed. No asset of a project
// goes there, and no project may use its roles.
const InstallationQualifier = "stkwright"

// Place is where the asset is, for messages.
func (a Asset) Place() string {
	if a.Image {
		return "image " + a.Bucket + ":" + a.Key
	}
	return "s3://" + a.Bucket + "/" + a.Key
}

// Partition returns the partition of AWS that the target is in.
func (t Target) Partition() string { return partition(t.Region) }

// An Object is an object of S3 that a hook puts into a bucket.
type Object struct {
	Key, ContentType string
	Body             []byte
}
