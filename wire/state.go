package wire

import "encoding/json"

// StateWatchParams turns state.sync and state.plugins on or off for one link.
type StateWatchParams struct {
	On bool `json:"on"`
}

// CallStatus is the status of a call for display. tool-call-progress.v1 has every status
// but StatusTimedOut.
type CallStatus string

const (
	// StatusPending means that the call is queued or waiting for approval.
	StatusPending   CallStatus = "pending"
	StatusRunning   CallStatus = "running"
	StatusDone      CallStatus = "done"
	StatusFailed    CallStatus = "failed"
	StatusCancelled CallStatus = "cancelled"
	// StatusTimedOut means that the call reached its idle limit, its hard limit or its
	// approval limit.
	StatusTimedOut CallStatus = "timed out"
)

// ForProgress returns the status in tool-call-progress.v1: a call that timed out has
// failed.
func (s CallStatus) ForProgress() CallStatus {
	if s == StatusTimedOut {
		return StatusFailed
	}
	return s
}

// IsFailure reports whether the call ended without a result and was not cancelled.
func (s CallStatus) IsFailure() bool { return s == StatusFailed || s == StatusTimedOut }

// CallView is one call in the side panel.
type CallView struct {
	CallID string     `json:"callId"`
	Plugin string     `json:"plugin"`
	Tool   string     `json:"tool"`
	Status CallStatus `json:"status"`
	// Progress is from 0 to 1. Progress is absent while the progress is unknown.
	Progress *float64 `json:"progress,omitempty"`
	Message  string   `json:"message,omitempty"`
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// TabID is the tab in which the call runs. TabID is absent before a tab is chosen,
	// and for a tab of another browser.
	TabID int `json:"tabId,omitempty"`
	// CreatedMs is the time at which the call arrived at the server, in milliseconds
	// since 1970.
	CreatedMs float64 `json:"createdMs,omitempty"`
	// Site is the host and port of the page in which the call runs or ran.
	Site string `json:"site,omitempty"`
	// Args is the beginning of the call's arguments as JSON text. In Args, text that a
	// browser tool types into a secret field is masked.
	Args string `json:"args,omitempty"`
	// RunMs is how long the call has run so far, or ran in total, in milliseconds.
	RunMs float64 `json:"runMs"`
	// Error is the reason why the call failed, as a text for the user. NextStep is the
	// advice for the user; NextStep is absent if Error contains the advice.
	Error     string    `json:"error,omitempty"`
	NextStep  string    `json:"nextStep,omitempty"`
	ErrorCode ErrorCode `json:"errorCode,omitempty"`
	// Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// ParentCallID is the ID of the call whose tool made a nested call.
	ParentCallID string `json:"parentCallId,omitempty"`
	// UserProgress and UserMessage are the Progress and Message of the last report for
	// the audience "user".
	UserProgress *float64 `json:"userProgress,omitempty"`
	UserMessage  string   `json:"userMessage,omitempty"`
	// StatusWord is the tool's word for its activity, such as "indexing".
	// UserStatusWord is the status word of the last report for the audience "user".
	StatusWord     string `json:"statusWord,omitempty"`
	UserStatusWord string `json:"userStatusWord,omitempty"`
	// EndAudience is "user" if the result of the call is meant for the user.
	EndAudience string `json:"endAudience,omitempty"`
	// Result is the beginning of the result of a successful call, as text or JSON.
	Result string `json:"result,omitempty"`
	// Waiting is set while the call is waiting for the user.
	Waiting *WaitingView `json:"waiting,omitempty"`
	// Decision is the user's last decision about the call.
	Decision *DecisionView `json:"decision,omitempty"`
	// Activities are the activities of the call, in the order of their first report.
	Activities []ActivityView `json:"activities,omitempty"`
}

// TicketKind is what a suspended call is waiting for.
type TicketKind string

const (
	// TicketPermission waits for the user to allow or deny the call.
	TicketPermission TicketKind = "permission"
	// TicketUser waits for an action of the user, such as to log in to the site.
	TicketUser TicketKind = "user"
)

// Scope is the extent of a permission that the user gives.
type Scope string

const (
	// ScopeOnce allows one call.
	ScopeOnce Scope = "once"
	// ScopeSession allows the tool for the client until its session ends.
	ScopeSession Scope = "session"
	// ScopeTime allows the tool for a limited time.
	ScopeTime Scope = "time"
	// ScopeAlways allows the tool without a time limit.
	ScopeAlways Scope = "always"
)

