package httpapi

import (
	"encoding/json"
	"time"

	"opentabs/plugin"
	"opentabs/wire"
)

// ErrUnknown is wrapped by errors of a [Policy] about unknown plugins or tools; the
// routes answer 404.
var ErrUnknown = plugin.ErrUnknown

// Policy has the methods that the routes below /plugins/{name} call. The argument by is
// the surface on which the user made a change. The texts of a Policy's errors are for
// the user.
type Policy interface {
	Permissions(plugin string) (PluginPermissions, error)
	Review(plugin, hash string, permission wire.Permission, by string) error
	// ReviewAll reviews and enables several plugins in one change. errs[i] is the error
	// of review i, or nil.
	ReviewAll(reviews []wire.ConfigReviewParams, by string) (errs []error)
	// DisableAll turns several plugins off in one change. errs[i] is the error of plugin
	// i, or nil.
	DisableAll(plugins []string, by string) (errs []error)
	// SetPermission sets the permission of a tool, or of the plugin if tool is empty.
	// An empty permission removes the tool's permission.
	SetPermission(plugin, tool string, permission wire.Permission, by string) error
	// SetLimit sets how often a tool may run, as in "10/1m". An empty limit removes the
	// limit of the tool.
	SetLimit(plugin, tool, limit, by string) error
	// SetOpening sets whether calls may open a page of the plugin if no tab has one.
	SetOpening(plugin string, allowed bool, by string) error
	// SetCalls sets whether the tools of the plugin may call the tools of another plugin.
	SetCalls(plugin, target string, allowed bool, by string) error
	// SetLateAccess sets whether a plugin that starts after the page's scripts gets its
	// secret settings and may call other plugins.
	SetLateAccess(plugin string, allowed bool, by string) error
	// Settings returns the plugin's settings. For a secret setting, Settings returns
	// only whether the setting has a value.
	Settings(plugin string) ([]wire.SettingView, error)
	// ChangeSettings sets settings by key; null removes a setting.
	ChangeSettings(plugin string, values map[string]json.RawMessage, by string) error
	// Sites returns the rules for browser tools, sorted by the pattern of the site.
	Sites() ([]Site, error)
	// SetSite sets the rule of a site. An empty rule removes the rule, and the clients
	// that are always allowed there.
	SetSite(site, rule, by string) error
	// Forget removes all decisions about a plugin, and its settings.
	Forget(plugin, by string) error
}

// PluginPermissions are the permissions of one plugin.
type PluginPermissions struct {
	Plugin string `json:"plugin"`
	// Hash is the hash of the plugin's content. A review of a plugin is valid for the
	// content with one hash.
	Hash string `json:"hash"`
	// Reviewed is true if the user has reviewed the current content. Review is the last
	// review, which may be of earlier content.
	Reviewed bool    `json:"reviewed"`
	Review   *Review `json:"review,omitempty"`
	// Permission is off if the plugin is not reviewed. Stored is the permission that
	// the user has set for the plugin.
	Permission wire.Permission `json:"permission"`
	Stored     wire.Permission `json:"stored,omitempty"`
	Mark
	// OpensURL is the page that may be opened for a call without a tab. MayOpenTab is true
	// if the user has allowed calls to open the page OpensURL.
	OpensURL   string `json:"opens_at,omitempty"`
	MayOpenTab bool   `json:"opening,omitempty"`
	// World is the JavaScript world of the adapter. StartsLate is true if scripts of
	// the page run before the adapter; a late plugin needs HasLateAccess for secret
	// settings and calls of other plugins.
	World         wire.World `json:"world,omitempty"`
	StartsLate    bool       `json:"late,omitempty"`
	HasLateAccess bool       `json:"late_access,omitempty"`
	// Calls lists the other plugins whose tools this plugin may call. StoredCalls are
	// the plugins that the user allowed for earlier content.
	Calls       []AllowedCall `json:"calls,omitempty"`
	StoredCalls []AllowedCall `json:"stored_calls,omitempty"`
	// Recommendation is an agent's recommendation about the plugin's content.
	// Recommendation changes nothing.
	Recommendation *Recommendation   `json:"recommended,omitempty"`
	Tools          []ToolPermissions `json:"tools"`
	// Fault is why the plugin's current content did not start in a page; nil if no
	// start failed.
	Fault *Fault `json:"fault,omitempty"`
	// Problems are the parts of permissions.json that could not be read.
	Problems []string `json:"problems,omitempty"`
}

// Site is what browser tools may do on a site.
type Site struct {
	// Site is a host, a host with a port, *. and a host, or *.
	Site string `json:"site"`
	// Permission is off, read, ask or auto; empty if only AlwaysAllowed is set.
	Permission string `json:"permission,omitempty"`
	Mark
	// AlwaysAllowed are the clients that need no approval on the site.
	AlwaysAllowed []SiteClient `json:"always_allowed,omitempty"`
}

// SiteClient is a client that the user always allows to use a site.
type SiteClient struct {
	Client string `json:"client"`
	// Class is "read" or "act".
	Class string `json:"class"`
	Mark
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
	// Permission is the permission in effect: OwnPermission, or the permission of the
	// plugin. OwnPermission is the permission that the user has set for the tool, and
	// Mark has the surface and time of the change.
	Permission    wire.Permission `json:"permission"`
	OwnPermission wire.Permission `json:"own,omitempty"`
	Mark
	// Limit is how often the tool may run, as in "10/1m".
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
