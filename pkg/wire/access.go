package wire

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/stackwright/stackwright/pkg/access"
	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// allows decides whether a principal may do what needs a role with a project. Each decision reads
// the access file, so that a change of the file applies to the next request. What is denied, and
// why, is logged for the owner of the installation. The error says why nothing can be decided.
func (h *App) allows(ctx context.Context, by access.Principal, needed access.Role, project string) (bool, error) {
	policy, err := h.policy(ctx)
	if err != nil {
		return false, err
	}
	if broken := policy.Broken(); broken != nil {
		h.log.LogAttrs(ctx, slog.LevelError, "access file", slog.String("error", broken.Error()))
		h.meter.Unusable(ctx)
	}
	d := policy.Decide(by, needed, project)
	if !d.Allowed {
		h.log.LogAttrs(ctx, slog.LevelWarn, "denied", slog.String("principal", by.String()), slog.String("role", needed.String()),
			slog.String("project", project), slog.String("why", d.Why))
		h.meter.Denied(ctx)
	}
	return d.Allowed, nil
}

// among returns those of some projects with which a principal may do what needs a role. Nothing was denied to a principal
// that is shown a part of a list, so nothing is logged.
func (h *App) among(ctx context.Context, by access.Principal, needed access.Role, projects []string) ([]string, error) {
	policy, err := h.policy(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(projects), func(id string) bool { return !policy.Decide(by, needed, id).Allowed }), nil
}

// grants says which role a principal has for a project and, if it is admin, who has which.
func (h *App) grants(ctx context.Context, by access.Principal, project string) (reports.Access, error) {
	policy, err := h.policy(ctx)
	if err != nil {
		return reports.Access{}, err
	}
	role := policy.RoleFor(by, project)
	shown := reports.Access{Project: project, Role: role.String()}
	if !role.Includes(access.Admin) {
		return shown, nil
	}
	shown.Why = policy.Missing()
	for _, g := range policy.GrantsFor(project) {
		shown.Grants = append(shown.Grants, reports.Grant{Role: g.Role.String(), To: g.To, By: g.By})
	}
	return shown, nil
}

// policy reads the policy of the installation.
func (h *App) policy(ctx context.Context) (access.Policy, error) {
	text, err := h.bucket.Current(ctx, access.Key)
	switch {
	case fault.Is(err, fault.Missing):
		return access.NewPolicy(h.owner, nil), nil
	case fault.Is(err, fault.Invalid): // not the request is, but S3's answer or the object
		return access.Policy{}, fault.New(fault.Broken, "read who may do what: %w", err)
	case err != nil:
		return access.Policy{}, fmt.Errorf("read who may do what: %w", err)
	}
	return access.NewPolicy(h.owner, append([]byte{}, text...)), nil
}
