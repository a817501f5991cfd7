package wire

import "encoding/json"

// StateWatchParams turns the notifications state.sync and state.plugins on or off for one
// link.
type StateWatchParams struct {
	On bool `json:"on"`
}

// CallView is one call in the side panel.
type CallView struct {
	CallID string     `json:"callId"`
	Plugin string     `json:"plugin"`
	Tool   string     `json:"tool"`
	Status CallStatus `json:"status"`
	// Progress is a fraction from 0 to 1. The field Progress is absent while the fraction
	// is unknown.
	Progress *float64 `json:"progress,omitempty"`
	Message  string   `json:"message,omitempty"`
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// TabID is the tab in which the call runs. TabID is absent before the server has chosen a
	// tab, and if the tab is in another browser than the side panel.
	TabID int `json:"tabId,omitempty"`
	// CreatedMs is when the call arrived at the server, in milliseconds since 1970.
	CreatedMs float64 `json:"createdMs,omitempty"`
	// Site is the host and port of the page in which the call runs or ran.
	Site string `json:"site,omitempty"`
	// Args is the beginning of the call's arguments as JSON text. Text that a browser tool
	// types into a secret field is masked in Args.
	Args string `json:"args,omitempty"`
	// RunMs is the running time of the call in milliseconds, so far or in total.
	RunMs float64 `json:"runMs"`
	// Error explains to the user why the call failed. NextStep is advice for the user.
	// NextStep is absent if Error already contains advice.
	Error     string    `json:"error,omitempty"`
	NextStep  string    `json:"nextStep,omitempty"`
	ErrorCode ErrorCode `json:"errorCode,omitempty"`
	// The field Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// ParentCallID is the ID of the call whose tool made this nested call. ParentCallID
	// is absent if this call is not nested.
	ParentCallID string `json:"parentCallId,omitempty"`
	// UserProgress and UserMessage are the progress and the message of the last progress
	// report for the audience "user".
	UserProgress *float64 `json:"userProgress,omitempty"`
	UserMessage  string   `json:"userMessage,omitempty"`
	// StatusWord is the tool's word for what it is doing, such as "indexing". UserStatusWord
	// is the status word of the last progress report for the audience "user".
	StatusWord     string `json:"statusWord,omitempty"`
	UserStatusWord string `json:"userStatusWord,omitempty"`
	// EndAudience is "user" if the result of the call is meant for the user.
	EndAudience string `json:"endAudience,omitempty"`
	// Result is the beginning of a successful call's result, as text or JSON.
	Result string `json:"result,omitempty"`
	// The field Waiting describes what the call is waiting for, and is absent while the
	// call does not wait for the user.
	Waiting *WaitingView `json:"waiting,omitempty"`
	// Decision is the user's last approval or denial of the call.
	Decision *DecisionView `json:"decision,omitempty"`
	// The field Activities contains the contents that the tool shows beside its progress,
	// in the order of their first report.
	Activities []ActivityView `json:"activities,omitempty"`
}

// TicketKind is what a suspended call is waiting for: the user's approval or another action of
// the user.
type TicketKind string

const (
	// TicketPermission means that the call waits for the user to allow or deny it.
	TicketPermission TicketKind = "permission"
	// TicketUser means that the call waits for the user to do something, such as to log
	// in to the site.
	TicketUser TicketKind = "user"
)

// Scope is how far the user's approval extends: one call, a session, some time, or always.
type Scope string

const (
	// ScopeOnce allows only the suspended call that the user approves.
	ScopeOnce Scope = "once"
	// ScopeSession allows all calls of the tool by the client until its session ends.
	ScopeSession Scope = "session"
	// ScopeTime allows all calls of the tool by the client for a limited time.
	ScopeTime Scope = "time"
	// ScopeAlways allows all calls of the tool by the client without a time limit.
	ScopeAlways Scope = "always"
)

