package wsbridge

import (
	"bytes"
	"testing"
	"testing/synctest"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/shape"
	"opentabs/internal/goldentest"
	"opentabs/wire"
)

func TestCallInTheSidePanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in fake time, the remaining time for a decision is exact
		full, failedView := dispatchtest.View(), dispatchtest.View()
		failedView.CallID, failedView.Waiting, failedView.Status, failedView.ClientCredential = "call_2", nil, wire.StatusFailed, dispatch.CredentialStdio
		calls := &fakeCalls{views: []dispatch.View{full, failedView, {}}, activities: full.Activities}
		var b bytes.Buffer
		for _, browserID := range []string{"b1", "b2"} {
			panelCalls := shape.PanelCalls{BrowserID: browserID, ServerVersion: "1.2.3"}
			b.Write(append(wire.EncodeBody(panelCalls.Next(calls)), '\n'))
		}
		goldentest.Compare(t, "testdata/state.sync.jsonl", b.Bytes())
	})
}
