package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"opentabs/wire"
)

// CallInfo is the description of a call that gates and hooks receive.
type CallInfo struct {
	CallID string
	Tool   Tool
	// Args is a read-only JSON object with the validated arguments. In the CallInfo that an
	// AfterHook receives, Args is nil.
	Args   json.RawMessage
	Client Client
	// Caller is the tool that made the call, or nil for a call of a client.
	Caller *Caller
	// ParentCallID is the ID of the call whose tool made the call, or empty for a call of a client.
	ParentCallID string
	// RootCallID is the ID of the client's call to which a nested call belongs. TraceParent is
	// the client's trace span in the format of W3C Trace Context, or empty if the client sent none.
	RootCallID, TraceParent string
	// Browser and TabID identify the tab that the arguments of the call name. If the arguments
	// name no tab, Browser and TabID are zero.
	Browser string
	TabID   int
	// Target is the browser, tab and document in which a browser tool will run. For a tool of a
	// plugin, Target is zero. The gates of a browser tool also run once before the dispatcher
	// chooses a target. While no target is chosen, Target is zero, and the dispatcher ignores all
	// verdicts except BlockError.
	Target Target
	// HasBeenQueued is true if the call has waited in the queue since its gates first allowed it.
	// If the user has changed permissions meanwhile, the gates decide again before the call runs.
	HasBeenQueued bool
	// Resolution is the user's decision about the gate's last ticket for the call, or nil if
	// the user has not decided.
	Resolution *Resolution
}

// Gate decides whether a call is allowed to run. Decide must not change anything or block, and
// must be safe for concurrent use. The dispatcher can call Decide several times for one call.
type Gate interface {
	// Name returns the name of the gate in logs, such as "permission".
	Name() string
	Decide(CallInfo) Verdict
}

// Verdict is the decision of a gate about a call. The zero Verdict allows the call. If
// gates disagree, BlockError takes precedence over Suspend, Suspend over Wait, and Wait over
// Result. If two gates return verdicts of one kind, the dispatcher uses the verdict of the
// first gate and logs the conflict.
type Verdict struct {
	// BlockError, if not nil, is the error with which the call fails.
	BlockError *wire.CallError
	// Suspend, if not nil, makes the call wait for the user's decision about this ticket.
	Suspend *Ticket
	// Wait, if not nil, delays the call. When the delay has ended, all gates decide about the call
	// again.
	Wait *Wait
	// Result, if not nil, becomes the result of the call, and the tool does not run.
	Result *GateResult
}

// Wait delays a call that the gate could allow after a short time.
type Wait struct {
	// Duration is how long the call waits before the gates decide again.
	Duration time.Duration
	// Done is a channel whose closing ends the delay early. If Done is nil, the delay always lasts
	// for the complete Duration.
	Done <-chan struct{}
	// Message is the reason for the delay. The client receives Message as a progress notification.
	Message string
}

// NewBlockVerdict returns a verdict that ends a call with an error. message and userText
// are [wire.CallError.Message] and [wire.CallError.UserText].
func NewBlockVerdict(code wire.ErrorCode, errorMessage, userText string) Verdict {
	return Verdict{BlockError: &wire.CallError{Code: code, Message: errorMessage, UserText: userText}}
}

// GateResult is a result that a gate returns instead of running the tool.
type GateResult struct {
	// Output is the result as JSON text, or nil for JavaScript's undefined.
	Output json.RawMessage
}

// Ticket is a request for a decision of the user. After an approval, the gates run again with the decision in
// [CallInfo.Resolution], and the tool runs if the gates allow the call. A gate can return the data of a decision as its
// [Verdict.Result].
type Ticket struct {
	Kind wire.TicketKind
	// Reason is a sentence that explains the request to the user. Title is a heading of a few
	// words, or empty.
	Reason string
	Title  string
	// PassesDecision is true if the tool receives the decision as context.decision, an
	// object with the keys "allow", "scope", "by" and "data".
	PassesDecision bool
	// Limit is how long the user may take to decide before the ticket fails with approval_timeout.
	// The field Limit cannot exceed its default: the part of Options.SuspendLimit that the call has
	// not used.
	Limit time.Duration
	// The field Scopes contains the scopes that the approval form offers, such as once or
	// always. Empty Scopes mean ScopeOnce. To a client without a session, the form does not
	// offer ScopeSession.
	Scopes []wire.Scope
	// IsReadOnly is true if the gate has checked that the call changes nothing. If IsReadOnly
	// is false, the call is read-only only if the tool's author declares so.
	IsReadOnly bool
	// The field reloadsTab is true if an approval of the ticket covers the reload of a
	// tab.
	reloadsTab bool
	// runTarget is the document in which the plugin's tool would run if approved now; zero if unknown.
	runTarget Target
}

