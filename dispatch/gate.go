package dispatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"opentabs/wire"
)

// Info is what gates and hooks learn of a call.
type Info struct {
	CallID string
	Tool   Tool
	// Args are the validated arguments, a JSON object; nil for an After hook. They
	// may not be changed.
	Args         json.RawMessage
	Client       Client
	ParentCallID string
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller
	// Browser and TabID are what the call names; zero values if it names none.
	Browser string
	TabID   int
	// Resolution is what a person decided about the last ticket of this gate for
	// this call; nil if it has asked nobody.
	Resolution *Resolution
}

// Gate decides whether a call may run. Decide is pure: it changes nothing, does
// not block, may be asked again for the same call, and is safe for concurrent
// use.
type Gate interface {
	// Name names the gate in logs.
	Name() string
	Decide(Info) Verdict
}

// Verdict is what a gate says; the zero value allows the call. Over all gates a
// Block goes before a Suspend, and that before a Result; of two alike the gate
// that was registered first wins, which is logged.
type Verdict struct {
	// Block ends the call with this error. Its message is for the agent.
	Block *wire.CallError
	// ForUser is what a user reads in place of Block's message; empty if that is
	// fit for both.
	ForUser string
	// Suspend lets the call wait for a person.
	Suspend *Ticket
	// Result ends the call well without running the tool.
	Result *Supplied
}

// Blocked returns a verdict that ends a call with this error.
func Blocked(code wire.ErrorCode, format string, args ...any) Verdict {
	return Verdict{Block: &wire.CallError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// Supplied is a result that a gate gives.
type Supplied struct {
	// Output is JSON text; nil for undefined.
	Output json.RawMessage
}

// ResumeMode says what follows when a person has allowed a suspended call.
type ResumeMode uint8

const (
	// ResumeRun asks the gates again and runs the tool.
	ResumeRun ResumeMode = iota
	// ResumeUseDecision makes what the person decided (Resolution.Data) the
	// result of the call; the tool does not run.
	ResumeUseDecision
	// ResumePassDecision asks the gates again and runs the tool, which gets the
	// decision as context.decision: {"allow", "scope", "by", "data"}.
	ResumePassDecision
)

// Ticket is what a suspended call waits for.
type Ticket struct {
	Kind wire.TicketKind
	// Reason is a sentence for the person, Title a few words or nothing.
	Reason string
	Title  string
	Resume ResumeMode
	// Limit ends the call with approval_timeout after so long without a decision; a
	// tool's own ticket gives the tool that error instead. 0 means what is left of
	// Options.SuspendLimit, and no Limit is longer than that.
	Limit time.Duration
	// Scopes are those that the person may choose from; none means ScopeOnce, and
	// ScopeSession is left out for a client without a session.
	Scopes []wire.Scope
}

// scopes are those that may be chosen for a call of this client.
func (t *Ticket) scopes(by Client) []wire.Scope {
	offered := slices.DeleteFunc(slices.Clone(t.Scopes), func(s wire.Scope) bool { return s == wire.ScopeSession && by.Shared })
	if len(offered) == 0 {
		return []wire.Scope{wire.ScopeOnce}
	}
	return offered
}

// Resolution is what a person decided about a ticket.
type Resolution struct {
	TicketID string `json:"ticket_id"`
	// Gate is the gate whose ticket it was; empty for one of the tool itself.
	Gate  string `json:"gate,omitempty"`
	Allow bool   `json:"allow"`
	// Scope is how far an Allow goes; For is how long a ScopeTime lasts.
	Scope wire.Scope    `json:"scope,omitempty"`
	For   time.Duration `json:"for,omitempty"`
	// Data is what the person said besides: JSON, or nil.
	Data json.RawMessage `json:"data,omitempty"`
	// By is the surface, as in "the side panel".
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// forTool is the decision as a tool gets it.
func (r *Resolution) forTool() json.RawMessage {
	text, err := json.Marshal(struct {
		Allow bool            `json:"allow"`
		Scope wire.Scope      `json:"scope,omitempty"`
		By    string          `json:"by"`
		Data  json.RawMessage `json:"data,omitempty"`
	}{r.Allow, r.Scope, r.By, r.Data})
	if err != nil { // Data is JSON: decide has checked it
		panic("dispatch: " + err.Error())
	}
	return text
}

// Decider is a [Gate] that wants to know what became of its tickets. Decided is
// called once for each decision, before the gates are asked again.
type Decider interface {
	Decided(Info, Ticket, Resolution)
}

// Before runs once for each call that the gates have allowed, when its turn has
// come and before it runs. An error ends the call. It does not block.
type Before interface {
	Before(Info) *wire.CallError
}

// After runs once for each call that was taken in, when it has ended, also with
// a gate's result. It does not block.
type After interface {
	After(Info, Ended)
}

// Ended is how a call ended.
type Ended struct {
	View View
	// Target is where the call ran, or was tried last; zero if it never began.
	Target Target
	// Output is the result's JSON text; nil if there is none.
	Output json.RawMessage
	// Resolutions are the decisions of people about the call, oldest first.
	Resolutions []Resolution
	// LastMessages are the last messages that the tool reported, oldest first.
	LastMessages []LastMessage
}

// LastMessage is one message of a tool.
type LastMessage struct {
	Time     time.Time `json:"time"`
	Message  string    `json:"message"`
	Audience string    `json:"audience,omitempty"`
}

// judge asks all gates. It returns the verdict that counts and the gate that
// gave it; nil if all allow the call.
func (d *Dispatcher) judge(c *liveCall) (Verdict, Gate) {
	var found Verdict
	var by Gate
	best := len(verdictKinds)
	for _, g := range d.opts.Gates {
		v := g.Decide(c.info(g))
		kind := slices.IndexFunc(verdictKinds[:], func(is func(Verdict) bool) bool { return is(v) })
		switch {
		case kind < 0 || kind > best:
		case kind == best:
			d.opts.Log.Info().Str("call", c.id).Str("tool", c.req.Tool.FullName()).Str("gate", by.Name()).Str("also", g.Name()).
				Msg("two gates decided alike; the first one counts")
		default:
			found, by, best = v, g, kind
		}
	}
	return found, by
}

// verdictKinds are the kinds of verdicts, the one that counts most first.
var verdictKinds = [...]func(Verdict) bool{
	func(v Verdict) bool { return v.Block != nil },
	func(v Verdict) bool { return v.Suspend != nil },
	func(v Verdict) bool { return v.Result != nil },
}

// info is what g learns of the call.
func (c *liveCall) info(g Gate) Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := Info{
		CallID: c.id, Tool: c.req.Tool, Args: c.req.Args, Client: c.req.Client, ParentCallID: c.req.ParentCallID,
		Caller: c.req.Caller, Browser: c.req.Browser, TabID: c.req.TabID,
	}
	if g == nil {
		return i
	}
	for n := len(c.resolutions) - 1; n >= 0; n-- {
		if c.resolutions[n].Gate == g.Name() {
			r := c.resolutions[n]
			i.Resolution = &r
			break
		}
	}
	return i
}
