package wsbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"opentabs/wire"
)

const (
	// maxGarbage is how many frames that make no sense a browser may send.
	maxGarbage = 100
	// loggedGarbage is how many of them are logged as warnings.
	loggedGarbage = 3
	// maxResumed is how many runs of one call.resumed are looked at: each that
	// nobody waits for is answered by a frame.
	maxResumed = 20_000
)

// serve lets the browser in and handles its frames until the link ends.
func (l *link) serve() {
	b, err := l.welcome()
	if err != nil {
		if !errors.Is(err, errRefused) && !l.ended() {
			l.log.Debug().Err(err).Msg("link ended before hello")
		}
		return
	}
	defer b.detach(l)
	l.greet()
	l.work.Go(l.keepAlive)
	l.work.Go(func() { l.syncAdapters(b) })
	l.wantSync()
	for {
		frame, err := l.read()
		switch {
		case errors.Is(err, errNotTextual):
			l.noise(err)
		case err != nil:
			if !l.ended() {
				l.log.Debug().Err(err).Msg("link ended")
			}
			return
		default:
			l.handle(b, frame)
		}
		if l.garbage > maxGarbage {
			l.shut(websocket.StatusPolicyViolation, fmt.Sprintf("more than %d frames made no sense", maxGarbage))
			return
		}
	}
}

// noise counts a frame that made no sense.
func (l *link) noise(err error) {
	l.garbage++
	event := l.log.Debug()
	if l.garbage <= loggedGarbage {
		event = l.log.Warn()
	}
	event.Int("garbage", l.garbage).Str("error", clean(err.Error(), 200)).Msg("frame ignored")
}

// handle handles one frame. It never waits.
func (l *link) handle(b *browser, frame []byte) {
	e, err := wire.Parse(frame)
	switch {
	case err != nil:
		l.noise(err)
		b.brokenAnswer(l, frame)
	case e.Method == "":
		l.answer(b, e)
	case e.ID != "":
		l.serveRequest(b, e)
	default:
		l.notification(b, e)
	}
}

// answer hands an answer to whoever waits for it.
func (l *link) answer(b *browser, e wire.Envelope) {
	id, own := strings.CutPrefix(e.ID, ownID)
	if !own {
		b.answer(l, e)
		return
	}
	if run, ok := strings.CutPrefix(e.ID, cancelID); ok {
		b.stopAnswered(l, run, e)
		return
	}
	if ask, ok := strings.CutPrefix(e.ID, answerID); ok {
		b.answerConfirmed(l, ask, e)
		return
	}
	if e.ID == pingID {
		return
	}
	if l.answered(e) {
		l.told = true
	} else {
		l.log.Debug().Str("id", clean(id, 100)).Msg("answer that nobody waits for")
	}
}

// serveRequest answers one request of the browser.
func (l *link) serveRequest(b *browser, e wire.Envelope) {
	switch e.Method {
	case wire.MethodPing:
		l.post(wire.AppendResult(nil, e.ID, []byte("{}")))
	case wire.MethodCallCancel:
		var p wire.CallCancelParams
		if err := json.Unmarshal(orEmpty(e.Params), &p); err != nil || p.CallID == "" {
			l.reject(e, wire.CodeInvalidParams, "call.cancel needs a callId; name the call to stop")
			return
		}
		l.forPanel(e, func() { l.cancelCall(e.ID, p.CallID) })
	case wire.MethodCallDecide:
		serveForPanel(l, e, l.decide)
	case wire.MethodConfigPermission:
		serveForPanel(l, e, l.setPermission)
	case wire.MethodConfigReview:
		serveForPanel(l, e, l.review)
	case wire.MethodConfigSettings:
		serveForPanel(l, e, l.changeSettings)
	case wire.MethodConfigOpening:
		serveForPanel(l, e, l.setOpening)
	case wire.MethodConfigCalls:
		serveForPanel(l, e, l.setCalls)
	case wire.MethodConfigLateAccess:
		serveForPanel(l, e, l.setLateAccess)
	case wire.MethodPluginFetch:
		serveForPanel(l, e, l.fetch)
	case wire.MethodHello:
		l.reject(e, wire.CodeInvalidRequest, "hello is said already; open a new connection to say it again")
	case wire.MethodToolProgress, wire.MethodToolPart, wire.MethodToolAsk, wire.MethodCallResumed,
		wire.MethodTabSync, wire.MethodTabChanged, wire.MethodStateWatch, wire.MethodPluginLog:
		l.reject(e, wire.CodeInvalidRequest, string(e.Method)+" is a notification; send it without an id")
	default:
		l.reject(e, wire.CodeMethodNotFound, fmt.Sprintf("the method %q is not known", clean(string(e.Method), 100)))
	}
}

func (l *link) reject(e wire.Envelope, code int, message string) {
	l.log.Debug().Int("code", code).Msg("request refused: " + message)
	l.post(wire.AppendError(nil, e.ID, &wire.RPCError{Code: code, Message: message}))
}

// notification handles one notification of the browser.
func (l *link) notification(b *browser, e wire.Envelope) {
	var err error
	switch e.Method {
	case wire.MethodToolProgress:
		err = b.progress(l, e.Params)
	case wire.MethodToolAsk:
		var p wire.ToolAskParams
		if err = json.Unmarshal(orEmpty(e.Params), &p); err == nil {
			err = b.ask(l, p)
		}
	case wire.MethodToolPart:
		err = b.part(l, e.Params)
	case wire.MethodCallResumed:
		err = withParams(e, func(p wire.CallResumedParams) { b.resumed(l, p.DispatchIDs[:min(len(p.DispatchIDs), maxResumed)]) })
	case wire.MethodTabSync:
		err = withParams(e, func(p wire.TabSyncParams) { b.syncTabs(l, p.Tabs) })
	case wire.MethodTabChanged:
		err = withParams(e, func(p wire.TabChangedParams) { b.changeTab(l, p) })
	case wire.MethodPluginLog:
		var p wire.PluginLogParams
		if err = json.Unmarshal(orEmpty(e.Params), &p); err == nil {
			err = b.logged(l, p)
		}
	case wire.MethodStateWatch:
		err = withParams(e, func(p wire.StateWatchParams) { l.watchFor(b, p.On) })
	default:
		err = errors.New("the method is not known")
	}
	if err != nil {
		l.noise(fmt.Errorf("%s: %w", clean(string(e.Method), 100), err))
	}
}

// withParams decodes the parameters of a notification and hands them to use.
func withParams[P any](e wire.Envelope, use func(P)) error {
	var p P
	if err := json.Unmarshal(orEmpty(e.Params), &p); err != nil {
		return err
	}
	use(p)
	return nil
}

// brokenAnswer ends a run whose answer is not JSON. The browser passes a
// result's text on without parsing it, so a text that is not JSON breaks the
// frame; its beginning still says which run it is about.
func (b *browser) brokenAnswer(l *link, frame []byte) {
	rest, ok := bytes.CutPrefix(frame, []byte(`{"jsonrpc":"2.0","id":"`))
	if !ok {
		return
	}
	id, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || !bytes.HasPrefix(rest, []byte(`,"result":`)) {
		return
	}
	if r := b.take(string(id)); r != nil {
		l.log.Warn().Str("call", string(id)).Msg("the tool's result is not JSON")
		r.sink.Finish(nil, notJSON())
	}
}
