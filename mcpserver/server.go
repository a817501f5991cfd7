package mcpserver

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/dispatch/joblist"
	"opentabs/internal/filestore"
	"opentabs/internal/idempotency"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/ending"
	"opentabs/mcpserver/gateway"
	"opentabs/mcpserver/transport"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	defaultHeartbeat       = 25 * time.Second
	defaultMaxRequestBytes = 16 << 20
)

// sessionIdleTimeout is how long an HTTP session without running calls, open streams and requests is kept. The next
// request in an expired session is answered with 404, and the client starts a new session.
const sessionIdleTimeout = time.Hour

const serverName = "opentabs"

// Options configure a [Server]. A zero field selects the default of that field.
type Options struct {
	// Version is the server's version in MCP. The default of the field Version is "dev".
	Version string
	// The field Log receives lines about sessions and errors, but never arguments or results.
	// By default, nothing is logged.
	Log zerolog.Logger
	// TraceSampler selects the calls that are traced. By default, at most one call every 100 ms
	// is traced.
	TraceSampler *hops.Sampler
	// Heartbeat is the interval of keep-alive messages on a silent stream. The default of
	// the field Heartbeat is 25 s, because some clients give up after 30 s of silence.
	Heartbeat time.Duration
	// DisableForms disables approval forms in clients (elicitation). By default, approval
	// forms are enabled.
	DisableForms bool
	// MaxRequestBytes is the maximum size of a request, in bytes. A request that is larger
	// than MaxRequestBytes is rejected. The default of the field MaxRequestBytes is 16
	// MiB.
	MaxRequestBytes int64
	// RefusalFunc returns a function that reports why agents must not call a tool or prompt of a
	// plugin now: the plugin is not reviewed, or the tool is off. A nil error means that the
	// user allows the tool, or must approve each call. If the function that RefusalFunc returns
	// reports an error for a tool, the server does not list the tool, and fails each call of
	// the tool with this error. Call HandlePolicyChange when the set of refused tools has changed.
	// By default, no tool is refused.
	RefusalFunc func(plugin string) func(tool dispatch.Tool) *wire.CallError
	// ReadinessReady waits until the plugins are loaded. If loading takes too long or ctx ends, ReadinessReady
	// returns an error, which is a sentence for the agent. Requests about tools and prompts
	// wait until ReadinessReady returns. By default, requests do not wait for the plugins.
	WaitUntilLoaded func(ctx context.Context) error
	// Inspector inspects plugins for agents and stores their recommendations. By default, agents cannot inspect
	// plugins.
	Inspector Inspector
	// CallWatcher provides the calls that the server offers as MCP resources. By default, the server has no resources.
	CallWatcher Watcher
	// Files stores the files that tools wrote. A client can read, as MCP resources, only
	// the files that its own calls wrote. By default, the server offers no files.
	Files *filestore.Store
	// OnSessionEnd receives the client of each ended session. For a client without sessions,
	// OnSessionEnd is called when the client's token is removed. By default, the end of a
	// session is not reported.
	OnSessionEnd func(dispatch.Client)
	// Tabs returns the open tabs of a plugin without waiting. By default, agents cannot list tabs.
	Tabs func(plugin string) dispatch.Targets
	// Jobs contains the calls that outlive their requests. By default, no call outlives its request.
	Jobs *joblist.List
	// Keys stores which calls have idempotency keys. A call with an idempotency key runs
	// as a job in Jobs. By default, idempotency keys are ignored.
	Keys *idempotency.Keys
	// Detach returns the rule for when calls of the named client become jobs. By default, calls
	// never become jobs.
	Detach func(client string) DetachPolicy
	// LearnedTimeouts stores client timeouts that are missing from the client table. Call
	// NotifyToolListsChanged when a stored timeout has changed. By default, no timeouts are stored.
	LearnedTimeouts LearnedTimeouts
	// ListMode returns which tools the named client lists. The default of the field
	// ListMode is gateway.ListAuto.
	ListMode func(client string) gateway.Mode
	// ListsOutputSchemas reports whether a client's tool list includes output schemas; default: true for all clients.
	ListsOutputSchemas func(client, version string) bool
	// PinnedTools returns the names of tools that clients list in every list mode. A pinned plugin name pins all tools
	// of the plugin. Call NotifyToolListsChanged when the result of PinnedTools has changed. By default, no tool is pinned.
	PinnedTools func() []string
	// NeedsApproval reports whether a call of a tool by the client would wait for approval now.
	// By default, no call needs approval.
	NeedsApproval func(t dispatch.Tool, c dispatch.Client) bool
}