// WaitingView is the ticket of a suspended call.
type WaitingView struct {
	TicketID string     `json:"ticketId"`
	Kind     TicketKind `json:"kind"`
	Reason   string     `json:"reason"`
	Title    string     `json:"title,omitempty"`
	// Args is the JSON text of the arguments, truncated to MaxShownArgsBytes.
	Args string `json:"args,omitempty"`
	// Caller is the tool that made a nested call. Caller is absent for a call of a
	// client.
	Caller *CallerView `json:"caller,omitempty"`
	// LeftMs is the remaining time for the decision, in milliseconds.
	LeftMs float64 `json:"leftMs"`
	// Scopes are the scopes that the user can choose from.
	Scopes []Scope `json:"scopes,omitempty"`
	// PluginName is the display name of the plugin. ToolTitle is the display name of the
	// tool. Description is the author's description of the tool.
	PluginName  string `json:"pluginName,omitempty"`
	ToolTitle   string `json:"toolTitle,omitempty"`
	Description string `json:"description,omitempty"`
	// ReadOnly is true if the author of the tool declares that the call changes nothing.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Page is the page in which the call would run now. Page is absent if the page is
	// unknown.
	Page *TicketPageView `json:"page,omitempty"`
}

// CallerView is a tool that makes a nested call.
type CallerView struct {
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	// TabID is the tab of the calling tool, and is absent for a tab of another browser.
	TabID  int    `json:"tabId,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// ActivityView is one activity in the side panel.
type ActivityView struct {
	Type string `json:"type"`
	// Content is the JSON text of the activity's content. Content is empty if the JSON
	// text is longer than MaxShownActivityBytes.
	Content  string `json:"content,omitempty"`
	Audience string `json:"audience,omitempty"`
	// Bytes is the length of the complete content.
	Bytes int `json:"bytes"`
}

// CallDecideParams is the user's decision about a suspended call.
type CallDecideParams struct {
	CallID string `json:"callId"`
	// TicketID is the TicketID of the WaitingView that the user decides about.
	TicketID string `json:"ticketId"`
	Allow    bool   `json:"allow"`
	// Scope is the scope of the permission if Allow is true. Absent means ScopeOnce.
	Scope Scope `json:"scope,omitempty"`
	// ForMs is the duration of a ScopeTime, in milliseconds.
	ForMs float64 `json:"forMs,omitempty"`
	// Surface is where the user decided. If Surface is absent, the user decided in the
	// side panel.
	Surface Surface `json:"surface,omitempty"`
}

// DecisionOutcome is the effect of a decision.
type DecisionOutcome string

const (
	// DecisionAccepted means that the decision takes effect.
	DecisionAccepted DecisionOutcome = "decided"
	// DecisionAlreadyMade means that an earlier decision takes effect.
	DecisionAlreadyMade DecisionOutcome = "already"
	// DecisionNotPending means that the call is not waiting for a decision. A call
	// stops waiting for a decision when it ends or when its request is withdrawn.
	DecisionNotPending DecisionOutcome = "ended"
)

// CallDecideResult reports the effect of a decision.
type CallDecideResult struct {
	Outcome DecisionOutcome `json:"outcome"`
	// By is the surface of the earlier decision, for DecisionAlreadyMade.
	By string `json:"by,omitempty"`
	// Allowed is true if the decision that takes effect allows the call.
	Allowed bool `json:"allowed"`
}

// Permission controls whether agents can call a plugin or a tool.
type Permission string

const (
	// PermissionOff denies all calls.
	PermissionOff Permission = "off"
	// PermissionAsk requires the user's approval of each call.
	PermissionAsk Permission = "ask"
	// PermissionAuto allows all calls.
	PermissionAuto Permission = "auto"
)

// ToolView is one tool in the side panel.
type ToolView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Permission is the permission of the tool. If Permission is absent, the permission
	// of the plugin applies.
	Permission Permission `json:"permission,omitempty"`
	// ReadOnly is true if the author declares that the tool changes nothing.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Allowed are the callers that need no approval for the tool.
	Allowed []AllowedCallerView `json:"allowed,omitempty"`
	// Category is the group of the tool. Category is absent if the tool has no group.
	Category string `json:"category,omitempty"`
	// Undo is the tool of the plugin that undoes a call of the tool. Undo is absent if the
	// author declares none.
	Undo string `json:"undo,omitempty"`
}

// AllowedCallerView is a caller that the user always allows to call a tool.
type AllowedCallerView struct {
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tool makes the call. Caller is absent for a call of a
	// client.
	Caller string `json:"caller,omitempty"`
}

// PluginView is one plugin in the side panel.
type PluginView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Version     string `json:"version"`
	// Hash is the hash of the plugin's code and descriptions. The user's review of a
	// plugin is valid only for one Hash.
	Hash string `json:"hash"`
	// Reviewed is true if the user has reviewed the plugin's version with the hash
	// Hash.
	Reviewed bool `json:"reviewed"`
	// HasChanged is true if the user has reviewed a different content of the plugin.
	HasChanged bool       `json:"changed,omitempty"`
	Permission Permission `json:"permission"`
	// Source is how the plugin was installed.
	Source PluginSource `json:"source,omitempty"`
	// Problem is the reason why the plugin does not start in pages. Problem is absent
	// if the plugin starts, or if no page has reported a problem.
	Problem string `json:"problem,omitempty"`
	// Matches are the Chrome match patterns of the plugin's sites.
	Matches []string   `json:"matches,omitempty"`
	Tools   []ToolView `json:"tools,omitempty"`
	// Icon is an SVG image. Icon is absent if the plugin has no icon.
	Icon string `json:"icon,omitempty"`
	// Homepage is an http or https URL. Homepage is absent if the plugin has no
	// homepage.
	Homepage string `json:"homepage,omitempty"`
	// Settings are the settings of the plugin, sorted by key.
	Settings []SettingView `json:"settings,omitempty"`
	// MayOpenTab is true if a call without a tab may open OpensURL in a new tab. OpensURL
	// is absent if the plugin has no page to open.
	MayOpenTab bool   `json:"opening,omitempty"`
	OpensURL   string `json:"opensAt,omitempty"`
	// World is the world of the adapter. If World is absent, the adapter runs in the
	// main world.
	World World `json:"world,omitempty"`
	// StartsLate is true if scripts of the page run before the adapter. A late plugin needs
	// HasLateAccess to get secret settings and to call other plugins.
	StartsLate    bool `json:"late,omitempty"`
	HasLateAccess bool `json:"lateAccess,omitempty"`
	// Calls are the other plugins whose tools the plugin is allowed to call.
	Calls []string `json:"calls,omitempty"`
	// RefusedPlugins are the other plugins that the plugin tried to call without permission
	// since the server started.
	RefusedPlugins []string `json:"refused,omitempty"`
	// Recommended is the recommendation of an agent that has examined the plugin, and
	// changes no permission.
	Recommended *RecommendationView `json:"recommended,omitempty"`
}

// SettingType is the type of a setting's value.
type SettingType string

const (
	// SettingURL is one http or https URL, or one URL for each instance of the site.
	SettingURL     SettingType = "url"
	SettingString  SettingType = "string"
	SettingNumber  SettingType = "number"
	SettingBoolean SettingType = "boolean"
	// SettingSelect is one of several options.
	SettingSelect SettingType = "select"
)

// SettingView is one setting of a plugin in the side panel.
type SettingView struct {
	Key         string      `json:"key"`
	Type        SettingType `json:"type"`
	Label       string      `json:"label"`
	Description string      `json:"description,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	Required    bool        `json:"required,omitempty"`
	// Options are the valid values of a SettingSelect.
	Options []string `json:"options,omitempty"`
	// Secret is true if the value may be a password or a key. For a secret setting, the
	// side panel receives only the field IsSet instead of the value.
	Secret bool `json:"secret,omitempty"`
	IsSet  bool `json:"set,omitempty"`
	// IsWithheld is true if the plugin does not get the setting's value, because the
	// plugin starts late and its HasLateAccess is false.
	IsWithheld bool `json:"withheld,omitempty"`
	// Value is a string, number or boolean, or an object of URLs by instance for a
	// SettingURL. Value is absent if the setting has no value.
	Value json.RawMessage `json:"value,omitempty"`
}

