package wire

// Method is the name of a request or notification.
//
// The parameters of a method have a type with the method's name: ToolDispatchParams for
// "tool.dispatch". The result of a request also has a type with the method's name, such
// as ToolDispatchResult; a notification has no result type. The generator rejects a
// method without a type for its parameters.
type Method string

// Methods of the link.
const (
	// MethodChallenge proves that the server has the shared key, and requests a proof
	// from the browser. MethodChallenge is the server's first frame on a link, a
	// notification.
	MethodChallenge Method = "challenge"
	// MethodHello opens a link. MethodHello is the browser's first frame on a link, a
	// request.
	MethodHello Method = "hello"
	// MethodPing keeps the link and the service worker alive. MethodPing is a request
	// of either peer.
	MethodPing Method = "ping"
)

// Methods of running tools.
const (
	// MethodToolDispatch is a request of the server that runs a tool in a document. The
	// ID of the request is the dispatchId, so that an answer on a later link still
	// identifies the call.
	MethodToolDispatch Method = "tool.dispatch"
	// MethodToolCancel cancels a running tool. MethodToolCancel is a request of the
	// server.
	MethodToolCancel Method = "tool.cancel"
	// MethodToolProgress sends reports of a running tool. MethodToolProgress is a
	// notification from the browser.
	MethodToolProgress Method = "tool.progress"
	// MethodToolPart sends one part of a large result, before the answer to
	// tool.dispatch. MethodToolPart is a notification from the browser.
	MethodToolPart Method = "tool.part"
	// MethodToolResync requests the complete content of an activity. MethodToolResync
	// is a notification from the server.
	MethodToolResync Method = "tool.resync"
	// MethodToolAsk sends a request of a running tool, such as a nested call.
	// MethodToolAsk is a notification from the browser.
	MethodToolAsk Method = "tool.ask"
	// MethodToolAnswer sends the answer to a tool.ask. MethodToolAnswer is a request of
	// the server.
	MethodToolAnswer Method = "tool.answer"
	// MethodCallResumed lists the calls that still run in pages after a link or a
	// service worker was lost. MethodCallResumed is a notification from the browser.
	MethodCallResumed Method = "call.resumed"
)

// Methods of the side panel's buttons and forms.
const (
	// MethodCallCancel cancels a call. MethodCallCancel is a request of the browser.
	MethodCallCancel Method = "call.cancel"
	// MethodCallDecide sends the user's decision about a suspended call.
	// MethodCallDecide is a request of the browser.
	MethodCallDecide Method = "call.decide"
	// MethodCallRepeat repeats a recorded call for the user. MethodCallRepeat is a
	// request of the browser.
	MethodCallRepeat Method = "call.repeat"
	// MethodCallInspect requests the times of a call and the reason of its failure.
	// MethodCallInspect is a request of the browser.
	MethodCallInspect Method = "call.inspect"
	// MethodCallUndo undoes a call that is done, for the user. MethodCallUndo is a request
	// of the browser.
	MethodCallUndo Method = "call.undo"
	// MethodCallsHistory requests recorded calls, newest first. MethodCallsHistory is a
	// request of the browser.
	MethodCallsHistory Method = "calls.history"
	// MethodConfigPermission sets a permission. MethodConfigPermission is a request of
	// the browser.
	MethodConfigPermission Method = "config.permission"
	// MethodConfigReview stores the user's review of a plugin and enables the plugin.
	// MethodConfigReview is a request of the browser.
	MethodConfigReview Method = "config.review"
	// MethodConfigSettings changes settings of a plugin. MethodConfigSettings is a
	// request of the browser.
	MethodConfigSettings Method = "config.settings"
	// MethodConfigOpening allows or forbids that calls open tabs of a plugin.
	// MethodConfigOpening is a request of the browser.
	MethodConfigOpening Method = "config.opening"
	// MethodConfigCalls allows or forbids that the tools of one plugin call the tools
	// of another plugin. MethodConfigCalls is a request of the browser.
	MethodConfigCalls Method = "config.calls"
	// MethodConfigLateAccess allows or forbids a plugin that starts late to get its
	// secret settings and to call other plugins. MethodConfigLateAccess is a request of
	// the browser.
	MethodConfigLateAccess Method = "config.lateAccess"
	// MethodConfigSite sets the user's rule for browser tools on a site. MethodConfigSite
	// is a request of the browser.
	MethodConfigSite Method = "config.site"
	// MethodConfigBrowserTools turns browser tools on or off. MethodConfigBrowserTools is
	// a request of the browser.
	MethodConfigBrowserTools Method = "config.browserTools"
	// MethodTabRelease stops the client that uses a tab with browser tools.
	// MethodTabRelease is a request of the browser.
	MethodTabRelease Method = "tab.release"
)

