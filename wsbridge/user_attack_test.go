package wsbridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opentabs/wire"
)

func TestAttackByUser(t *testing.T) {
	const wrongProof = "The proof in hello is missing or wrong. Run `opentabs extension install`, then reload the extension."
	server := wire.ServerProof(testKey, 0, browserNonce, serverNonce)
	for name, proof := range map[string]string{
		"without a proof":                        "",
		"with the server's own proof, reflected": server,
		"with the key itself":                    testKey,
		"with a proof under an empty key":        wire.BrowserProof("", 0, browserNonce, serverNonce),
		"with the proof of another port":         wire.BrowserProof(testKey, 9527, browserNonce, serverNonce),
		"with the proof of an earlier challenge": wire.BrowserProof(testKey, 0, browserNonce, "fedcba9876543211"),
		"with the proof for another nonce":       wire.BrowserProof(testKey, 0, "0123456789abcdee", serverNonce),
		"with the proof in capitals":             strings.ToUpper(browserProof),
		"with the beginning of the proof":        browserProof[:len(browserProof)-1],
	} {
		t.Run("a browser "+name, func(t *testing.T) {
			testWithHub(t, Options{}, func(w *hubFixture) {
				p := w.dial()
				p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b1","bootId":"x","proof":%q}}`, proof)
				p.wantFrames(fmt.Sprintf(`{"jsonrpc":"2.0","id":"h","error":{"code":-32602,"message":%q}}`, wrongProof))
				if got, want := p.awaitClose(), fmt.Sprintf("close 1008 %q", wrongProof); got != want {
					t.Errorf("the link ended with %s, want %s", got, want)
				}
				if got := w.hub.Browsers(); len(got) != 0 {
					t.Errorf("connected browsers = %+v, want none", got)
				}
			})
		})
	}
	t.Run("a browser that proves it, after one that did not", func(t *testing.T) {
		testWithHub(t, Options{}, func(w *hubFixture) {
			w.dial().sendFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b1","bootId":"x"}}`)
			w.connectBrowser("b1", "boot")
			if got := w.hub.Browsers(); len(got) != 1 || !got[0].Connected {
				t.Errorf("connected browsers = %+v, want one", got)
			}
		})
	})
}

func TestAttackByUserReplay(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot")
		w.hub.newNonce = func() string { return "another-nonce-of-the-server" }
		p := w.open(browserNonce)
		if got := p.readFrames(); len(got) != 1 || got[0] == challenge {
			t.Fatalf("the first frames are %q, want a new challenge", got)
		}
		p.sendHello("b1", "boot")
		if got := p.awaitClose(); !strings.HasPrefix(got, "close 1008 ") {
			t.Errorf("after a replayed hello the link ended with %s, want close 1008", got)
		}
	})
	a, b := New(Options{Key: testKey}), New(Options{Key: testKey})
	defer a.Close()
	defer b.Close()
	if firstNonce, secondNonce := a.newNonce(), a.newNonce(); firstNonce == secondNonce || firstNonce == b.newNonce() {
		t.Error("the server sent the same nonce twice, want a new nonce for each connection")
	}
}

func TestHandshakeEndsInTime(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		peerWithoutHello := w.dial()
		w.advanceTime(helloTimeout - time.Millisecond)
		if got := peerWithoutHello.awaitClose(); got != "" {
			t.Errorf("the connection ended with %s before the handshake timeout; want %q", got, "")
		}
		w.advanceTime(time.Millisecond)
		if got, want := peerWithoutHello.awaitClose(), `close 1008 "hello must arrive within 10 s"`; got != want {
			t.Errorf("the link ended with %s, want %s", got, want)
		}
		if len(w.hub.registry.handshakingLinks) != 0 {
			t.Errorf("the hub still has %d links in their handshake; want 0", len(w.hub.registry.handshakingLinks))
		}
	})
}

func TestHandshakesAreBounded(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		b := w.connectBrowser("b1", "boot")
		var peersWithoutHello []*browserPeer
		for range maxOpenHandshakes + 3 {
			peersWithoutHello = append(peersWithoutHello, w.dial())
		}
		for i, p := range peersWithoutHello {
			closeReason := p.awaitClose()
			if i < 3 != strings.HasPrefix(closeReason, "close 1013 ") {
				t.Errorf("silent connection %d ended with %q, want close 1013 only for the first three", i, closeReason)
			}
		}
		w.connectBrowser("b2", "boot")
		if got := b.awaitClose(); got != "" {
			t.Errorf("the link of the browser that connected first ended with %s, want %q", got, "")
		}
		if got := w.hub.Browsers(); len(got) != 2 || !got[0].Connected || !got[1].Connected {
			t.Errorf("connected browsers = %+v, want two", got)
		}
	})
}
