package wire

import "encoding/json"

// StateWatchParams switches state.sync on or off for this connection.
type StateWatchParams struct {
	On bool `json:"on"`
}

// CallStatus is a call's status as surfaces show it (tool-call-progress.v1).
type CallStatus string

const (
	StatusPending   CallStatus = "pending"
	StatusRunning   CallStatus = "running"
	StatusDone      CallStatus = "done"
	StatusFailed    CallStatus = "failed"
	StatusCancelled CallStatus = "cancelled"
)

// CallView is one call as the side panel shows it.
type CallView struct {
	CallID string     `json:"callId"`
	Plugin string     `json:"plugin"`
	Tool   string     `json:"tool"`
	Status CallStatus `json:"status"`
	// Progress is from 0 to 1; absent while it is not known.
	Progress *float64 `json:"progress,omitempty"`
	Message  string   `json:"message,omitempty"`
	// Client is the MCP client's name.
	Client string `json:"client,omitempty"`
	// TabID is the tab the call runs in; absent before one is chosen.
	TabID int `json:"tabId,omitempty"`
	// RunMs is how long the call has run, or ran, in milliseconds.
	RunMs float64 `json:"runMs"`
	// Error is why the call failed, for a person.
	Error string `json:"error,omitempty"`
	// Prompt says that Tool names a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// ParentCallID is the call whose tool made this one.
	ParentCallID string `json:"parentCallId,omitempty"`
	// UserProgress and UserMessage are Progress and Message as of the last report
	// that is meant for people (audience "user").
	UserProgress *float64 `json:"userProgress,omitempty"`
	UserMessage  string   `json:"userMessage,omitempty"`
	// StatusWord is the tool's own word for what it does, as in "indexing", and
	// UserStatusWord that of the last report that is meant for people.
	StatusWord     string `json:"statusWord,omitempty"`
	UserStatusWord string `json:"userStatusWord,omitempty"`
	// EndAudience is "user" if people should see the result of the call.
	EndAudience string `json:"endAudience,omitempty"`
	// Result is the beginning of the result of a call that succeeded: text, or JSON.
	Result string `json:"result,omitempty"`
	// Waiting is set while the call waits for a person.
	Waiting *WaitingView `json:"waiting,omitempty"`
	// Activities are what the tool shows, in the order of their first report.
	Activities []ActivityView `json:"activities,omitempty"`
}

// TicketKind is what a suspended call waits for.
type TicketKind string

const (
	// TicketPermission waits for a person to allow the call or not.
	TicketPermission TicketKind = "permission"
	// TicketUser waits for a person to do what the tool asks for, as to log in.
	TicketUser TicketKind = "user"
)

// Scope is how far a permission goes that a person gives.
type Scope string

const (
	// ScopeOnce allows this call.
	ScopeOnce Scope = "once"
	// ScopeSession allows the tool to this client until its session ends.
	ScopeSession Scope = "session"
	// ScopeTime allows the tool for some time.
	ScopeTime Scope = "time"
	// ScopeAlways allows the tool from now on.
	ScopeAlways Scope = "always"
)

// WaitingView is what a suspended call waits for, as surfaces show it.
type WaitingView struct {
	TicketID string     `json:"ticketId"`
	Kind     TicketKind `json:"kind"`
	Reason   string     `json:"reason"`
	Title    string     `json:"title,omitempty"`
	// Args are the call's arguments, JSON text, cut at MaxShownArgs.
	Args string `json:"args,omitempty"`
	// Caller is the tool of a plugin that makes the call; absent for a call of the
	// client itself.
	Caller *CallerView `json:"caller,omitempty"`
	// LeftMs is how long a person has left to decide, in milliseconds.
	LeftMs float64 `json:"leftMs"`
	// Scopes are those that a person may choose from to allow the call.
	Scopes []Scope `json:"scopes,omitempty"`
}

