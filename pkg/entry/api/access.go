package api

import "context"

// access says which role the caller has for a project, and to an admin, who else has one.
func (a API) access(ctx context.Context, q question) (answer, error) {
	shown, err := a.Grants(ctx, q.by, q.project)
	shown.Caller = q.who
	return answer{body: shown}, err
}
