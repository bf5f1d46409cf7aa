package report

// An Upload is how to upload a configuration: a request to S3 that everybody who knows it may send, for some minutes.
type Upload struct {
	Key     string            `json:"key"` // of the configuration, for the request that names it
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // that must be sent as they are
}
