package wire

// Method names a frame that asks or tells something.
//
// A method "tool.dispatch" has its parameters in ToolDispatchParams and, if it
// is a request, its answer in ToolDispatchResult; a notification has no result
// type. The generator refuses a method without its parameters.
type Method string

const (
	// MethodChallenge proves that the server knows the key and asks the browser
	// for the same: server to browser, notification, the server's first frame.
	MethodChallenge Method = "challenge"
	// MethodHello opens a connection: browser to server, request, the browser's
	// first frame.
	MethodHello Method = "hello"
	// MethodPing keeps the link and the service worker alive: both, request.
	MethodPing Method = "ping"
	// MethodToolDispatch runs a tool in a tab: server to browser, request. Its
	// id is the dispatchId, so that the answer finds its call on a new
	// connection too.
	MethodToolDispatch Method = "tool.dispatch"
	// MethodToolCancel stops a running tool: server to browser, request.
	MethodToolCancel Method = "tool.cancel"
	// MethodToolProgress brings reports of a running tool: browser to server,
	// notification.
	MethodToolProgress Method = "tool.progress"
	// MethodToolPart brings one part of a large result ahead of the answer to
	// tool.dispatch: browser to server, notification.
	MethodToolPart Method = "tool.part"
	// MethodToolResync asks for an activity anew: server to browser,
	// notification.
	MethodToolResync Method = "tool.resync"
	// MethodToolAsk is what a running tool asks for, as to call another tool:
	// browser to server, notification.
	MethodToolAsk Method = "tool.ask"
	// MethodToolAnswer answers tool.ask: server to browser, request.
	MethodToolAnswer Method = "tool.answer"
	// MethodCallResumed names calls that still run in pages after a link or a
	// service worker was lost: browser to server, notification.
	MethodCallResumed Method = "call.resumed"
	// MethodCallCancel is the side panel's stop button: browser to server,
	// request.
	MethodCallCancel Method = "call.cancel"
	// MethodCallDecide is what a person decided in the side panel about a call
	// that waits: browser to server, request.
	MethodCallDecide Method = "call.decide"
	// MethodConfigPermission sets a permission from the side panel: browser to
	// server, request.
	MethodConfigPermission Method = "config.permission"
	// MethodConfigReview says that a person has reviewed a plugin: browser to
	// server, request.
	MethodConfigReview Method = "config.review"
	// MethodConfigSettings gives a plugin settings from the side panel: browser to
	// server, request.
	MethodConfigSettings Method = "config.settings"
	// MethodConfigOpening says whether calls may open tabs of a plugin: browser to
	// server, request.
	MethodConfigOpening Method = "config.opening"
	// MethodConfigCalls says whether the tools of a plugin may call those of
	// another one: browser to server, request.
	MethodConfigCalls Method = "config.calls"
	// MethodConfigLateAccess says whether a plugin that starts late gets its secret
	// settings and may call other plugins: browser to server, request.
	MethodConfigLateAccess Method = "config.lateAccess"
	// MethodPluginSync lists the adapters the browser should have: server to
	// browser, request. The answer names those whose new code it wants at once.
	MethodPluginSync Method = "plugin.sync"
	// MethodPluginCode brings the code of one adapter: server to browser,
	// request.
	MethodPluginCode Method = "plugin.code"
	// MethodPluginFetch asks for the code of one plugin, or of the host: browser
	// to server, request.
	MethodPluginFetch Method = "plugin.fetch"
	// MethodTabSync lists all tabs that match plugins: browser to server,
	// notification.
	MethodTabSync Method = "tab.sync"
	// MethodTabChanged tells one tab that changed or went: browser to server,
	// notification.
	MethodTabChanged Method = "tab.changed"
	// MethodPluginSettings brings the settings of one plugin to the documents in
	// which it is live: server to browser, request. Documents that come later have
	// them in the adapter's code.
	MethodPluginSettings Method = "plugin.settings"
	// MethodPluginLog brings what an adapter has logged: browser to server,
	// notification.
	MethodPluginLog Method = "plugin.log"
	// MethodTabOpen opens a tab in the background, for a call that found none:
	// server to browser, request.
	MethodTabOpen Method = "tab.open"
	// MethodTabLoad loads a tab anew in which a plugin is not live, if the person
	// loses nothing by that: server to browser, request.
	MethodTabLoad Method = "tab.load"
	// MethodStateWatch switches state.sync on or off, so that nothing is sent
	// while no panel is open: browser to server, notification.
	MethodStateWatch Method = "state.watch"
	// MethodStateSync is what the side panel shows: server to browser,
	// notification.
	MethodStateSync Method = "state.sync"
	// MethodStatePlugins is all plugins as the side panel shows them: server to
	// browser, notification, sent when they changed.
	MethodStatePlugins Method = "state.plugins"
	// MethodStateWaiting is how many calls wait for a person: server to browser,
	// notification, sent when it changed, also while no panel is open.
	MethodStateWaiting Method = "state.waiting"
)
