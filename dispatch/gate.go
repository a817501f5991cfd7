package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"opentabs/wire"
)

// CallInfo describes a call to gates and hooks.
type CallInfo struct {
	CallID string
	Tool   Tool
	// Args are the validated arguments, a read-only JSON object; nil for an AfterHook.
	Args   json.RawMessage
	Client Client
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller
	// ParentCallID is the ID of the call that made this call; "" for a call of a client.
	ParentCallID string
	// RootCallID is the ID of the client's call that this call descends from. TraceParent
	// is the client's trace span in the format of W3C Trace Context; "" if the client
	// sent none.
	RootCallID, TraceParent string
	// Browser and TabID are the tab that the arguments name; both are zero for no tab.
	Browser string
	TabID   int
	// Target is where a browser tool will run: the browser, tab and document that were
	// chosen before the gates. Target is zero for a tool of a package. The gates also run
	// before the choice, with a zero Target, and then only a Block counts.
	Target Target
	// Resolution is the user's decision about the last ticket of this gate for this
	// call; nil if there is none.
	Resolution *Resolution
}

// Gate decides whether a call may run. Decide is pure: Decide changes nothing, does not
// block, may run several times for one call, and is safe for concurrent use.
type Gate interface {
	// Name names the gate in logs.
	Name() string
	Decide(CallInfo) Verdict
}

// Verdict is the decision of a gate. The zero Verdict allows the call. If gates disagree,
// Block takes precedence over Suspend, Suspend over Wait, and Wait over Result. If two
// gates return the same kind of verdict, the dispatcher uses the verdict of the first
// gate and logs the conflict.
type Verdict struct {
	// Block ends the call with this error.
	Block *wire.CallError
	// Suspend makes the call wait for the user.
	Suspend *Ticket
	// Wait delays the call for a short time. After the delay, the gates decide again.
	Wait *Wait
	// Result ends the call with success without running the tool.
	Result *SuppliedResult
}

// Wait is a delay of a call after which its gate may allow the call.
type Wait struct {
	// Duration is how long the call waits before the gates decide again.
	Duration time.Duration
	// Done is a channel whose closing ends the delay early. A nil channel has no effect.
	Done <-chan struct{}
	// Message is the reason of the delay, which the client receives as progress.
	Message string
}

// NewBlockVerdict returns a verdict that ends a call with an error. message and userText
// are [wire.CallError.Message] and [wire.CallError.UserText].
func NewBlockVerdict(code wire.ErrorCode, message, userText string) Verdict {
	return Verdict{Block: &wire.CallError{Code: code, Message: message, UserText: userText}}
}

// SuppliedResult is a result from a gate.
type SuppliedResult struct {
	// Output is JSON text; nil for undefined.
	Output json.RawMessage
}

// Ticket is a request for a decision of the user. After an approval the gates run again
// with [CallInfo.Resolution], and the tool runs. A gate can return the data of the
// decision as its [Verdict.Result].
type Ticket struct {
	Kind wire.TicketKind
	// Reason is a sentence for the user; Title is a few words or empty.
	Reason string
	Title  string
	// PassDecisionToTool gives the decision to the tool as context.decision:
	// {"allow", "scope", "by", "data"}.
	PassDecisionToTool bool
	// Limit is the time after which the call, or only the tool's request, fails with
	// approval_timeout if the ticket has no decision. The rest of Options.SuspendLimit
	// is the default and the maximum of Limit.
	Limit time.Duration
	// Scopes are the scopes that the user may choose for an approval. An empty list
	// means ScopeOnce. ScopeSession is omitted for a client without a session.
	Scopes []wire.Scope
	// IsReadOnly is true if the gate has checked that the call changes nothing. If
	// IsReadOnly is false, the declaration of the tool's author applies.
	IsReadOnly bool
	// reloadsTab is true if an approval of the ticket also allows the reload of a tab.
	reloadsTab bool
	// target is the document in which a plugin's tool would run now; zero if unknown.
	target Target
}

// offeredScopes returns the scopes that fit a call of this client.
func (t *Ticket) offeredScopes(client Client) []wire.Scope {
	scopes := slices.DeleteFunc(slices.Clone(t.Scopes), func(s wire.Scope) bool { return s == wire.ScopeSession && client.IsSessionShared })
	if len(scopes) == 0 {
		return []wire.Scope{wire.ScopeOnce}
	}
	return scopes
}

// DecisionObserver is a [Gate] that receives the decisions about its tickets.
// ObserveDecision runs once for each decision, before the gates run again.
type DecisionObserver interface {
	ObserveDecision(CallInfo, Ticket, Resolution)
}

// BeforeHook is a hook that runs once for each allowed call, after the queue and before
// the tool. An error ends the call. BeforeHook may write to the disk and does not block
// otherwise.
type BeforeHook interface {
	Before(CallInfo) *wire.CallError
}

// AfterHook is a hook that runs once after the end of each accepted call, even if a
// gate supplied the result. AfterHook runs shortly after the call has returned, so that
// the client does not wait for it, and before [Dispatcher.Drain] returns. The hooks of
// two calls run in the order in which the calls returned. AfterHook does not block: if
// hooks are slow, calls wait for them.
type AfterHook interface {
	After(CallInfo, EndedCall)
}

// EndedCall is how a call ended.
type EndedCall struct {
	// View is the final view of the call, with activities, timeline and trace.
	View View
	// Args are the arguments of the call in the form that [Options.ShownArgs] returns for
	// users. IsArgsMasked is true if Args differ from the real arguments.
	Args         json.RawMessage
	IsArgsMasked bool
	// Target is the document of the last attempt; zero if the call never began.
	Target Target
	// Output is the result's JSON text; nil if there is none.
	Output json.RawMessage
	// Resolutions are the user's decisions about the call, oldest first.
	Resolutions []Resolution
	// LastMessages are the last messages that the tool reported, oldest first.
	LastMessages []ToolMessage
}

// ToolMessage is one message of a tool.
type ToolMessage struct {
	Time     time.Time `json:"time"`
	Message  string    `json:"message"`
	Audience string    `json:"audience,omitempty"`
}

// runGates runs all gates, and returns the verdict that counts and its gate. The gate
// is nil if all gates allow the call.
func (d *Dispatcher) runGates(c *liveCall) (Verdict, Gate) {
	var verdict Verdict
	var decidingGate Gate
	bestKind := len(verdictKinds)
	for _, g := range d.opts.Gates {
		v := g.Decide(c.gateInfo(g))
		kind := slices.IndexFunc(verdictKinds[:], func(isOfKind func(Verdict) bool) bool { return isOfKind(v) })
		switch {
		case kind < 0 || kind > bestKind:
		case kind == bestKind:
			d.opts.Log.Info().Str("call", c.id).Str("tool", c.req.Tool.FullName()).Str("gate", decidingGate.Name()).Str("also", g.Name()).
				Msg("two gates made the same decision; the first one counts")
		default:
			verdict, decidingGate, bestKind = v, g, kind
		}
	}
	return verdict, decidingGate
}

// verdictKinds are the kinds of verdicts by precedence.
var verdictKinds = [...]func(Verdict) bool{
	func(v Verdict) bool { return v.Block != nil },
	func(v Verdict) bool { return v.Suspend != nil },
	func(v Verdict) bool { return v.Wait != nil },
	func(v Verdict) bool { return v.Result != nil },
}
