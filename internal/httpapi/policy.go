package httpapi

import (
	"encoding/json"
	"time"

	"opentabs/plugin"
	"opentabs/wire"
)

// ErrUnknown is wrapped by errors about an unknown plugin or tool. For an error that
// wraps ErrUnknown, the server responds with status 404.
var ErrUnknown = plugin.ErrUnknown

// Policy reads and changes permissions and settings of plugins. The parameter "by" is the surface on which the user
// made the change, such as [CommandLine]. Each error message of a Policy is a sentence for the user.
type Policy interface {
	Permissions(plugin string) (PluginPermissions, error)
	Review(plugin, hash string, permission wire.Permission, by string) error
	// ReviewAll reviews and enables several plugins in one change. The element errs[i] is
	// the error of reviews[i], or nil.
	ReviewAll(reviews []wire.ConfigReviewParams, by string) (errs []error)
	// DisableAll turns several plugins off in one change. The element errs[i] is the error
	// of plugins[i], or nil.
	DisableAll(plugins []string, by string) (errs []error)
	// SetPermission sets the permission of a tool. If tool is empty, SetPermission sets
	// the permission of the plugin. An empty permission removes the permission that the
	// user has set for the tool.
	SetPermission(plugin, tool string, permission wire.Permission, by string) error
	// SetLimit sets how often a tool may run, such as "10/1m" for 10 calls per minute. An
	// empty limit removes the limit of the tool.
	SetLimit(plugin, tool, limit, by string) error
	// SetMayOpenTab sets whether a call is allowed to open a tab with a page of the plugin
	// if no tab has one.
	SetMayOpenTab(plugin string, allowed bool, by string) error
	// SetCalls sets whether the tools of the plugin are allowed to call the tools of the
	// plugin target.
	SetCalls(plugin, target string, allowed bool, by string) error
	// SetLateStartAccess sets whether a plugin that starts after the page's scripts is allowed
	// to read its secret settings and call other plugins.
	SetLateStartAccess(plugin string, allowed bool, by string) error
	// Settings returns the settings of a plugin. For a secret setting, Settings returns
	// only whether the setting has a value.
	Settings(plugin string) ([]wire.SettingView, error)
	// ChangeSettings stores settings of a plugin by key. The value null removes a
	// setting.
	ChangeSettings(plugin string, settingValues map[string]json.RawMessage, by string) error
	// Sites returns the rules for browser tools, sorted by site.
	Sites() ([]Site, error)
	// SetSiteRule sets the rule for browser tools on a site. If rule is empty, SetSiteRule removes
	// the site's rule and all permanent approvals of clients on the site.
	SetSiteRule(site, rule, by string) error
	// Forget removes all of the user's decisions about a plugin, and its settings.
	Forget(plugin, by string) error
}

