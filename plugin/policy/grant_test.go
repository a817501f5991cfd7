package policy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func newCallInfo(callID, client, session string) dispatch.CallInfo {
	return dispatch.CallInfo{
		CallID: callID, Tool: dispatch.Tool{Plugin: "one", Name: "read"},
		Client: dispatch.Client{Credential: dispatch.CredentialToken, Token: client, Session: session},
	}
}

func newGrant(client, session string, scope wire.Scope, d time.Duration) grant {
	newGrant := grant{
		Approval: Approval{Scope: scope}, client: newCallInfo("", client, "").Client.Identity(), session: session, hash: "h",
	}
	if d > 0 {
		newGrant.ExpiresAt = time.Now().Add(d)
	}
	return newGrant
}

func (g *memoryGrants) hasGrantFor(callInfo dispatch.CallInfo, hash string) bool {
	_, ok := g.find(callInfo, hash)
	return ok
}

func TestGrantsForOneCall(t *testing.T) {
	var g memoryGrants
	g.grantCall("call_1", Approval{Scope: wire.ScopeOnce, ChangeOrigin: ChangeOrigin{By: "the side panel"}})
	a, ok := g.find(newCallInfo("call_1", "a", ""), "any")
	if !ok || a.Scope != wire.ScopeOnce || a.By != "the side panel" {
		t.Errorf("approval of the granted call = %+v, found %t; want once, by the side panel", a, ok)
	}
	if g.hasGrantFor(newCallInfo("call_2", "a", ""), "any") {
		t.Error("the grant for one call allows another call of the same client; want an approval request")
	}
	g.endCall("call_1")
	if g.hasGrantFor(newCallInfo("call_1", "a", ""), "any") {
		t.Error("the grant for one call still exists after the call; want no grant")
	}
}

func TestGrantsCoverOneClient(t *testing.T) {
	var g memoryGrants
	g.add("one", "read", newGrant("a", "s1", wire.ScopeSession, 0))
	g.add("one", "read", newGrant("b", "s2", wire.ScopeTime, time.Hour))
	nestedCall := newCallInfo("call", "b", "s2")
	nestedCall.Caller = &dispatch.Caller{Plugin: "other"}
	sendCall := newCallInfo("call", "b", "s2")
	sendCall.Tool.Name = "send"
	for _, testCase := range []struct {
		name     string
		callInfo dispatch.CallInfo
		hash     string
		want     bool
	}{
		{"the session", newCallInfo("call", "a", "s1"), "h", true},
		{"another session of the client", newCallInfo("call", "a", "s9"), "h", false},
		{"another session within the time", newCallInfo("call", "b", "s9"), "h", true},
		{"another client", newCallInfo("call", "c", "s2"), "h", false},
		{"changed content", newCallInfo("call", "b", "s2"), "h2", false},
		{"a plugin that calls for the client", nestedCall, "h", false},
		{"another tool", sendCall, "h", false},
	} {
		if got := g.hasGrantFor(testCase.callInfo, testCase.hash); got != testCase.want {
			t.Errorf("%s: allowed %t, want %t", testCase.name, got, testCase.want)
		}
	}
}

func TestGrantsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g memoryGrants
		g.add("one", "read", newGrant("a", "", wire.ScopeTime, time.Minute))
		g.add("one", "read", newGrant("b", "", wire.ScopeTime, time.Hour))
		time.Sleep(time.Minute - 1)
		if !g.hasGrantFor(newCallInfo("call", "a", ""), "h") || len(g.sessionGrants("one")["read"]) != 2 {
			t.Error("the grant ended before its time; want it in effect")
		}
		time.Sleep(time.Nanosecond)
		if g.hasGrantFor(newCallInfo("call", "a", ""), "h") {
			t.Error("the grant is in effect after its time; want no grant")
		}
		for range 2 {
			toolGrants := g.sessionGrants("one")["read"]
			if len(toolGrants) != 1 || toolGrants[0].Client != "client b" || toolGrants[0].Scope != wire.ScopeTime {
				t.Fatalf("grants of the tool read = %+v, want only the grant of client b", toolGrants)
			}
		}
		if !g.hasGrantFor(newCallInfo("call", "b", ""), "h") {
			t.Error("listing the grants ended another grant; want it unchanged")
		}
	})
}

func TestGrantsAreDropped(t *testing.T) {
	var g memoryGrants
	for _, tool := range []string{"read", "send", "prompt read"} {
		g.add("one", tool, newGrant("a", "", wire.ScopeTime, time.Hour))
	}
	g.add("two", "read", newGrant("a", "", wire.ScopeTime, time.Hour))
	g.drop("one", "read")
	if grants := g.sessionGrants("one"); len(grants["read"]) != 0 || len(grants["send"]) != 1 || len(grants["prompt read"]) != 1 {
		t.Errorf("grants after those of the tool read were dropped = %v; want 1 for send and 1 for the prompt read", grants)
	}
	g.drop("one", "")
	if grants := g.sessionGrants("one"); len(grants) != 0 {
		t.Errorf("grants after those of the plugin were dropped = %v; want none", grants)
	}
	if len(g.sessionGrants("two")["read"]) != 1 {
		t.Error("dropping the grants of one plugin dropped those of another plugin; want them kept")
	}
}

func TestGrantsAreLimited(t *testing.T) {
	var g memoryGrants
	for i := range maxToolGrants + 1 {
		g.add("one", "read", newGrant(fmt.Sprint(i), "", wire.ScopeTime, time.Hour))
	}
	if n := len(g.sessionGrants("one")["read"]); n != maxToolGrants {
		t.Errorf("%d grants are kept, want %d", n, maxToolGrants)
	}
	if g.hasGrantFor(newCallInfo("call", "0", ""), "h") || !g.hasGrantFor(newCallInfo("call", "1", ""), "h") {
		t.Error("want only the oldest grant to be dropped")
	}
}
