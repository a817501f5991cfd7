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

func TestStateSyncFramesForPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with fake time, the frame always contains the same remaining time
		fullView, failedCallView := dispatchtest.View(), dispatchtest.View()
		failedCallView.CallID, failedCallView.Waiting, failedCallView.Status, failedCallView.ClientCredential = "call_2", nil, wire.StatusFailed, dispatch.CredentialStdio
		calls := &fakeCalls{views: []dispatch.View{fullView, failedCallView, {}}, activities: fullView.Activities}
		var b bytes.Buffer
		for _, browserID := range []string{"b1", "b2"} {
			panelCalls := shape.PanelCalls{BrowserID: browserID, ServerVersion: "1.2.3"}
			b.Write(append(wire.EncodeBody(panelCalls.Next(calls)), '\n'))
		}
		goldentest.Compare(t, "testdata/state.sync.jsonl", b.Bytes())
	})
}