// PluginPermissions describe what one plugin is allowed to do, and when and on which
// surface the user allowed it.
type PluginPermissions struct {
	Plugin string `json:"plugin"`
	// The field Hash identifies the plugin's current content. A review is valid only for
	// content with the reviewed hash.
	Hash string `json:"hash"`
	// The field Reviewed is true if the user has reviewed the current content. Review is
	// the user's last review, which can be about earlier content.
	Reviewed bool    `json:"reviewed"`
	Review   *Review `json:"review,omitempty"`
	// Permission is the permission in effect, which is off if the current content is not
	// reviewed. The field StoredPermission is the permission that the user has set.
	Permission       wire.Permission `json:"permission"`
	StoredPermission wire.Permission `json:"stored,omitempty"`
	ChangeOrigin
	// OpensURL is the page that a call opens, if the user allows it, when no tab has a
	// page of the plugin. MayOpenTab is true if the user has allowed calls to open
	// OpensURL.
	OpensURL   string `json:"opens_at,omitempty"`
	MayOpenTab bool   `json:"opening,omitempty"`
	// World is the JavaScript world in which the adapter runs. StartsAfterPageScripts is true if the
	// adapter starts after scripts of the page have run. HasLateStartAccess is true if an
	// adapter that starts late is allowed to read secret settings and call other plugins.
	World                  wire.World `json:"world,omitempty"`
	StartsAfterPageScripts bool       `json:"late,omitempty"`
	HasLateStartAccess     bool       `json:"late_access,omitempty"`
	// Calls lists the other plugins whose tools this plugin is allowed to call.
	// StoredCalls are the plugins that earlier content of this plugin was allowed to
	// call.
	Calls       []AllowedCall `json:"calls,omitempty"`
	StoredCalls []AllowedCall `json:"stored_calls,omitempty"`
	// Recommendation is an agent's opinion about the current content, which changes no
	// permission. The field Recommendation is nil if no agent has recommended anything.
	Recommendation *Recommendation   `json:"recommended,omitempty"`
	Tools          []ToolPermissions `json:"tools"`
	// Fault describes why the adapter with the plugin's current content failed to start in a
	// page. The field Fault is nil if the adapter has not failed to start.
	Fault *Fault `json:"fault,omitempty"`
	// The field Problems describes the parts of permissions.json that could not be read.
	Problems []string `json:"problems,omitempty"`
}

// Site is the rule for browser tools on one site.
type Site struct {
	// Site is a host, a host with a port, a wildcard such as "*.example.com", or "*" for
	// all sites.
	Site string `json:"site"`
	// Permission is "off", "read", "ask" or "auto". The field Permission is empty if the
	// user has set no permission for the site, but has exempted MCP clients from approval
	// (AlwaysAllowed).
	Permission string `json:"permission,omitempty"`
	ChangeOrigin
	// AlwaysAllowed are the MCP clients whose browser tools need no approval on this site.
	AlwaysAllowed []SiteClient `json:"always_allowed,omitempty"`
}

// SiteClient is an MCP client that can use browser tools on a site without approval.
type SiteClient struct {
	Client string `json:"client"`
	// Class is "read" for tools that only read, or "act" for tools that act on the page.
	Class string `json:"class"`
	ChangeOrigin
}

// AllowedCall is another plugin whose tools a plugin is allowed to call.
type AllowedCall struct {
	Plugin string `json:"plugin"`
	ChangeOrigin
}

// ChangeOrigin records when the user or an agent made a change, and on which surface.
type ChangeOrigin struct {
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Review is the user's review of one content of a plugin.
type Review struct {
	Hash    string `json:"hash"`
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	ChangeOrigin
}

// Recommendation is an agent's opinion about the review of a plugin.
type Recommendation struct {
	Permission wire.Permission `json:"permission"`
	Note       string          `json:"note,omitempty"`
	ChangeOrigin
}

// ToolPermissions are the permission, the limit and the approvals of one tool.
type ToolPermissions struct {
	Name string `json:"name"`
	// Permission is the permission in effect: PermissionOverride if set, and otherwise the
	// permission of the plugin. PermissionOverride is the permission that the user has set for
	// this tool, and ChangeOrigin records when the user has set PermissionOverride.
	Permission         wire.Permission `json:"permission"`
	PermissionOverride wire.Permission `json:"own,omitempty"`
	ChangeOrigin
	// Limit is how often the tool may run, such as "10/1m" for 10 calls per minute.
	Limit string `json:"limit,omitempty"`
	// The field Grants contains the user's approvals for single callers: for a session,
	// for some time, or always.
	Grants []Grant `json:"grants,omitempty"`
}

// Grant is the user's approval of further calls of a tool by one caller.
type Grant struct {
	Scope wire.Scope `json:"scope"`
	// Client is the name of the MCP client. Caller is the plugin whose tool makes the
	// call, or empty if the client makes the call itself.
	Client string `json:"client,omitempty"`
	Caller string `json:"caller,omitempty"`
	ChangeOrigin
	ExpiresAt time.Time `json:"until,omitzero"`
}