func (t *Ticket) offeredScopes(client Client) []wire.Scope {
	scopes := slices.DeleteFunc(slices.Clone(t.Scopes), func(s wire.Scope) bool { return s == wire.ScopeSession && client.IsSessionShared })
	if len(scopes) == 0 {
		return []wire.Scope{wire.ScopeOnce}
	}
	return scopes
}

// DecisionObserver is implemented by a [Gate] that must be notified of the user's decisions about
// its tickets. ObserveDecision runs once for each decision, before the gates run again.
type DecisionObserver interface {
	ObserveDecision(CallInfo, Ticket, Resolution)
}

// ApprovalNamer is implemented by a [Gate] that names the earlier approval which allows a
// call, such as "the approval for 10 min from the side panel", or returns an empty string.
type ApprovalNamer interface {
	ApprovalName(CallInfo) string
}

// BeforeHook is a hook that runs once for each allowed call, after the queue and before the
// tool. If a BeforeHook returns an error, the call fails. Apart from writes to disk, a
// BeforeHook must not block.
type BeforeHook interface {
	BeforeCall(CallInfo) *wire.CallError
}

// AfterHook is a hook that runs once after the end of each accepted call, even if a gate
// supplied the result. Clients do not wait for AfterHooks, which run shortly after the
// call has returned. [Dispatcher.WaitForHooks] returns only after the hooks have run. The hooks of
// two calls run in the order in which the calls returned. An AfterHook must not block,
// because slow hooks delay calls.
type AfterHook interface {
	AfterCall(CallInfo, EndedCall)
}

// EndedCall describes a call for hooks: its outcome, arguments, result and decisions.
type EndedCall struct {
	// View is the final View of the call, including its activities, timeline and trace.
	View View
	// The field Args contains the arguments of the call as they are shown to users; see
	// [Options.MaskArgs]. IsArgsMasked is true if Args differ from the real arguments.
	Args         json.RawMessage
	IsArgsMasked bool
	// Target is the document in which the call was last tried, or zero if the call never began.
	Target Target
	// Output is the JSON text of the call's result, or nil without a result.
	Output json.RawMessage
	// The field Resolutions contains the user's decisions about the call, oldest first.
	Resolutions []Resolution
	// LastMessages are the last messages that the tool reported, oldest first.
	LastMessages []ToolMessage
	// DroppedMessages is the number of messages before LastMessages, all of which the dispatcher
	// has dropped.
	DroppedMessages int
}

// ToolMessage is one progress message that a tool reported.
type ToolMessage struct {
	Time     time.Time `json:"time"`
	Message  string    `json:"message"`
	Audience string    `json:"audience,omitempty"`
}

// runGates runs all gates, and returns the verdict with the highest precedence and its gate.
func (d *Dispatcher) runGates(c *liveCall) (Verdict, Gate) {
	var verdict Verdict
	var decidingGate Gate
	bestVerdictKind := len(verdictKinds)
	for _, g := range d.opts.Gates {
		v := g.Decide(c.gateInfo(g))
		kind := slices.IndexFunc(verdictKinds[:], func(matchesKind func(Verdict) bool) bool { return matchesKind(v) })
		switch {
		case kind < 0 || kind > bestVerdictKind:
		case kind == bestVerdictKind:
			d.opts.Log.Info().Str("call", c.id).Str("tool", c.req.Tool.FullName()).Str("gate", decidingGate.Name()).Str("also", g.Name()).
				Msg("two gates made the same decision; the first one counts")
		default:
			verdict, decidingGate, bestVerdictKind = v, g, kind
		}
	}
	return verdict, decidingGate
}

var verdictKinds = [...]func(Verdict) bool{
	func(v Verdict) bool { return v.BlockError != nil },
	func(v Verdict) bool { return v.Suspend != nil },
	func(v Verdict) bool { return v.Wait != nil },
	func(v Verdict) bool { return v.Result != nil },
}