// WaitingView describes what a suspended call is waiting for, and for how long.
type WaitingView struct {
	TicketID string     `json:"ticketId"`
	Kind     TicketKind `json:"kind"`
	Reason   string     `json:"reason"`
	Title    string     `json:"title,omitempty"`
	// Args is the JSON text of the call's arguments, truncated to MaxShownArgsBytes.
	Args string `json:"args,omitempty"`
	// Caller is the tool that made the call. The field Caller is absent for a call that an
	// MCP client made.
	Caller *CallerView `json:"caller,omitempty"`
	// LeftMs is the time that the user has left to decide, in milliseconds.
	LeftMs float64 `json:"leftMs"`
	// The field Scopes contains the extents of an approval that the user can choose from.
	Scopes []Scope `json:"scopes,omitempty"`
	// PluginName is the display name of the plugin. ToolTitle is the display name of the
	// tool. Description is the author's description of the tool.
	PluginName  string `json:"pluginName,omitempty"`
	ToolTitle   string `json:"toolTitle,omitempty"`
	Description string `json:"description,omitempty"`
	// ReadOnly is true if the author of the tool declares that its calls change nothing.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Page is the page in which the call would run if the user approved the call now. The
	// field Page is absent if the page is unknown.
	Page *TicketPageView `json:"page,omitempty"`
}