// CallerView is a tool that calls another one, and where it runs.
type CallerView struct {
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	// TabID is absent if the tab is one of another browser.
	TabID  int    `json:"tabId,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// ActivityView is one activity as the side panel shows it.
type ActivityView struct {
	Type string `json:"type"`
	// Content is the JSON text; empty if it is longer than MaxShownActivity.
	Content  string `json:"content,omitempty"`
	Audience string `json:"audience,omitempty"`
	// Bytes is how long the whole content is.
	Bytes int `json:"bytes"`
}

// CallDecideParams is what a person decided about a suspended call.
type CallDecideParams struct {
	CallID string `json:"callId"`
	// TicketID is that of the WaitingView which the person saw.
	TicketID string `json:"ticketId"`
	Allow    bool   `json:"allow"`
	// Scope is how far an Allow goes; absent means ScopeOnce.
	Scope Scope `json:"scope,omitempty"`
	// ForMs is how long a ScopeTime lasts, in milliseconds.
	ForMs float64 `json:"forMs,omitempty"`
}

// DecideOutcome is what became of a decision.
type DecideOutcome string

const (
	// DecideTaken says that this decision holds.
	DecideTaken DecideOutcome = "decided"
	// DecideAlready says that another one came first.
	DecideAlready DecideOutcome = "already"
	// DecideEnded says that nothing waits: the call has ended, or was withdrawn.
	DecideEnded DecideOutcome = "ended"
)

// CallDecideResult tells what became of a decision.
type CallDecideResult struct {
	Outcome DecideOutcome `json:"outcome"`
	// By is the surface that decided first, for DecideAlready.
	By string `json:"by,omitempty"`
	// Allowed is what was decided there.
	Allowed bool `json:"allowed"`
}

// Permission is what a person lets agents do with a plugin or a tool.
type Permission string

const (
	PermissionOff  Permission = "off"
	PermissionAsk  Permission = "ask"
	PermissionAuto Permission = "auto"
)

// ToolView is one tool as the side panel shows it.
type ToolView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Permission is the tool's own; absent where the plugin's holds.
	Permission Permission `json:"permission,omitempty"`
	// ReadOnly says that the tool changes nothing, as its author says.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Allowed are the callers for which the tool always runs without a question.
	Allowed []AllowedView `json:"allowed,omitempty"`
	// Category is the group that the tool belongs to; absent if it has none.
	Category string `json:"category,omitempty"`
}

// AllowedView is a caller of a tool that a user always allows.
type AllowedView struct {
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tool calls; absent for a call of the client itself.
	Caller string `json:"caller,omitempty"`
}

// PluginView is one plugin as the side panel shows it.
type PluginView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Version     string `json:"version"`
	// Hash is that of the code and descriptions together; a review is for it.
	Hash string `json:"hash"`
	// Reviewed says that a person has reviewed what is there now.
	Reviewed   bool       `json:"reviewed"`
	Permission Permission `json:"permission"`
	// Problem says why the plugin does not start in pages; absent if it does, or if
	// nothing is known.
	Problem string `json:"problem,omitempty"`
	// Matches are the sites, Chrome match patterns.
	Matches []string   `json:"matches,omitempty"`
	Tools   []ToolView `json:"tools,omitempty"`
	// Icon is an SVG; absent if the plugin has none.
	Icon string `json:"icon,omitempty"`
	// Homepage is a http or https URL; absent if the plugin names none.
	Homepage string `json:"homepage,omitempty"`
	// Settings are what a person can set, in the order of their keys.
	Settings []SettingView `json:"settings,omitempty"`
	// Opening says that a call which finds no tab of the plugin may open one;
	// OpensAt is where, absent if the plugin has no page to open.
	Opening bool   `json:"opening,omitempty"`
	OpensAt string `json:"opensAt,omitempty"`
	// World is where the adapter runs; absent means the main world.
	World World `json:"world,omitempty"`
	// Late says that scripts of the page run before the adapter. Unless LateAccess
	// is set the plugin gets no secret settings and calls no other plugin.
	Late       bool `json:"late,omitempty"`
	LateAccess bool `json:"lateAccess,omitempty"`
	// Calls are the other plugins whose tools the plugin may call.
	Calls []string `json:"calls,omitempty"`
	// Refused are the other plugins that it tried to call since the server started
	// and may not call.
	Refused []string `json:"refused,omitempty"`
	// Recommended is set if an agent has looked at what is there now and found it
	// fit to be let in. Only a person lets it in.
	Recommended *RecommendedView `json:"recommended,omitempty"`
}

// SettingType is the type of a setting's value.
type SettingType string

const (
	// SettingURL is one http or https URL, or several by the name of an instance.
	SettingURL     SettingType = "url"
	SettingString  SettingType = "string"
	SettingNumber  SettingType = "number"
	SettingBoolean SettingType = "boolean"
	// SettingSelect is one of some texts.
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
	// Options are what a select may be.
	Options []string `json:"options,omitempty"`
	// Secret says that the value may be a password or a key: surfaces are told
	// whether it is set, and never what it is.
	Secret bool `json:"secret,omitempty"`
	Set    bool `json:"set,omitempty"`
	// Withheld says that the plugin does not get the value, because it starts late
	// and has no late access.
	Withheld bool `json:"withheld,omitempty"`
	// Value is what is set, absent if nothing is: for a url an object of URLs by
	// instance, for the others text, number or true/false.
	Value json.RawMessage `json:"value,omitempty"`
}

// RecommendedView is an agent's opinion of a plugin.
type RecommendedView struct {
	// By is the name of the MCP client.
	By         string     `json:"by"`
	Permission Permission `json:"permission"`
	// Note is what the agent wrote about it.
	Note string `json:"note,omitempty"`
}

// FailedView is a plugin that can't be loaded.
type FailedView struct {
	// Name is the plugin's name, absent if it is not known.
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	// Error says what is wrong and what to do.
	Error string `json:"error"`
}

// StatePluginsParams are all plugins; each replaces the last.
type StatePluginsParams struct {
	Plugins []PluginView `json:"plugins,omitempty"`
	Failed  []FailedView `json:"failed,omitempty"`
}

// ConfigSettingsParams changes settings of a plugin.
type ConfigSettingsParams struct {
	Plugin string `json:"plugin"`
	// Values are a JSON object of the settings that change, each as in
	// SettingView.Value; null takes one away.
	Values json.RawMessage `json:"values"`
}

// ConfigSettingsResult is empty: the settings hold.
type ConfigSettingsResult struct{}

// ConfigOpeningParams says whether calls may open tabs of a plugin.
type ConfigOpeningParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigOpeningResult is empty: it holds.
type ConfigOpeningResult struct{}

// ConfigCallsParams says whether the tools of Plugin may call those of Other.
type ConfigCallsParams struct {
	Plugin  string `json:"plugin"`
	Other   string `json:"other"`
	Allowed bool   `json:"allowed"`
}

// ConfigCallsResult is empty: it holds.
type ConfigCallsResult struct{}

// ConfigLateAccessParams says whether a plugin that starts late gets its secret
// settings and may call other plugins.
type ConfigLateAccessParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigLateAccessResult is empty: it holds.
type ConfigLateAccessResult struct{}

// StateWaitingParams is what the badge on the toolbar's icon shows.
type StateWaitingParams struct {
	// Count is how many calls wait for a person, in whichever browser.
	Count int `json:"count"`
}

// ConfigPermissionParams sets a permission.
type ConfigPermissionParams struct {
	Plugin string `json:"plugin"`
	// Tool is empty for the plugin's own permission.
	Tool string `json:"tool,omitempty"`
	// Permission is empty to take a tool's own permission away.
	Permission Permission `json:"permission,omitempty"`
}

// ConfigPermissionResult is empty: the permission holds.
type ConfigPermissionResult struct{}

// ConfigReviewParams says that a person has reviewed a plugin.
type ConfigReviewParams struct {
	Plugin string `json:"plugin"`
	// Hash is that of the PluginView which the person saw.
	Hash       string     `json:"hash"`
	Permission Permission `json:"permission"`
}

// ConfigReviewResult is empty: the plugin is reviewed.
type ConfigReviewResult struct{}

// StateSyncParams is what the side panel shows; each replaces the last.
type StateSyncParams struct {
	ServerVersion string `json:"serverVersion"`
	// Calls are the running calls, oldest first, then the last ones that
	// ended, newest first.
	Calls []CallView `json:"calls,omitempty"`
	// Running counts all running and waiting calls, also those beyond Calls.
	Running int `json:"running"`
}
