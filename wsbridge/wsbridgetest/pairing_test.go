package wsbridgetest

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"opentabs/wire"
	"opentabs/wsbridge"
)

type fakePairings struct {
	key            string
	confirmedNames chan string
}

func (f *fakePairings) Key(keyID string) (string, error) {
	if keyID != "k1" {
		return "", nil
	}
	return f.key, nil
}

func (f *fakePairings) Confirm(keyID, browserName string) (string, error) {
	f.confirmedNames <- keyID + " of " + browserName
	return "next", nil
}

func TestPairedBrowserNeedsItsOwnKey(t *testing.T) {
	pairings := &fakePairings{key: "key of the pairing", confirmedNames: make(chan string, 1)}
	h := wsbridge.New(wsbridge.Options{Key: "key", Origins: []string{"chrome-extension://x"}, Pairings: pairings})
	defer h.Close()
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	connect := func(key, keyID string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		b, err := Connect(ctx, Options{
			URL: "ws" + strings.TrimPrefix(server.URL, "http"), Key: key, KeyID: keyID, Origin: "chrome-extension://x", Name: "Work",
		})
		if err != nil {
			return err
		}
		cancel()
		_ = b.Run(ctx) // the cancelled context closes the connection
		return nil
	}
	if err := connect("key", "k2"); websocket.CloseStatus(err) != wire.CloseUnpaired {
		t.Errorf("the connection of a browser with an unknown KeyID ended with %v, want the close code %d", err, wire.CloseUnpaired)
	}
	if err := connect("key", "k1"); err == nil {
		t.Error("a browser connected with the installation's key and the KeyID of a pairing, want an error")
	}
	if err := connect(pairings.key, ""); err == nil {
		t.Error("a browser connected with a pairing's key but without its KeyID, want an error")
	}
	if err := connect(pairings.key, "k1"); err != nil {
		t.Fatalf("error of Connect for the paired browser = %v, want nil", err)
	}
	if got, want := <-pairings.confirmedNames, "k1 of Work"; got != want {
		t.Errorf("confirmed pairing = %q, want %q", got, want)
	}
}