// RecommendationView is an agent's recommendation about a plugin.
type RecommendationView struct {
	// By is the name of the agent's MCP client.
	By         string     `json:"by"`
	Permission Permission `json:"permission"`
	// Note is the agent's comment.
	Note string `json:"note,omitempty"`
}

// FailedPluginView is a plugin that can't be loaded.
type FailedPluginView struct {
	// Name is the plugin's name. Name is absent if the plugin's name is unknown.
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	// Error describes why the plugin can't be loaded, and the remedy.
	Error string `json:"error"`
}

// StatePluginsParams lists all plugins. StatePluginsParams replaces the previous list.
type StatePluginsParams struct {
	Plugins []PluginView       `json:"plugins,omitempty"`
	Failed  []FailedPluginView `json:"failed,omitempty"`
}

// ConfigSettingsParams changes settings of a plugin.
type ConfigSettingsParams struct {
	Plugin string `json:"plugin"`
	// Values is a JSON object of the settings to change. Each value has the format of
	// SettingView.Value; null removes the value.
	Values json.RawMessage `json:"values"`
}

// ConfigSettingsResult is empty. ConfigSettingsResult confirms that the settings are
// saved.
type ConfigSettingsResult struct{}

// ConfigOpeningParams allows or forbids that calls open tabs of a plugin.
type ConfigOpeningParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigOpeningResult is empty. ConfigOpeningResult confirms that the change is saved.
type ConfigOpeningResult struct{}

