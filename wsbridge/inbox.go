package wsbridge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"opentabs/wire"
	"opentabs/wsbridge/changes"
	"opentabs/wsbridge/inbound"
	"opentabs/wsbridge/requests"
)

const (
	// maxMalformedFrames is the number of malformed frames after which a link is closed.
	maxMalformedFrames = 100
	// maxMalformedWarnings is the number of malformed frames per link that are logged as warnings.
	maxMalformedWarnings = 3
	// maxResumedRuns limits the calls in one call.resumed frame, because the server answers
	// each unknown call with a frame.
	maxResumedRuns = 20_000
)

func (l *link) serve(s *handshake) {
	b, err := s.run()
	if err != nil {
		if !errors.Is(err, errHandshakeRefused) && !l.hasEnded() {
			l.log.Debug().Err(err).Msg("link ended before hello")
		}
		return
	}
	defer l.hub.registry.detachLink(b, l)
	l.hub.registry.completeHandshake(l)
	l.hub.Holds.sendHolds(b, true)
	l.goroutines.Go(l.keepAlive)
	l.goroutines.Go(func() { l.adapters.run(b) })
	l.adapters.request()
	for {
		frame, err := l.read()
		switch {
		case errors.Is(err, errBinaryFrame):
			l.inbox.countMalformed(err)
		case err != nil:
			if !l.hasEnded() {
				l.log.Debug().Err(err).Msg("link ended")
			}
			return
		default:
			l.inbox.handleFrame(b, frame)
		}
		if l.inbox.malformedCount > maxMalformedFrames {
			l.closeWith(websocket.StatusPolicyViolation, fmt.Sprintf("more than %d frames were malformed", maxMalformedFrames))
			return
		}
	}
}

// The type inbox handles the frames that arrive on one link. Only the goroutine that reads the
// link uses its inbox.
type inbox struct {
	link                  *link
	malformedCount        int
	unknownRunReportCount int
	hasWarned             bool
}

func (in *inbox) countMalformed(err error) {
	in.malformedCount++
	event := in.link.log.Debug()
	if in.malformedCount <= maxMalformedWarnings {
		event = in.link.log.Warn()
	}
	event.Int("malformed", in.malformedCount).Str("error", inbound.CleanText(err.Error(), 200)).Msg("frame ignored")
}

// The method handleFrame of an inbox must not block.
func (in *inbox) handleFrame(b *browser, frame []byte) {
	e, err := wire.Parse(frame)
	switch {
	case err != nil:
		in.countMalformed(err)
		in.failRunWithInvalidResult(b, frame)
	case e.Method == "":
		in.respond(b, e)
	case e.ID != "":
		in.serveRequest(b, e)
	default:
		in.handleNotification(b, e)
	}
}

func (in *inbox) respond(b *browser, e wire.Envelope) {
	id, isOwnRequest := strings.CutPrefix(e.ID, requests.IDPrefix)
	if !isOwnRequest {
		b.finishRun(in.link, e)
		return
	}
	if run, ok := strings.CutPrefix(e.ID, cancelIDPrefix); ok {
		b.runTable.handleStopReply(in.link, run, e)
		return
	}
	if askID, ok := strings.CutPrefix(e.ID, answerIDPrefix); ok {
		b.runTable.recordConfirmedAnswer(in.link, askID, e)
		return
	}
	if e.ID == pingID {
		return
	}
	if !in.link.requests.DeliverAnswer(e) {
		in.link.log.Debug().Str("id", inbound.CleanText(id, 100)).Msg("answer to an unknown or expired request")
	}
}

