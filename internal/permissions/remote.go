package permissions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"opentabs/internal/httpapi"
	"opentabs/wire"
)

// Remote reads and changes the permissions of a running daemon. The daemon records
// the surface of a change itself, so all by arguments are ignored.
type Remote struct {
	ctx    context.Context // of the one command that uses it
	client *httpapi.Client
}

var _ httpapi.Policy = Remote{}

// NewRemote returns the permissions of the daemon behind client. Requests end
// with ctx.
func NewRemote(ctx context.Context, client *httpapi.Client) Remote {
	return Remote{ctx, client}
}

// Permissions implements httpapi.Policy.
func (r Remote) Permissions(name string) (httpapi.PluginPermissions, error) {
	view, err := r.client.Permissions(r.ctx, name)
	return view, fromStatus(err)
}

// Review implements httpapi.Policy.
func (r Remote) Review(name, hash string, permission wire.Permission, _ string) error {
	return fromStatus(r.client.Review(r.ctx, name, hash, permission))
}

// SetPermission implements httpapi.Policy.
func (r Remote) SetPermission(name, tool string, permission wire.Permission, _ string) error {
	return fromStatus(r.client.SetPermission(r.ctx, name, tool, permission))
}

// SetLimit implements httpapi.Policy.
func (r Remote) SetLimit(name, tool, limit, _ string) error {
	return fromStatus(r.client.SetLimit(r.ctx, name, tool, limit))
}

// SetOpening implements httpapi.Policy.
func (r Remote) SetOpening(name string, allowed bool, _ string) error {
	return fromStatus(r.client.SetOpening(r.ctx, name, allowed))
}

// SetCalls implements httpapi.Policy.
func (r Remote) SetCalls(name, other string, allowed bool, _ string) error {
	return fromStatus(r.client.SetCalls(r.ctx, name, other, allowed))
}

// SetLateAccess implements httpapi.Policy.
func (r Remote) SetLateAccess(name string, allowed bool, _ string) error {
	return fromStatus(r.client.SetLateAccess(r.ctx, name, allowed))
}

// Settings implements httpapi.Policy.
func (r Remote) Settings(name string) ([]wire.SettingView, error) {
	views, err := r.client.Settings(r.ctx, name)
	return views, fromStatus(err)
}

// ChangeSettings implements httpapi.Policy.
func (r Remote) ChangeSettings(name string, values map[string]json.RawMessage, _ string) error {
	return fromStatus(r.client.ChangeSettings(r.ctx, name, values))
}

// Forget implements httpapi.Policy.
func (r Remote) Forget(name, _ string) error {
	return fromStatus(r.client.Forget(r.ctx, name))
}

// fromStatus makes a 404 of the daemon match httpapi.ErrUnknown, as [Local] does.
func fromStatus(err error) error {
	var refused *httpapi.Refused
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return &notFoundError{err}
	}
	return err
}