// ConfigCallsParams allows or forbids that tools of the plugin Plugin call tools of the
// plugin CalledPlugin.
type ConfigCallsParams struct {
	Plugin       string `json:"plugin"`
	CalledPlugin string `json:"other"`
	Allowed      bool   `json:"allowed"`
}

// ConfigCallsResult is empty. ConfigCallsResult confirms that the change is saved.
type ConfigCallsResult struct{}

// ConfigLateAccessParams allows or forbids that a plugin that starts late gets its
// secret settings and calls other plugins.
type ConfigLateAccessParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigLateAccessResult is empty. ConfigLateAccessResult confirms that the change is
// saved.
type ConfigLateAccessResult struct{}

// StateBrowserParams has the user's permissions for browser tools. StateBrowserParams
// replaces all previously sent permissions.
type StateBrowserParams struct {
	// Permission is the permission of all browser tools together. If Permission is off,
	// no browser tool is on.
	Permission Permission         `json:"permission"`
	Groups     []BrowserGroupView `json:"groups,omitempty"`
	// Sites are the user's rules for sites, with the "always" approvals of clients.
	Sites []SiteView `json:"sites,omitempty"`
}

// BrowserGroupView is a group of browser tools in the side panel.
type BrowserGroupView struct {
	Name  string            `json:"name"`
	Tools []BrowserToolView `json:"tools,omitempty"`
}

// BrowserToolView is one browser tool in the side panel.
type BrowserToolView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Permission is the permission of the tool. Permission is off while all browser tools
	// are off.
	Permission Permission `json:"permission"`
	// Dangerous is true if the tool runs code, or handles data that the page itself does
	// not show. The user turns on each dangerous tool separately.
	Dangerous bool `json:"dangerous,omitempty"`
}

// SiteView has the user's permissions for browser tools on a site.
type SiteView struct {
	// Site is a host with an optional port, or a pattern with "*".
	Site string `json:"site"`
	// Permission is the rule of the site: off, read, ask or auto. Permission is absent if
	// the site has no rule.
	Permission string `json:"permission,omitempty"`
	// Allowed are the clients that the user has always allowed to use the site.
	Allowed []SiteClientView `json:"allowed,omitempty"`
}

// SiteClientView is a client that the user has always allowed to use a site.
type SiteClientView struct {
	Client string `json:"client"`
	// Class is what the client may do on the site: "read", "act", or the name of one
	// dangerous tool.
	Class string `json:"class"`
}

// ConfigSiteParams sets the user's rule for browser tools on a site.
type ConfigSiteParams struct {
	// Site is the site that the user typed: a host with an optional port, a URL, or a
	// pattern with "*".
	Site string `json:"site"`
	// Permission is the new rule of the site: off, read, ask or auto. If Permission is
	// absent, the server removes the rule and the "always" approvals of the site.
	Permission string `json:"permission,omitempty"`
}

// ConfigSiteResult is empty. ConfigSiteResult confirms that the server stored the rule.
type ConfigSiteResult struct{}

// ConfigBrowserToolsParams turns browser tools on or off.
type ConfigBrowserToolsParams struct {
	// Names are the names of tool groups and tools. Turning on a group does not turn on
	// its dangerous tools. If Names is absent, all browser tools are turned on or off,
	// and groups and tools keep their own permissions.
	Names []string `json:"names,omitempty"`
	On    bool     `json:"on"`
}

// ConfigBrowserToolsResult is empty. ConfigBrowserToolsResult confirms that the server
// stored the change.
type ConfigBrowserToolsResult struct{}

// StateWaitingParams is the number for the badge of the extension's toolbar icon.
type StateWaitingParams struct {
	// Count is the number of calls in all browsers that are waiting for the user.
	Count int `json:"count"`
}

// ConfigPermissionParams sets the permission of a plugin or of one of its tools.
type ConfigPermissionParams struct {
	Plugin string `json:"plugin"`
	// Tool is empty for the permission of the plugin.
	Tool string `json:"tool,omitempty"`
	// Permission is empty to remove the permission of a tool.
	Permission Permission `json:"permission,omitempty"`
}

// ConfigPermissionResult is empty. ConfigPermissionResult confirms that the permission
// is saved.
type ConfigPermissionResult struct{}

// StateSyncParams lists the calls that the side panel shows.
type StateSyncParams struct {
	ServerVersion string `json:"serverVersion"`
	// Clients are the names of the connected MCP clients.
	Clients []string `json:"clients,omitempty"`
	// Calls are the calls that have not ended, oldest first. Calls replaces the
	// previously sent list.
	Calls []CallView `json:"calls,omitempty"`
	// Ended are the calls that have ended since the previous state.sync, newest first.
	// The first state.sync after state.watch contains the last 200 ended calls.
	Ended []CallView `json:"ended,omitempty"`
	// Running is the number of all calls that have not ended, including calls that are
	// not in Calls.
	Running int `json:"running"`
}
