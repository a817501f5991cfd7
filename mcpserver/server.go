package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/inspection"
	"opentabs/wire"
)

// The values of options that are not set.
const (
	DefaultSessionIdle     = time.Hour
	DefaultHeartbeat       = 25 * time.Second
	DefaultMaxRequestBytes = 16 << 20
)

// How long one write may wait for a client that does not read. A notification
// is small, so that a client which reads at all takes it at once; a piece of a
// result may have to wait for a slow one.
const (
	notifyTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
)

// serverName is how the server calls itself to clients.
const serverName = "opentabs"

// The transports of a session.
const (
	transportHTTP  = "http"
	transportStdio = "stdio"
)

// metaServerInfo is where a modern result names the server.
const metaServerInfo = mcp.MetaKeyServerInfo

// Options set a server up. The zero value of each field means its default.
type Options struct {
	// Version is the server's version as clients see it. Default "dev".
	Version string
	// Log takes lines about sessions and faults, never arguments or results.
	// Default: nothing is logged.
	Log zerolog.Logger
	// SessionIdle ends an HTTP session that has no running call and no open
	// stream and asked for nothing for so long; its next request gets 404, at
	// which a client begins a new session. Default 1 h. One whose client broke
	// off a response before it was done is kept for 10 minutes at most.
	SessionIdle time.Duration
	// Heartbeat is the time between two signs of life on a stream on which
	// nothing else is sent. Default 25 s: some clients give up after 30 s.
	Heartbeat time.Duration
	// NoForms lets no client ask its person whether a call may run (elicitation);
	// default false.
	NoForms bool
	// MaxRequestBytes is the largest request, in bytes; a larger one is refused.
	// Default 16 MiB.
	MaxRequestBytes int64
	// Refusals returns what says why agents may not call a tool or prompt of a
	// plugin at this moment: the plugin is not reviewed, or the tool is switched
	// off. Nil means that it may run, or that the user is asked. Agents do not see
	// what is refused in lists, and get this error if they name it; after a change
	// call PolicyChanged. Default: nothing is refused.
	Refusals func(plugin string) func(tool dispatch.Tool) *wire.CallError
	// Ready returns when the plugins are loaded, or an error, a sentence for the
	// agent, if that takes too long or ctx ends. Requests about tools and prompts
	// wait for it. Default: they are loaded.
	Ready func(ctx context.Context) error
	// Inspector lets agents look at plugins and recommend them to the person.
	// Default: they can't.
	Inspector Inspector
	// Watch shows the calls that are offered as resources. Default: there are no
	// resources.
	Watch Watcher
	// Tabs returns where a plugin is open now; it does not wait. Default: agents
	// can't list tabs.
	Tabs func(plugin string) dispatch.Targets
	// Jobs holds the calls that outlive their requests. Default: none may.
	Jobs *dispatch.Jobs
	// Detach says when the calls of the client of this name become jobs. Default:
	// never.
	Detach func(client string) Detach
}

// Caller runs calls; *dispatch.Dispatcher is one. It must be safe for concurrent
// use.
type Caller interface {
	// Call returns when the call has ended; its error is a *dispatch.Error. When
	// ctx ends the call is cancelled.
	Call(ctx context.Context, c dispatch.Call) (dispatch.Result, error)
	// Decide settles what a suspended call waits for.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.Decision, error)
	// Remind sends a message among the progress of a call that waits, unless w is
	// settled.
	Remind(w dispatch.Waiting, message string)
}