func (in *inbox) serveRequest(b *browser, e wire.Envelope) {
	switch e.Method {
	case wire.MethodPing:
		in.link.postFrame(wire.AppendResult(nil, e.ID, []byte("{}")))
	case wire.MethodCallCancel:
		var p wire.CallCancelParams
		if err := wire.DecodeBody(e.Params, &p); err != nil || p.CallID == "" {
			in.link.rejectRequest(e, wire.CodeInvalidParams, "call.cancel needs a callId; name the call to stop")
			return
		}
		in.link.panel.runRequest(e, func() { in.link.panel.cancelCall(e.ID, p.CallID) })
	case wire.MethodCallDecide:
		answerPanelRequest(&in.link.panel, e, in.link.panel.decideTicket)
	case wire.MethodCallRepeat:
		answerPanelRequest(&in.link.panel, e, func(p wire.CallRepeatParams) (r wire.CallRepeatResult, err error) {
			return r, in.link.hub.opts.RepeatCall(p.CallID)
		})
	case wire.MethodCallInspect:
		answerPanelRequest(&in.link.panel, e, in.link.hub.opts.InspectCall)
	case wire.MethodCallUndo:
		answerPanelRequest(&in.link.panel, e, in.link.hub.opts.UndoCall)
	case wire.MethodCallsHistory:
		answerPanelRequest(&in.link.panel, e, func(p wire.CallsHistoryParams) (wire.CallsHistoryResult, error) {
			return in.link.hub.opts.ReadHistory(b.id, p)
		})
	case wire.MethodTabRelease:
		answerPanelRequest(&in.link.panel, e, func(p wire.TabReleaseParams) (wire.TabReleaseResult, error) {
			return in.link.hub.Holds.releaseTab(b, p)
		})
	case wire.MethodPluginFetch:
		answerPanelRequest(&in.link.panel, e, in.link.adapters.fetchCode)
	case wire.MethodHello:
		in.link.rejectRequest(e, wire.CodeInvalidRequest, "hello was already sent; open a new connection to send it again")
	case wire.MethodToolProgress, wire.MethodToolPart, wire.MethodToolAsk, wire.MethodCallResumed,
		wire.MethodTabSync, wire.MethodTabChanged, wire.MethodTabUserInput, wire.MethodSessionUsed, wire.MethodStateWatch, wire.MethodPluginLog:
		in.link.rejectRequest(e, wire.CodeInvalidRequest, string(e.Method)+" is a notification; send it without an id")
	default:
		if decode := changes.FindDecoder(e.Method); decode != nil {
			in.link.panel.changePolicy(e, decode)
			return
		}
		in.link.rejectRequest(e, wire.CodeMethodNotFound, fmt.Sprintf("unknown method %q", inbound.CleanText(string(e.Method), 100)))
	}
}

func (l *link) rejectRequest(e wire.Envelope, code int, errorMessage string) {
	l.log.Debug().Int("code", code).Msg("request rejected: " + errorMessage)
	l.postFrame(wire.AppendError(nil, e.ID, &wire.RPCError{Code: code, Message: errorMessage}))
}

func (in *inbox) handleNotification(b *browser, e wire.Envelope) {
	var err error
	switch e.Method {
	case wire.MethodToolProgress:
		err = b.runTable.handleProgress(in.link, e.Params)
	case wire.MethodToolAsk:
		var p wire.ToolAskParams
		if err = wire.DecodeBody(e.Params, &p); err == nil {
			err = b.runTable.handleToolRequest(in.link, p)
		}
	case wire.MethodToolPart:
		err = b.runTable.handlePart(in.link, e.Params)
	case wire.MethodCallResumed:
		err = withParams(e, func(p wire.CallResumedParams) {
			b.runTable.handleResumedRuns(in.link, p.DispatchIDs[:min(len(p.DispatchIDs), maxResumedRuns)])
		})
	case wire.MethodTabSync:
		err = withParams(e, func(p wire.TabSyncParams) { b.tabs.replaceTabs(in.link, p.Tabs) })
	case wire.MethodTabChanged:
		err = withParams(e, func(p wire.TabChangedParams) { b.tabs.applyTabChange(in.link, p) })
	case wire.MethodTabUserInput:
		err = withParams(e, func(p wire.TabUserInputParams) { in.link.hub.Holds.recordUserInput(b, p) })
	case wire.MethodSessionUsed:
		err = withParams(e, func(p wire.SessionUsedParams) {
			in.link.postEndedSessions(in.link.hub.opts.FindEndedSessions(p.Sessions))
		})
	case wire.MethodPluginLog:
		var p wire.PluginLogParams
		if err = wire.DecodeBody(e.Params, &p); err == nil {
			err = in.link.hub.forwardLog(b, in.link, p)
		}
	case wire.MethodStateWatch:
		err = withParams(e, func(p wire.StateWatchParams) { in.link.panel.setPanelOpen(b, p.On) })
	default:
		err = errors.New("unknown method")
	}
	if err != nil {
		in.countMalformed(fmt.Errorf("%s: %w", inbound.CleanText(string(e.Method), 100), err))
	}
}

func withParams[P any](e wire.Envelope, handleParams func(P)) error {
	var p P
	if err := wire.DecodeBody(e.Params, &p); err != nil {
		return err
	}
	handleParams(p)
	return nil
}

// If a result is not JSON, its whole frame is malformed, so failRunWithInvalidResult searches the
// frame for the ID of the call.
func (in *inbox) failRunWithInvalidResult(b *browser, frame []byte) {
	id, isResult := wire.FindResultID(frame)
	if !isResult {
		return
	}
	if r := b.runTable.removeRun(id); r != nil {
		in.link.log.Warn().Str("call", id).Msg("the tool's result is not JSON")
		r.sink.Finish(nil, inbound.NewNotJSONError())
	}
}
