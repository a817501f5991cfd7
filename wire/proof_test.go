package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// A test of the extension also compares the extension's proofs with the golden frames of the handshake.
func TestProofsMatchGoldenValues(t *testing.T) {
	const key, port, browserNonce = "key-of-browsers", 9527, "0123456789abcdef0123456789abcdef"
	var challenge ChallengeParams
	var hello HelloParams
	for _, g := range goldenBodies(t) {
		switch g.name {
		case "challenge.params":
			if err := json.Unmarshal(g.body, &challenge); err != nil {
				t.Fatal(err)
			}
		case "hello.params":
			if err := json.Unmarshal(g.body, &hello); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := ServerProof(key, port, browserNonce, challenge.Nonce); got != challenge.Proof {
		t.Errorf("ServerProof = %s, want %s as in the golden challenge frame", got, challenge.Proof)
	}
	if got := BrowserProof(key, port, browserNonce, challenge.Nonce); got != hello.Proof {
		t.Errorf("BrowserProof = %s, want %s as in the golden hello frame", got, hello.Proof)
	}
}

func TestProofsDifferForEachInput(t *testing.T) {
	seenIDs := map[string]string{}
	for name, proof := range map[string]string{
		"server":          ServerProof("k", 1, "b", "s"),
		"browser":         BrowserProof("k", 1, "b", "s"),
		"another key":     ServerProof("l", 1, "b", "s"),
		"another port":    ServerProof("k", 2, "b", "s"),
		"another browser": ServerProof("k", 1, "c", "s"),
		"another server":  ServerProof("k", 1, "b", "t"),
		"swapped nonces":  ServerProof("k", 1, "s", "b"),
	} {
		if otherProof, ok := seenIDs[proof]; ok {
			t.Errorf("the cases %q and %q have the same proof, want different proofs", name, otherProof)
		}
		seenIDs[proof] = name
	}
}

func TestIsNonce(t *testing.T) {
	for s, want := range map[string]bool{
		"0123456789abcdef": true, strings.Repeat("aZ9", 42): true, strings.Repeat("a", 128): true,
		"": false, "0123456789abcde": false, strings.Repeat("a", 129): false, "0123456789abcde\n": false,
		"0123456789abcdeé": false, "0123456789abcd-_": false,
	} {
		if IsNonce(s) != want {
			t.Errorf("IsNonce(%q) = %v; want %v", s, !want, want)
		}
	}
}

// PairingKey and KeyID return the values that the extension's pairing test also expects.
func TestPairingKey(t *testing.T) {
	const wantKey = "51bf14db36070db1ec12bd155251f3cdf01aef9302e2d43fcb1dd0c805790765"
	key := PairingKey("7KQ2MXD9R4TB8WZ0HJ5N")
	if key != wantKey {
		t.Errorf("PairingKey = %s, want %s", key, wantKey)
	}
	if id, wantID := KeyID(key), "392cf9988b785e530631ad6ccceb9901"; id != wantID {
		t.Errorf("KeyID = %s, want %s", id, wantID)
	}
}
