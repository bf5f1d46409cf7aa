package report

// An Access says who may do what with an environment of a project.
type Access struct {
	Project string  `json:"project"`
	Role    string  `json:"role"`             // the greatest that the caller has for the project
	Caller  string  `json:"caller"`           // as whom the installation knows the caller
	Grants  []Grant `json:"grants,omitempty"` // the owners, and then the lines of the access file; only for an admin of the project
	Why     string  `json:"why,omitempty"`    // who decides, if no access file does; only for an admin of the project
}

// A Grant is a role that principals have.
type Grant struct {
	Role string `json:"role"`
	To   string `json:"to"`         // ARNs, tokens or the uploads of an account
	By   string `json:"granted_by"` // the place in the access file, or owner for an owner of the installation
}
