package wire

// Method is the name of a JSON-RPC request or notification, such as "tool.dispatch".
//
// Types are named after their method: the parameters of "tool.dispatch" are
// ToolDispatchParams, and the result is ToolDispatchResult. Because a notification has no
// result, there is no result type for a notification's method. The TypeScript generator
// fails if a method has no type for its parameters.
type Method string

// These constants are the methods that open a link and keep it alive.
const (
	// MethodChallenge is the server's first notification on a link. The challenge proves that
	// the server has the shared key, and asks the browser for its proof.
	MethodChallenge Method = "challenge"
	// MethodHello is the browser's first request on a link. The hello request proves that the
	// browser has the shared key.
	MethodHello Method = "hello"
	// MethodPing is a request that either peer sends to keep the link and the service worker
	// alive.
	MethodPing Method = "ping"
)

// These constants are the methods that control running tools.
const (
	// MethodToolDispatch is the server's request to run a tool in a document. The ID of a
	// tool.dispatch request is the dispatchId, so that the browser can still answer the
	// request over a later link.
	MethodToolDispatch Method = "tool.dispatch"
	// MethodToolCancel is the server's request to cancel a running tool.
	MethodToolCancel Method = "tool.cancel"
	// MethodToolProgress is the browser's notification with progress reports of a running
	// tool.
	MethodToolProgress Method = "tool.progress"
	// MethodToolPart is the browser's notification with one part of a large result. The
	// browser sends all parts of a result before its answer to tool.dispatch.
	MethodToolPart Method = "tool.part"
	// MethodToolResync is the server's notification that requests the complete content of an
	// activity.
	MethodToolResync Method = "tool.resync"
	// MethodToolAsk is the browser's notification with a request from a running tool, such as
	// a nested call.
	MethodToolAsk Method = "tool.ask"
	// MethodToolAnswer is the server's request that delivers the answer to a tool.ask.
	MethodToolAnswer Method = "tool.answer"
	// MethodCallResumed is the browser's notification with the calls that still run in pages,
	// after a link or a service worker was lost.
	MethodCallResumed Method = "call.resumed"
)

// These constants are the methods that the side panel's buttons and forms use.
const (
	// MethodCallCancel is the browser's request to cancel a call.
	MethodCallCancel Method = "call.cancel"
	// MethodCallDecide is the browser's request with the user's decision about a suspended
	// call.
	MethodCallDecide Method = "call.decide"
	// MethodCallRepeat is the browser's request to repeat a recorded call for the user.
	MethodCallRepeat Method = "call.repeat"
	// MethodCallInspect is the browser's request for the times of a call and the cause of its
	// failure.
	MethodCallInspect Method = "call.inspect"
	// MethodCallUndo is the browser's request to undo a call that is done.
	MethodCallUndo Method = "call.undo"
	// MethodCallsHistory is the browser's request for recorded calls, newest first.
	MethodCallsHistory Method = "calls.history"
	// MethodConfigPermission is the browser's request to set the permission of a plugin or
	// tool.
	MethodConfigPermission Method = "config.permission"
	// MethodConfigReview is the browser's request to store the user's review of a plugin and
	// to enable the plugin.
	MethodConfigReview Method = "config.review"
	// MethodConfigSettings is the browser's request to change settings of a plugin.
	MethodConfigSettings Method = "config.settings"
	// MethodConfigOpening is the browser's request to set whether calls of a plugin are
	// allowed to open tabs.
	MethodConfigOpening Method = "config.opening"
	// MethodConfigCalls is the browser's request to set whether one plugin is allowed to call
	// tools of another plugin.
	MethodConfigCalls Method = "config.calls"
	// MethodConfigLateAccess is the browser's request to grant or revoke the late access of a
	// plugin. A plugin that starts late needs late access to get its secret settings and to
	// call other plugins.
	MethodConfigLateAccess Method = "config.lateAccess"
	// MethodConfigSite is the browser's request to set the user's rule for browser tools on a
	// site.
	MethodConfigSite Method = "config.site"
	// MethodConfigBrowserTools is the browser's request to turn browser tools on or off.
	MethodConfigBrowserTools Method = "config.browserTools"
	// MethodTabRelease is the browser's request to stop a client from using a tab with
	// browser tools.
	MethodTabRelease Method = "tab.release"
)