// CallerView describes the tool that makes a nested call.
type CallerView struct {
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	// TabID is the tab of the calling tool. TabID is absent if the tab is in another browser
	// than the side panel.
	TabID  int    `json:"tabId,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// ActivityView is content that the side panel shows beside a call's progress, such as a
// table.
type ActivityView struct {
	Type string `json:"type"`
	// Content is the JSON text of the activity's content, or empty if the text is longer than
	// MaxShownActivityBytes.
	Content  string `json:"content,omitempty"`
	Audience string `json:"audience,omitempty"`
	// Bytes is the length of the activity's complete content, in bytes of JSON.
	Bytes int `json:"bytes"`
}

// CallDecideParams is the user's decision about a suspended call.
type CallDecideParams struct {
	CallID string `json:"callId"`
	// TicketID is the WaitingView.TicketID of the request that the user answers.
	TicketID string `json:"ticketId"`
	Allow    bool   `json:"allow"`
	// Scope is the extent of the approval if Allow is true. An absent Scope means ScopeOnce.
	Scope Scope `json:"scope,omitempty"`
	// DurationMs is the duration of an approval with ScopeTime, in milliseconds.
	DurationMs float64 `json:"forMs,omitempty"`
	// Surface is the surface on which the user decided. An absent Surface means the side
	// panel.
	Surface Surface `json:"surface,omitempty"`
}

// DecisionOutcome is what the server did with the user's decision.
type DecisionOutcome string

const (
	// DecisionAccepted means that the user's decision takes effect.
	DecisionAccepted DecisionOutcome = "decided"
	// DecisionAlreadyMade means that an earlier decision about the same call is in effect.
	DecisionAlreadyMade DecisionOutcome = "already"
	// DecisionNotPending means that the call is not waiting for a decision, because it has
	// ended or its request was withdrawn.
	DecisionNotPending DecisionOutcome = "ended"
)

// CallDecideResult reports what the server did with the user's decision.
type CallDecideResult struct {
	Outcome DecisionOutcome `json:"outcome"`
	// If Outcome is DecisionAlreadyMade, By is where the user made the earlier decision.
	By string `json:"by,omitempty"`
	// The field Allowed is true if the decision in effect allows the call.
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

// ToolView is one tool of a plugin as the side panel shows it.
type ToolView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Permission is the user's permission for this tool alone. If Permission is absent,
	// the permission of the plugin applies.
	Permission Permission `json:"permission,omitempty"`
	// ReadOnly is true if the author declares that the tool changes nothing.
	ReadOnly bool `json:"readOnly,omitempty"`
	// The field Allowed contains the clients and plugins that need no approval to call
	// the tool.
	Allowed []AllowedCallerView `json:"allowed,omitempty"`
	// Category is the name of the group under which the tool is listed. The field Category is
	// absent if the tool has no group.
	Category string `json:"category,omitempty"`
	// The field Undo is the name of another tool, which undoes calls of this tool. The field
	// Undo is absent if the author has not declared an undoing tool.
	Undo string `json:"undo,omitempty"`
}

// AllowedCallerView is a client or plugin that the user always allows to call a tool.
type AllowedCallerView struct {
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tools make the calls. The field Caller is absent for
	// calls that a client makes.
	Caller string `json:"caller,omitempty"`
}

// PluginView is one plugin as the side panel shows it.
type PluginView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Version     string `json:"version"`
	// The field Hash is the hash of the plugin's code and descriptions. The user must
	// review a plugin again when its Hash changes.
	Hash string `json:"hash"`
	// The field Reviewed is true if the user has reviewed the plugin with its current
	// Hash.
	Reviewed bool `json:"reviewed"`
	// HasChanged is true if the plugin has changed since the user's last review.
	HasChanged bool       `json:"changed,omitempty"`
	Permission Permission `json:"permission"`
	// Source is how the plugin was installed, such as from npm or from a folder.
	Source PluginSource `json:"source,omitempty"`
	// Problem explains why the plugin does not start in pages. The field Problem is absent
	// if no page has reported a failed start.
	Problem string `json:"problem,omitempty"`
	// The field Matches contains the Chrome match patterns of the plugin's sites.
	Matches []string   `json:"matches,omitempty"`
	Tools   []ToolView `json:"tools,omitempty"`
	// Icon is the SVG text of the plugin's icon. The field Icon is absent if the plugin
	// has no icon.
	Icon string `json:"icon,omitempty"`
	// Homepage is the plugin's http or https URL. The field Homepage is absent if the plugin
	// has none.
	Homepage string `json:"homepage,omitempty"`
	// The field Settings contains the settings of the plugin, sorted by key.
	Settings []SettingView `json:"settings,omitempty"`
	// MayOpenTab is true if the user allows a call that finds no tab to open OpensURL in a new
	// tab. OpensURL is absent if the plugin's author declared no page to open.
	MayOpenTab bool   `json:"opening,omitempty"`
	OpensURL   string `json:"opensAt,omitempty"`
	// World is the JavaScript environment of the adapter. An absent World means WorldMain.
	World World `json:"world,omitempty"`
	// StartsAfterPageScripts is true if scripts of the page run before the adapter and could tamper with
	// it. A plugin that starts late needs HasLateStartAccess to get secret settings and to call
	// other plugins.
	StartsAfterPageScripts bool `json:"late,omitempty"`
	HasLateStartAccess     bool `json:"lateAccess,omitempty"`
	// The field Calls contains the other plugins whose tools the plugin is allowed to
	// call.
	Calls []string `json:"calls,omitempty"`
	// RefusedPlugins are the other plugins that the plugin tried to call without permission
	// since the server started.
	RefusedPlugins []string `json:"refused,omitempty"`
	// The field Recommended is the opinion of an agent that has examined the plugin. A
	// recommendation changes no permission.
	Recommended *RecommendationView `json:"recommended,omitempty"`
}

// SettingType is the type of a setting's value, such as "url" or "boolean".
type SettingType string

const (
	// SettingURL is one http or https URL, or one URL for each instance of the site, such as
	// each self-hosted server.
	SettingURL     SettingType = "url"
	SettingString  SettingType = "string"
	SettingNumber  SettingType = "number"
	SettingBoolean SettingType = "boolean"
	// SettingSelect is a string that the user chooses from several options.
	SettingSelect SettingType = "select"
)

// SettingView is one setting of a plugin as the side panel shows it.
type SettingView struct {
	Key         string      `json:"key"`
	Type        SettingType `json:"type"`
	Label       string      `json:"label"`
	Description string      `json:"description,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	Required    bool        `json:"required,omitempty"`
	// The field Options contains the valid values of a SettingSelect.
	Options []string `json:"options,omitempty"`
	// The field Secret is true if the setting's value may be a secret, such as a password or
	// a key. The server sends only IsSet, not the Value, of a secret setting.
	Secret bool `json:"secret,omitempty"`
	IsSet  bool `json:"set,omitempty"`
	// IsWithheld is true if the server keeps a secret setting from a plugin that starts late
	// and lacks the user's late access.
	IsWithheld bool `json:"withheld,omitempty"`
	// Value is a JSON string, number or boolean. For a SettingURL, Value can also be an object
	// that maps instances to URLs. The field Value is absent if the user set no value.
	Value json.RawMessage `json:"value,omitempty"`
}

