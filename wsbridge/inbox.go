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
	// maxMalformed limits the malformed frames of one link.
	maxMalformed = 100
	// loggedMalformed is how many of them are logged as warnings.
	loggedMalformed = 3
	// maxResumed limits the runs of one call.resumed, because each unknown run
	// is answered with a frame.
	maxResumed = 20_000
)

// serve completes the handshake and handles the browser's frames until the link
// ends.
func (l *link) serve() {
	b, err := l.handshake()
	if err != nil {
		if !errors.Is(err, errRefused) && !l.ended() {
			l.log.Debug().Err(err).Msg("link ended before hello")
		}
		return
	}
	defer b.detach(l)
	l.completeHandshake()
	l.work.Go(l.keepAlive)
	l.work.Go(func() { l.syncAdapters(b) })
	l.requestSync()
	for {
		frame, err := l.read()
		switch {
		case errors.Is(err, errNotTextual):
			l.countMalformed(err)
		case err != nil:
			if !l.ended() {
				l.log.Debug().Err(err).Msg("link ended")
			}
			return
		default:
			l.handle(b, frame)
		}
		if l.malformed > maxMalformed {
			l.shut(websocket.StatusPolicyViolation, fmt.Sprintf("more than %d frames were malformed", maxMalformed))
			return
		}
	}
}

// countMalformed counts and logs a malformed frame.
func (l *link) countMalformed(err error) {
	l.malformed++
	event := l.log.Debug()
	if l.malformed <= loggedMalformed {
		event = l.log.Warn()
	}
	event.Int("malformed", l.malformed).Str("error", clean(err.Error(), 200)).Msg("frame ignored")
}

// handle handles one frame. It never blocks.
func (l *link) handle(b *browser, frame []byte) {
	e, err := wire.Parse(frame)
	switch {
	case err != nil:
		l.countMalformed(err)
		b.failUnparsed(l, frame)
	case e.Method == "":
		l.answer(b, e)
	case e.ID != "":
		l.serveRequest(b, e)
	default:
		l.notification(b, e)
	}
}

// answer routes an answer to the request that it belongs to.
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
	if l.deliverAnswer(e) {
		l.hasAnswered = true
	} else {
		l.log.Debug().Str("id", clean(id, 100)).Msg("answer to an unknown or expired request")
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
		l.runForPanel(e, func() { l.cancelCall(e.ID, p.CallID) })
	case wire.MethodCallDecide:
		answerPanel(l, e, l.decide)
	case wire.MethodConfigPermission:
		answerPanel(l, e, l.setPermission)
	case wire.MethodConfigReview:
		answerPanel(l, e, l.review)
	case wire.MethodConfigSettings:
		answerPanel(l, e, l.changeSettings)
	case wire.MethodConfigOpening:
		answerPanel(l, e, l.setOpening)
	case wire.MethodConfigCalls:
		answerPanel(l, e, l.setCalls)
	case wire.MethodConfigLateAccess:
		answerPanel(l, e, l.setLateAccess)
	case wire.MethodPluginFetch:
		answerPanel(l, e, l.fetch)
	case wire.MethodHello:
		l.reject(e, wire.CodeInvalidRequest, "hello was already sent; open a new connection to send it again")
	case wire.MethodToolProgress, wire.MethodToolPart, wire.MethodToolAsk, wire.MethodCallResumed,
		wire.MethodTabSync, wire.MethodTabChanged, wire.MethodStateWatch, wire.MethodPluginLog:
		l.reject(e, wire.CodeInvalidRequest, string(e.Method)+" is a notification; send it without an id")
	default:
		l.reject(e, wire.CodeMethodNotFound, fmt.Sprintf("unknown method %q", clean(string(e.Method), 100)))
	}
}

func (l *link) reject(e wire.Envelope, code int, message string) {
	l.log.Debug().Int("code", code).Msg("request rejected: " + message)
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
			err = b.forwardLog(l, p)
		}
	case wire.MethodStateWatch:
		err = withParams(e, func(p wire.StateWatchParams) { l.setWatching(b, p.On) })
	default:
		err = errors.New("unknown method")
	}
	if err != nil {
		l.countMalformed(fmt.Errorf("%s: %w", clean(string(e.Method), 100), err))
	}
}

// withParams decodes the parameters of a notification and passes them to use.
func withParams[P any](e wire.Envelope, use func(P)) error {
	var p P
	if err := json.Unmarshal(orEmpty(e.Params), &p); err != nil {
		return err
	}
	use(p)
	return nil
}

// failUnparsed ends a run whose answer is not JSON. The browser forwards the
// text of a result without parsing it, so a malformed result breaks the whole
// frame. The beginning of the frame still names the run.
func (b *browser) failUnparsed(l *link, frame []byte) {
	rest, ok := bytes.CutPrefix(frame, []byte(`{"jsonrpc":"2.0","id":"`))
	if !ok {
		return
	}
	id, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || !bytes.HasPrefix(rest, []byte(`,"result":`)) {
		return
	}
	if r := b.removeRun(string(id)); r != nil {
		l.log.Warn().Str("call", string(id)).Msg("the tool's result is not JSON")
		r.sink.Finish(nil, notJSON())
	}
}