func (o *Options) setDefaults() {
	o.Version = cmp.Or(o.Version, "dev")
	o.Heartbeat = cmp.Or(o.Heartbeat, defaultHeartbeat)
	o.TraceSampler = cmp.Or(o.TraceSampler, &hops.Sampler{})
	o.MaxRequestBytes = cmp.Or(o.MaxRequestBytes, defaultMaxRequestBytes)
	if o.ListMode == nil {
		o.ListMode = func(string) gateway.Mode { return gateway.ListAuto }
	}
	if o.ListsOutputSchemas == nil {
		o.ListsOutputSchemas = func(string, string) bool { return true }
	}
	if o.PinnedTools == nil {
		o.PinnedTools = func() []string { return nil }
	}
	if o.NeedsApproval == nil {
		o.NeedsApproval = func(dispatch.Tool, dispatch.Client) bool { return false }
	}
}

// Caller runs calls. *dispatch.Dispatcher implements Caller. Implementations must be safe for
// concurrent use.
type Caller interface {
	// Call runs a call and returns when the call has ended. An error that Call returns is a
	// *dispatch.Error. If ctx ends, Call cancels the call.
	Call(ctx context.Context, c dispatch.Call) (dispatch.Result, error)
	// Decide records the user's decision about a suspended call.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error)
	// SendReminder sends a message as progress of a suspended call, unless the ticket w is already resolved.
	SendReminder(w dispatch.WaitingTicket, message string)
}

// Server offers the tools of a plugin registry to MCP clients. Create a Server with [New].
type Server struct {
	opts        Options
	calls       Caller
	plugins     *plugin.Registry
	transport   *transport.Server
	catalog     *catalog
	approvals   *approvals
	jobs        *jobs
	ending      ending.Table // the field ending contains the running calls of clients whose timeout is unknown
	reviews     reviews
	resources   *resources // the field resources is nil if the server has no resources
	lists       toolLists
	unsubscribe func()
}

// New returns a server that runs the tools of plugins with the given Caller. Until Shutdown,
// the server updates its lists of tools and prompts when plugins change.
func New(calls Caller, plugins *plugin.Registry, o Options) *Server {
	o.setDefaults()
	s := &Server{
		opts: o, calls: calls, plugins: plugins,
		jobs:    &jobs{dispatchJobs: o.Jobs, detachPolicyFor: o.Detach, learnedTimeouts: o.LearnedTimeouts},
		reviews: reviews{inspector: o.Inspector, plugins: plugins},
	}
	s.lists.server = s
	s.approvals = newApprovals(calls, o.Heartbeat, o.Log, s.run, s.jobs.recordClientTimeout)
	s.jobs.newEndedReply = func(tool string, callResult dispatch.Result, err error) reply {
		l, _ := s.catalog.findTool(tool)
		return s.replyForToolResult(l, callResult, err)
	}

	s.catalog = &catalog{plugins: plugins, refusalFuncOf: o.RefusalFunc, log: o.Log}
	library := s.newMCPGoServer()
	s.catalog.library = library
	t := transport.Options{
		Log: o.Log, SessionIdle: sessionIdleTimeout, Heartbeat: o.Heartbeat, MaxRequestBytes: o.MaxRequestBytes,
		OnSessionEnd: o.OnSessionEnd,
		Identity:     rawjson.Encode(mcp.Implementation{Name: serverName, Version: o.Version}),
	}
	if o.CallWatcher != nil {
		s.resources = newResources(o.CallWatcher, o.Files)
		t.Resources = s.resources
	}
	s.transport = transport.New(s, library, t)
	s.unsubscribe = plugins.OnChange(func(*plugin.Set) { s.catalog.updateLists() })
	s.catalog.updateLists()
	return s
}

// Handler returns the HTTP handler that serves MCP's Streamable HTTP on one path. The handler
// checks no credentials. Wrap the handler in a handler that checks token, Host and Origin, and
// records the client's credential with transport.WithCredential.
func (s *Server) Handler() http.Handler { return s.transport.Handler() }

// ServeStdio serves one client over a pair of streams, with one message per line. See
// transport.Server.ServeStdio.
func (s *Server) ServeStdio(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error {
	return s.transport.ServeStdio(ctx, inputReader, outWriter)
}

// Clients returns the connected clients, oldest session first. For details, see
// transport.Server.Clients.
func (s *Server) Clients() []transport.ClientInfo { return s.transport.Clients() }

// HandlePolicyChange updates the lists of tools and prompts after permissions have changed.
// HandlePolicyChange notifies clients only if their list of tools or prompts has changed.
func (s *Server) HandlePolicyChange() { s.catalog.recheckPermissions() }

// NotifyToolListsChanged notifies clients that their lists of tools may have changed.
func (s *Server) NotifyToolListsChanged() {
	s.catalog.library.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
}

// RevokeToken ends the sessions, streams, calls and jobs of a client whose token was removed.
// Before RevokeToken, the caller must make sure that new requests with the token are rejected.
func (s *Server) RevokeToken(token string) {
	s.transport.RevokeToken(token)
	s.jobs.revokeToken(token)
}

// Shutdown rejects new requests, ends all streams without a call at once, and waits for running
// calls. Shutdown does not end running calls, so shut the dispatcher down before the Server. If
// ctx ends first, Shutdown cancels the calls and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.unsubscribe()
	if s.resources != nil {
		s.resources.close()
	}
	return s.transport.Shutdown(ctx)
}