// Server shows the tools of a registry to MCP clients. Make one with New.
type Server struct {
	opts     Options
	calls    Caller
	plugins  *plugin.Registry
	sessions *sessions
	held     *heldCalls
	mcp      *server.MCPServer // all of MCP but what serve does
	// modern serves what clients of protocol version 2026-07-28 and later ask
	// over HTTP, but for that and subscriptions/listen.
	modern *server.StreamableHTTPServer
	// info is the server's identity as JSON, for modern results.
	info json.RawMessage
	// watch tells clients of resources that changed; nil if there are none.
	watch *watch
	// unwatch ends the subscription to plugins.
	unwatch func()
	// tokens are those of plugins that agents have inspected.
	tokens inspection.Tokens
	// serial makes keys for what has no id of its own.
	serial atomic.Uint64
	// tools is what is listed now; it is replaced whole.
	tools atomic.Pointer[toolTable]

	syncMu  sync.Mutex   // makes two changes of the plugins follow one another; guards all below
	prompts []mcp.Prompt // what is listed now
	refused []string     // the tools and prompts that were left out of the lists
}

// New returns a server that runs the tools of plugins through calls. It follows
// changes of plugins until Shutdown.
func New(calls Caller, plugins *plugin.Registry, o Options) *Server {
	setDefault(&o.Version, "dev")
	setDefault(&o.SessionIdle, DefaultSessionIdle)
	setDefault(&o.Heartbeat, DefaultHeartbeat)
	setDefault(&o.MaxRequestBytes, DefaultMaxRequestBytes)
	s := &Server{opts: o, calls: calls, plugins: plugins}
	s.sessions = newSessions(o.SessionIdle, s.sessionEnded)
	s.held = newHeldCalls()
	if o.Watch != nil {
		s.watch = newWatch(o.Watch)
		s.sessions.watch = s.watch
	}
	info, err := json.Marshal(mcp.Implementation{Name: serverName, Version: o.Version})
	if err != nil { // two strings
		panic("mcpserver: " + err.Error())
	}
	s.info = info

	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(s.initialized)
	offers := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithHooks(hooks), server.WithRecovery(),
		server.WithToolFilter(s.showTools), server.WithLogging(),
	}
	if s.watch != nil {
		offers = append(offers, server.WithResourceCapabilities(true, false))
	}
	s.mcp = server.NewMCPServer(serverName, o.Version, offers...)
	if s.watch != nil {
		s.addResources()
	}
	s.modern = server.NewStreamableHTTPServer(s.mcp,
		server.WithStreamableHTTPLogger(slog.New(zerolog.NewSlogHandler(o.Log))))

	s.tools.Store(&toolTable{})
	s.unwatch = plugins.OnChange(func(*plugin.Set) { s.syncPlugins() })
	s.syncPlugins()
	return s
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Clients returns the sessions whose clients are there, oldest first. An HTTP
// client is taken to be gone when it broke off a response, or when it listened
// to nothing and asked for nothing for 10 minutes; its session may still live.
// A client of protocol version 2026-07-28 has no session; it is listed while it
// listens for changes.
func (s *Server) Clients() []ClientInfo { return s.sessions.list() }

// Shutdown refuses new requests, ends at once every stream on which clients
// only listen, and waits for the running calls. It does not end those: shut the
// dispatcher down first. When ctx ends before they are done it cancels them,
// and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.unwatch()
	if s.watch != nil {
		s.watch.close()
	}
	return s.sessions.shutdown(ctx)
}

// initialized notes how the client of a new session calls itself.
func (s *Server) initialized(ctx context.Context, _ any, r *mcp.InitializeRequest, _ *mcp.InitializeResult) {
	in := server.ClientSessionFromContext(ctx)
	if in == nil {
		return
	}
	c := clientName{Name: r.Params.ClientInfo.Name, Version: r.Params.ClientInfo.Version}
	s.sessions.describe(in.SessionID(), c)
	s.opts.Log.Info().Str("client", c.Name).Str("client_version", c.Version).
		Str("protocol", r.Params.ProtocolVersion).Msg("client connected")
}

// sessionEnded lets mcp-go forget a session.
func (s *Server) sessionEnded(in *session) {
	s.mcp.UnregisterSession(context.Background(), in.id)
	if s.watch != nil {
		s.watch.drop(in.listener)
	}
	info := s.sessions.client(in)
	s.opts.Log.Info().Str("client", info.Name).Str("transport", info.Transport).Msg("client gone")
}
