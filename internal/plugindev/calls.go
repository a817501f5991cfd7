package plugindev

import (
	"context"
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

const (
	reportInterval = time.Second
	// maxCallColumns is the maximum length of a printed line about a call, in characters.
	maxCallColumns = 200
)

// callPrinter formats the events of the plugin's calls as lines. Only one goroutine may
// use a callPrinter.
type callPrinter struct {
	lastProgressTimes map[string]time.Time // lastProgressTimes maps call IDs to the time of the last printed report
}

func (p callPrinter) line(e dispatch.Event) string {
	id := e.Call.CallID
	switch e.Kind {
	case dispatch.EventRunning, dispatch.EventSuspended, dispatch.EventResumed:
	case dispatch.EventProgress:
		if e.Time.Sub(p.lastProgressTimes[id]) < reportInterval {
			return ""
		}
		p.lastProgressTimes[id] = e.Time
	case dispatch.EventEnded:
		delete(p.lastProgressTimes, id)
	default:
		return ""
	}
	client := terminal.SafeLine(e.Call.ToClient().String())
	e.Call.Requester = dispatch.Requester{} // only the first line about a call names the client
	line := fmt.Sprintf("%s call    %s  %s", e.Time.Local().Format("15:04:05.000"), terminal.SafeLine(e.Call.Tool), strings.TrimSpace(callview.EventText(e, true)))
	if e.Kind == dispatch.EventRunning && client != "" {
		line += ", requested by " + client
	}
	if runes := []rune(line); len(runes) > maxCallColumns {
		return string(runes[:maxCallColumns-3]) + "..."
	}
	return line
}

// followCalls prints the events of the plugin's calls until ctx is done. Calls that the
// user typed at the prompt are omitted, because the prompt shows their progress and
// results.
func (s *session) followCalls(ctx context.Context, client *httpapi.Client, pluginName string) {
	printer := callPrinter{lastProgressTimes: map[string]time.Time{}}
	// If call events are not available, `opentabs plugin dev` continues without printing
	// them.
	_ = client.Calls.Follow(ctx, dispatch.SubscribeOptions{Tool: pluginName}, httpapi.Listener{
		StreamStarted: func() error { return nil },
		Event: func(e dispatch.Event, _ []byte) error {
			s.send(ctx, func() {
				if s.callDone != nil && e.Call.ToolName == s.lastCall.Tool {
					return
				}
				if line := printer.line(e); line != "" {
					s.Out.PrintLine("%s", line)
				}
			})
			return nil
		},
		Missed: func(int) error { return nil },
	})
}

func (s *session) startCall(ctx context.Context, call Call) {
	s.lastCall = call
	ctx, s.stopCall = context.WithCancel(ctx)
	callDone := make(chan struct{})
	s.callDone = callDone
	go func() {
		defer close(callDone)
		s.Options.Call(ctx, call)
	}()
}

func (s *session) repeatCall(ctx context.Context) {
	if s.lastCall.Tool == "" {
		s.printNotef("no tool was called yet; type the name of one")
		return
	}
	s.clearPrompt()
	s.Out.Notef("calling %s again", terminal.SafeLine(s.lastCall.Tool))
	s.startCall(ctx, s.lastCall)
}

func (s *session) repeatCallAfterBuild(ctx context.Context) {
	if s.RepeatLastCall && s.lastCall.Tool != "" && s.callDone == nil {
		s.repeatCall(ctx)
	}
}

// A tab needs a reload if the tab was open before the plugin was added, or if a pre-script changed.
func (s *session) reloadStaleTabs(ctx context.Context, tabs pluginTabs) (hasReloaded bool) {
	for _, tab := range tabs.staleTabs {
		if !tab.needsReload {
			continue
		}
		if err := s.client.ReloadTab(ctx, tab.browser, tab.id); err != nil {
			s.printNotef("tab %d (%s) could not be reloaded: %v", tab.id, terminal.SafeLine(tab.url), err)
			continue
		}
		s.printNotef("reloaded tab %d (%s), which was open before it could load the plugin", tab.id, terminal.SafeLine(tab.url))
		hasReloaded = true
	}
	return hasReloaded
}
