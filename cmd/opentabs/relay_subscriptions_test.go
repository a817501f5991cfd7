package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRelaySubscribesAgain: a new server is told of the resources that the client
// subscribed to, and the client that they have changed; it gets no answer that
// it did not ask for.
func TestRelaySubscribesAgain(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		for i, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"opentabs://calls"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"opentabs://calls/a\"b"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"opentabs://calls/gone"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"opentabs://calls/gone"}}`,
		} {
			w.send(line)
			server.expect(t, line)
			id := string(rune('1' + i))
			server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			w.expect(`"id":` + id)
		}
		server.die()
		next := <-w.servers
		w.resumed(next)
		for _, uri := range []string{`"opentabs://calls"`, `"opentabs://calls/a\"b"`} {
			var request struct{ ID, Method string }
			line := next.expect(t, `"uri":`+uri)
			if json.Unmarshal([]byte(line), &request) != nil || request.Method != "resources/subscribe" || !strings.HasPrefix(request.ID, "relay-") {
				t.Errorf("the new server got %s", line)
			}
			next.send(`{"jsonrpc":"2.0","id":"` + request.ID + `","result":{}}`)
			w.expect("notifications/resources/updated", uri)
		}
		w.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		next.expect(t, "ping")
		next.send(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		w.expect(`"id":5`)
	})
}
