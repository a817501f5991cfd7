package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"opentabs/wire"
)

// ErrUnknown is wrapped by errors of a [Policy] about unknown plugins or tools; the
// routes answer 404.
var ErrUnknown = errors.New("not found")

// maxBodyBytes is the maximum size of a request's body. It does not apply to /mcp.
const maxBodyBytes = 64 << 10

// Policy has the methods that the routes below /plugins/{name} call. by is the surface
// of a change. The texts of errors are for the user.
type Policy interface {
	Permissions(plugin string) (PluginPermissions, error)
	Review(plugin, hash string, permission wire.Permission, by string) error
	// SetPermission sets the permission of a tool, or of the plugin if tool is empty.
	// An empty permission removes the tool's permission.
	SetPermission(plugin, tool string, permission wire.Permission, by string) error
	// SetLimit sets how often a tool may run, as in "10/1m". An empty limit removes the
	// limit.
	SetLimit(plugin, tool, limit, by string) error
	// SetOpening sets whether calls without a tab of the plugin may open one.
	SetOpening(plugin string, allowed bool, by string) error
	// SetCalls sets whether the tools of the plugin may call the tools of another plugin.
	SetCalls(plugin, other string, allowed bool, by string) error
	// SetLateAccess sets whether a plugin that starts late gets its secret settings
	// and may call other plugins.
	SetLateAccess(plugin string, allowed bool, by string) error
	// Settings returns the plugin's settings. Of a secret, it returns only whether it is
	// set.
	Settings(plugin string) ([]wire.SettingView, error)
	// ChangeSettings sets settings by key; null removes a setting.
	ChangeSettings(plugin string, values map[string]json.RawMessage, by string) error
	// Forget removes all decisions about a plugin, and its settings.
	Forget(plugin, by string) error
}

// PluginPermissions are the permissions of one plugin.
type PluginPermissions struct {
	Plugin string `json:"plugin"`
	// Hash is the hash of the plugin's content. A review is valid for one hash.
	Hash string `json:"hash"`
	// Reviewed is true if the user has reviewed the current content. Review is the last
	// review, which may be of earlier content.
	Reviewed bool    `json:"reviewed"`
	Review   *Review `json:"review,omitempty"`
	// Permission is off if the plugin is not reviewed. Stored is the permission that the
	// user has set.
	Permission wire.Permission `json:"permission"`
	Stored     wire.Permission `json:"stored,omitempty"`
	Mark
	// OpensAt is the page that may be opened for a call without a tab. Opening is true
	// if the user has allowed that.
	OpensAt string `json:"opens_at,omitempty"`
	Opening bool   `json:"opening,omitempty"`
	// World is the JavaScript world of the adapter. Late is true if scripts of the page
	// run before the adapter; then it gets secret settings and may call other plugins
	// only if LateAccess is set.
	World      wire.World `json:"world,omitempty"`
	Late       bool       `json:"late,omitempty"`
	LateAccess bool       `json:"late_access,omitempty"`
	// Calls are the other plugins whose tools the plugin may call. StoredCalls are those
	// that the user allowed for earlier content.
	Calls       []AllowedCall `json:"calls,omitempty"`
	StoredCalls []AllowedCall `json:"stored_calls,omitempty"`
	// Recommended is an agent's recommendation about the content. It changes nothing.
	Recommended *Recommendation   `json:"recommended,omitempty"`
	Tools       []ToolPermissions `json:"tools"`
	// Fault is why the current content did not start in a page.
	Fault *Fault `json:"fault,omitempty"`
	// Problems are the parts of permissions.json that could not be read.
	Problems []string `json:"problems,omitempty"`
}

// AllowedCall is another plugin whose tools a plugin may call.
type AllowedCall struct {
	Plugin string `json:"plugin"`
	Mark
}