// These methods inspect, install, update and remove plugins for the user of the side
// panel.
const (
	// MethodPluginInspect requests the description of a plugin that a user reads before
	// enabling the plugin. MethodPluginInspect is a request of the browser.
	MethodPluginInspect Method = "plugin.inspect"
	// MethodPluginPage requests one page of a plugin's code, or of the changes since the
	// last review. MethodPluginPage is a request of the browser.
	MethodPluginPage Method = "plugin.page"
	// MethodPluginInstall installs a plugin. MethodPluginInstall is a request of the
	// browser.
	MethodPluginInstall Method = "plugin.install"
	// MethodPluginUpdate updates an installed plugin. MethodPluginUpdate is a request of
	// the browser.
	MethodPluginUpdate Method = "plugin.update"
	// MethodPluginRemove removes a plugin. MethodPluginRemove is a request of the
	// browser.
	MethodPluginRemove Method = "plugin.remove"
)

// Methods that keep the browser's plugins up to date.
const (
	// MethodPluginSync sends the list of adapters. MethodPluginSync is a request of the
	// server. The answer to plugin.sync names the adapters whose new code the browser
	// needs at once.
	MethodPluginSync Method = "plugin.sync"
	// MethodPluginCode sends the code of one adapter. MethodPluginCode is a request of
	// the server.
	MethodPluginCode Method = "plugin.code"
	// MethodPluginFetch requests the code of one plugin or of the host.
	// MethodPluginFetch is a request of the browser.
	MethodPluginFetch Method = "plugin.fetch"
	// MethodPluginSettings sends the settings of one plugin to the documents in which
	// its adapter runs. MethodPluginSettings is a request of the server. Later
	// documents get the settings together with the adapter's code.
	MethodPluginSettings Method = "plugin.settings"
	// MethodPluginLog sends log entries of an adapter. MethodPluginLog is a
	// notification from the browser.
	MethodPluginLog Method = "plugin.log"
)

// Methods of tabs.
const (
	// MethodTabSync lists all tabs that match plugins. MethodTabSync is a notification
	// from the browser.
	MethodTabSync Method = "tab.sync"
	// MethodTabChanged reports a tab that changed or was closed. MethodTabChanged is a
	// notification from the browser.
	MethodTabChanged Method = "tab.changed"
	// MethodTabOpen opens a tab in the background for a call that has no tab.
	// MethodTabOpen is a request of the server.
	MethodTabOpen Method = "tab.open"
	// MethodTabLoad reloads a tab in which a plugin does not run, unless the user could
	// lose work. MethodTabLoad is a request of the server.
	MethodTabLoad Method = "tab.load"
	// MethodTabDescribe requests the current state of any tab, for a browser tool.
	// MethodTabDescribe is a request of the server.
	MethodTabDescribe Method = "tab.describe"
	// MethodTabHolds lists the tabs that clients use with browser tools, each time this
	// list changes. MethodTabHolds is a notification from the server.
	MethodTabHolds Method = "tab.holds"
	// MethodSessionEnded lists ended sessions of clients, so that the browser deletes the
	// state of these sessions. MethodSessionEnded is a notification from the server.
	MethodSessionEnded Method = "session.ended"
	// MethodSessionUsed lists the sessions for which the browser stores state. The server
	// answers with [MethodSessionEnded]. MethodSessionUsed is a notification from the
	// browser.
	MethodSessionUsed Method = "session.used"
	// MethodTabUserInput reports that the user clicked or typed in a tab that a client
	// uses. MethodTabUserInput is a notification from the browser.
	MethodTabUserInput Method = "tab.userInput"
)

// Methods that send the content of the side panel.
const (
	// MethodStateWatch turns state.sync and state.plugins on or off. MethodStateWatch
	// is a notification from the browser. The server sends no state while no side panel
	// is open.
	MethodStateWatch Method = "state.watch"
	// MethodStateSync sends the calls that the side panel displays. MethodStateSync is
	// a notification from the server.
	MethodStateSync Method = "state.sync"
	// MethodStatePlugins sends the list of all plugins when any plugin has changed.
	// MethodStatePlugins is a notification from the server.
	MethodStatePlugins Method = "state.plugins"
	// MethodStateBrowser sends the permissions of the browser tools after any of these
	// permissions has changed. MethodStateBrowser is a notification from the server.
	MethodStateBrowser Method = "state.browser"
	// MethodStateWaiting sends the number of calls that are waiting for the user, each
	// time the number changes. MethodStateWaiting is a notification from the server.
	// Unlike other state messages, MethodStateWaiting is also sent while no side panel
	// is open.
	MethodStateWaiting Method = "state.waiting"
)