// RecommendationView is an agent's recommendation about a plugin.
type RecommendationView struct {
	// The field By is the name of the MCP client that the recommending agent uses.
	By         string     `json:"by"`
	Permission Permission `json:"permission"`
	// Note is the agent's comment about its recommendation.
	Note string `json:"note,omitempty"`
}

// FailedPluginView is a plugin that opentabs can't load.
type FailedPluginView struct {
	// Name is the plugin's name. The field Name is absent if the name is unknown.
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	// Error explains why opentabs can't load the plugin, and how to fix the problem.
	Error string `json:"error"`
}

// StatePluginsParams lists all plugins. Each state.plugins notification replaces the list
// of the previous notification.
type StatePluginsParams struct {
	Plugins []PluginView       `json:"plugins,omitempty"`
	Failed  []FailedPluginView `json:"failed,omitempty"`
}

// StateBrowserParams contains the user's permissions for browser tools. Each
// state.browser notification replaces all permissions of the previous notification.
type StateBrowserParams struct {
	// Permission is the common permission of all browser tools. If Permission is off, all
	// browser tools are off.
	Permission Permission         `json:"permission"`
	Groups     []BrowserGroupView `json:"groups,omitempty"`
	// The field Sites contains the user's rules for sites, each with the clients that the user
	// always allows.
	Sites []SiteView `json:"sites,omitempty"`
}

// BrowserGroupView is a group of browser tools as the side panel shows it.
type BrowserGroupView struct {
	Name  string            `json:"name"`
	Tools []BrowserToolView `json:"tools,omitempty"`
}

// BrowserToolView is one browser tool as the side panel shows it.
type BrowserToolView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Permission is the permission of the browser tool, and off while all browser tools are
	// off.
	Permission Permission `json:"permission"`
	// The field Dangerous is true if the tool runs code or accesses data that the page
	// itself does not show. The user must turn on each dangerous tool separately.
	Dangerous bool `json:"dangerous,omitempty"`
}

// SiteView contains the user's rule for browser tools on one site, and the clients that the
// user always allows.
type SiteView struct {
	// Site is a host with an optional port, or a pattern such as "*.example.com".
	Site string `json:"site"`
	// Permission is the user's rule for the site: off, read, ask or auto. The field Permission
	// is absent if the site has no rule.
	Permission string `json:"permission,omitempty"`
	// The field Allowed contains the clients that the user always allows to use the site.
	Allowed []SiteClientView `json:"allowed,omitempty"`
}

// SiteClientView is a client that the user always allows to use a site.
type SiteClientView struct {
	Client string `json:"client"`
	// Class is what the client may do on the site: "read", "act", or the name of one
	// dangerous tool.
	Class string `json:"class"`
}

// StateWaitingParams contains the number that the extension's toolbar icon shows as a
// badge.
type StateWaitingParams struct {
	// Count is the number of calls in all browsers that are waiting for the user.
	Count int `json:"count"`
}

// StateSyncParams lists the calls that the side panel shows.
type StateSyncParams struct {
	ServerVersion string `json:"serverVersion"`
	// The field Clients contains the names of the connected MCP clients.
	Clients []string `json:"clients,omitempty"`
	// The field Calls contains the calls that have not ended, oldest first. Each
	// state.sync notification replaces the Calls of the previous notification.
	Calls []CallView `json:"calls,omitempty"`
	// The field Ended contains the calls that have ended since the previous state.sync,
	// newest first. The first state.sync after state.watch contains the last 200 ended
	// calls.
	Ended []CallView `json:"ended,omitempty"`
	// The field Running is the number of all calls that have not ended, including calls
	// that Calls omits.
	Running int `json:"running"`
}
