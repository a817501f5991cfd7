package relay

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSubscriptionsAreRestored(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		for i, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"opentabs://calls"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"opentabs://calls/a\"b"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"opentabs://calls/gone"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"opentabs://calls/gone"}}`,
		} {
			w.send(line)
			server.expectLine(t, line)
			id := string(rune('1' + i))
			server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			w.expectLine(`"id":` + id)
		}
		server.closeConn()
		nextServer := <-w.daemons
		w.expectResumedSession(nextServer)
		for _, uri := range []string{`"opentabs://calls"`, `"opentabs://calls/a\"b"`} {
			var request struct{ ID, Method string }
			line := nextServer.expectLine(t, `"uri":`+uri)
			if json.Unmarshal([]byte(line), &request) != nil || request.Method != "resources/subscribe" || !strings.HasPrefix(request.ID, "relay-") {
				t.Errorf("the new daemon received %s, want a subscribe request with an ID of the relay", line)
			}
			nextServer.send(`{"jsonrpc":"2.0","id":"` + request.ID + `","result":{}}`)
			w.expectLine("notifications/resources/updated", uri)
		}
		w.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		nextServer.expectLine(t, "ping")
		nextServer.send(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		w.expectLine(`"id":5`)
	})
}