// Mark is the surface and the time of a change.
type Mark struct {
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Review is a user's review of a plugin's content.
type Review struct {
	Hash    string `json:"hash"`
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Mark
}

// Recommendation is an agent's opinion of a plugin.
type Recommendation struct {
	Permission wire.Permission `json:"permission"`
	Note       string          `json:"note,omitempty"`
	Mark
}

// ToolPermissions are the permissions of one tool.
type ToolPermissions struct {
	Name string `json:"name"`
	// Permission is the permission in effect: Own, or that of the plugin. Own is the
	// permission that was set for this tool, and Mark has the surface and time of
	// that change.
	Permission wire.Permission `json:"permission"`
	Own        wire.Permission `json:"own,omitempty"`
	Mark
	// Limit is how often it may run, as in "10/1m".
	Limit string `json:"limit,omitempty"`
	// Grants are the user's approvals for single callers: for a session, for a time or
	// permanent.
	Grants []Grant `json:"grants,omitempty"`
}

// Grant is a permission for one caller of a tool.
type Grant struct {
	Scope wire.Scope `json:"scope"`
	// Client is the name of the MCP client. Caller is the plugin whose tool makes the
	// call; empty if the client makes it.
	Client string `json:"client,omitempty"`
	Caller string `json:"caller,omitempty"`
	Mark
	Until time.Time `json:"until,omitzero"`
}

// change is the body of all requests that change permissions or settings. Each route
// uses some of the fields.
type change struct {
	Hash       string          `json:"hash,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Permission wire.Permission `json:"permission,omitempty"`
	Limit      string          `json:"limit,omitempty"`
	// Allowed is the new value for opening tabs, for calling the plugin Other, or for
	// the access of a late plugin.
	Allowed bool   `json:"allowed,omitempty"`
	Other   string `json:"other,omitempty"`
	// Values are settings by key.
	Values map[string]json.RawMessage `json:"values,omitempty"`
}

func (a *API) permissions(w http.ResponseWriter, r *http.Request) {
	p, err := a.options.Policy.Permissions(r.PathValue("name"))
	if err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	answer(w, http.StatusOK, p)
}

func (a *API) review(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.Review(plugin, c.Hash, c.Permission, CommandLine)
	})
}

func (a *API) setPermission(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.SetPermission(plugin, c.Tool, c.Permission, CommandLine)
	})
}

func (a *API) setLimit(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.SetLimit(plugin, c.Tool, c.Limit, CommandLine)
	})
}

func (a *API) setOpening(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.SetOpening(plugin, c.Allowed, CommandLine)
	})
}

func (a *API) setCalls(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.SetCalls(plugin, c.Other, c.Allowed, CommandLine)
	})
}

func (a *API) setLateAccess(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.SetLateAccess(plugin, c.Allowed, CommandLine)
	})
}

// pluginSettings is the response of /plugins/{name}/settings.
type pluginSettings struct {
	Plugin   string             `json:"plugin"`
	Settings []wire.SettingView `json:"settings"`
}

func (a *API) settings(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	settings, err := a.options.Policy.Settings(name)
	if err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	answer(w, http.StatusOK, pluginSettings{Plugin: name, Settings: append([]wire.SettingView{}, settings...)})
}

func (a *API) changeSettings(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.ChangeSettings(plugin, c.Values, CommandLine)
	})
}

func (a *API) forget(w http.ResponseWriter, r *http.Request) {
	a.change(w, r, func(plugin string, c change) error {
		return a.options.Policy.Forget(plugin, CommandLine)
	})
}

// change decodes the body, calls apply with it, and sends the response.
func (a *API) change(w http.ResponseWriter, r *http.Request, apply func(plugin string, c change) error) {
	c, ok := bodyOf[change](w, r)
	if !ok {
		return
	}
	if err := apply(r.PathValue("name"), c); err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	answer(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// bodyOf decodes a request's body, a JSON object without unknown members. For an
// invalid body it sends the error response and returns ok = false.
func bodyOf[T any](w http.ResponseWriter, r *http.Request) (body T, ok bool) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "the body is not the JSON object that is wanted here: "+strings.TrimPrefix(err.Error(), "json: "))
		return body, false
	}
	if d.More() {
		refuse(w, http.StatusBadRequest, "there is something behind the JSON object in the body: send one object")
		return body, false
	}
	return body, true
}

// statusOf returns the HTTP status for err.
func statusOf(err error) int {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, ErrUnknown):
		return http.StatusNotFound
	case errors.As(err, &path), errors.As(err, &link):
		return http.StatusInternalServerError
	}
	return http.StatusConflict
}

// Permissions requests the permissions of a plugin.
func (c *Client) Permissions(ctx context.Context, plugin string) (p PluginPermissions, err error) {
	err = c.ask(ctx, askTimeout, http.MethodGet, pluginPath(plugin, "permission"), &p)
	return p, err
}

// Review records that the user has reviewed the content with this hash.
func (c *Client) Review(ctx context.Context, plugin, hash string, permission wire.Permission) error {
	return c.post(ctx, pluginPath(plugin, "review"), change{Hash: hash, Permission: permission}, nil)
}

// SetPermission sets the permission of a plugin, or of one of its tools.
func (c *Client) SetPermission(ctx context.Context, plugin, tool string, permission wire.Permission) error {
	return c.post(ctx, pluginPath(plugin, "permission"), change{Tool: tool, Permission: permission}, nil)
}

// SetLimit sets how often a tool may run. An empty limit removes the limit.
func (c *Client) SetLimit(ctx context.Context, plugin, tool, limit string) error {
	return c.post(ctx, pluginPath(plugin, "limit"), change{Tool: tool, Limit: limit}, nil)
}

// SetOpening sets whether calls without a tab of the plugin may open one.
func (c *Client) SetOpening(ctx context.Context, plugin string, allowed bool) error {
	return c.post(ctx, pluginPath(plugin, "opening"), change{Allowed: allowed}, nil)
}

// SetCalls sets whether the tools of a plugin may call the tools of another plugin.
func (c *Client) SetCalls(ctx context.Context, plugin, other string, allowed bool) error {
	return c.post(ctx, pluginPath(plugin, "calls"), change{Other: other, Allowed: allowed}, nil)
}

// SetLateAccess sets whether a plugin that starts late gets its secret settings and
// may call other plugins.
func (c *Client) SetLateAccess(ctx context.Context, plugin string, allowed bool) error {
	return c.post(ctx, pluginPath(plugin, "late"), change{Allowed: allowed}, nil)
}

// Settings requests a plugin's settings.
func (c *Client) Settings(ctx context.Context, plugin string) ([]wire.SettingView, error) {
	var all pluginSettings
	err := c.ask(ctx, askTimeout, http.MethodGet, pluginPath(plugin, "settings"), &all)
	return all.Settings, err
}

// ChangeSettings sets settings of a plugin by key; null removes a setting.
func (c *Client) ChangeSettings(ctx context.Context, plugin string, values map[string]json.RawMessage) error {
	return c.post(ctx, pluginPath(plugin, "settings"), change{Values: values}, nil)
}

// Forget removes all decisions about a plugin, and its settings.
func (c *Client) Forget(ctx context.Context, plugin string) error {
	return c.post(ctx, pluginPath(plugin, "forget"), change{}, nil)
}

func pluginPath(plugin, what string) string {
	return "/plugins/" + url.PathEscape(plugin) + "/" + what
}