// These constants are the methods with which the side panel inspects, installs, updates
// and removes plugins.
const (
	// MethodPluginInspect is the browser's request for the description of a plugin that the
	// user reads before enabling the plugin.
	MethodPluginInspect Method = "plugin.inspect"
	// MethodPluginPage is the browser's request for one page of a plugin's code, or of the
	// changes since the last review.
	MethodPluginPage Method = "plugin.page"
	// MethodPluginInstall is the browser's request to install a plugin.
	MethodPluginInstall Method = "plugin.install"
	// MethodPluginUpdate is the browser's request to update an installed plugin.
	MethodPluginUpdate Method = "plugin.update"
	// MethodPluginRemove is the browser's request to remove a plugin.
	MethodPluginRemove Method = "plugin.remove"
)

// These constants are the methods that keep the browser's plugins up to date.
const (
	// MethodPluginSync is the server's request that sends the list of adapters.
	MethodPluginSync Method = "plugin.sync"
	// MethodPluginFetch is the browser's request for the code of one plugin or of the host.
	MethodPluginFetch Method = "plugin.fetch"
	// MethodPluginSettings is the server's request that sends a plugin's settings to the
	// documents in which its adapter runs. A document that loads after the plugin.settings
	// request receives the settings together with the adapter's code.
	MethodPluginSettings Method = "plugin.settings"
	// MethodPluginLog is the browser's notification with log entries of an adapter.
	MethodPluginLog Method = "plugin.log"
)

// These constants are the methods that list, open, reload and inspect tabs.
const (
	// MethodTabSync is the browser's notification with all tabs that match plugins.
	MethodTabSync Method = "tab.sync"
	// MethodTabChanged is the browser's notification that a tab changed or was closed.
	MethodTabChanged Method = "tab.changed"
	// MethodTabOpen is the server's request to open a background tab for a call that has no
	// tab.
	MethodTabOpen Method = "tab.open"
	// MethodTabLoad is the server's request to reload a tab in which a plugin does not
	// run. The browser refuses to reload a tab in which the user could lose work.
	MethodTabLoad Method = "tab.load"
	// MethodTabDescribe is the server's request for the current state of any tab, for a
	// browser tool.
	MethodTabDescribe Method = "tab.describe"
	// MethodTabHolds is the server's notification with the tabs that clients use with browser
	// tools, sent whenever the list changes.
	MethodTabHolds Method = "tab.holds"
	// MethodSessionEnded is the server's notification that sessions of clients have ended. The
	// browser deletes the state that it stores for the ended sessions.
	MethodSessionEnded Method = "session.ended"
	// MethodSessionUsed is the browser's notification with the sessions for which it stores
	// state. The server responds to session.used with [MethodSessionEnded].
	MethodSessionUsed Method = "session.used"
	// MethodTabUserInput is the browser's notification that the user clicked or typed in a tab
	// that a client uses.
	MethodTabUserInput Method = "tab.userInput"
)

// These constants are the methods that send content to the side panel.
const (
	// MethodStateWatch is the browser's notification that turns state.sync and state.plugins
	// on or off. The server sends state.sync and state.plugins only while a side panel is
	// open.
	MethodStateWatch Method = "state.watch"
	// MethodStateSync is the server's notification with the calls that the side panel
	// displays.
	MethodStateSync Method = "state.sync"
	// MethodStatePlugins is the server's notification with all plugins, sent whenever a plugin
	// has changed.
	MethodStatePlugins Method = "state.plugins"
	// MethodStateBrowser is the server's notification with the permissions of the browser
	// tools, sent whenever a permission has changed.
	MethodStateBrowser Method = "state.browser"
	// MethodStateWaiting is the server's notification with the number of calls that are
	// waiting for the user, sent whenever the number changes. Unlike other state messages,
	// state.waiting is also sent while no side panel is open.
	MethodStateWaiting Method = "state.waiting"
)
