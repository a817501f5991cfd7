package transport

import (
	"fmt"
	"testing"

	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

type acceptAllResources struct{}

func (acceptAllResources) Subscribe(s *Subscriber, uri string) error {
	s.RecordSubscription(uri, true)
	return nil
}
func (acceptAllResources) Unsubscribe(s *Subscriber, uri string) { s.RecordSubscription(uri, false) }
func (acceptAllResources) Drop(*Subscriber)                      {}

const testURI = "opentabs://calls"

// TestBroadcastsKeepPendingUpdates checks that a full queue of broadcasts does not drop
// the notification of a changed resource.
func TestBroadcastsKeepPendingUpdates(t *testing.T) {
	l := newListener("l", acceptAllResources{})
	l.SubscribeToResource(testURI)
	for range maxPendingNotifications {
		l.mcpGoNotifications <- mcp.JSONRPCNotification{}
	}
	l.RecordChange(testURI)
	if len(l.updateSignal) != 1 {
		t.Error("the listener lost the change; want one update signal")
	}
}

func TestAcknowledgementPrecedesUpdates(t *testing.T) {
	l := newListener("l", acceptAllResources{})
	l.setModernProtocol(rpcMessage{Method: methodListen, ID: json.RawMessage(`1`)})
	l.SubscribeToResource(testURI)
	l.RecordChange(testURI)
	if notificationsBeforeAck := l.awaitNotifications(t.Context()); len(notificationsBeforeAck) != 0 {
		t.Errorf("notifications before the acknowledgement = %v; want none", notificationsBeforeAck)
	}
	ack := mcp.JSONRPCNotification{}
	ack.Method = mcp.MethodNotificationSubscriptionsAcknowledged
	l.mcpGoNotifications <- ack
	for _, want := range []string{mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MethodNotificationResourceUpdated} {
		if allNotifications := l.awaitNotifications(t.Context()); len(allNotifications) != 1 || allNotifications[0].Method != want {
			t.Errorf("notifications = %v, want %s", allNotifications, want)
		}
	}
}

func TestUnreadLogsAreBounded(t *testing.T) {
	l := newListener("x", nil)
	l.Initialize()
	notification := func(n int) mcp.JSONRPCNotification {
		var notification mcp.JSONRPCNotification
		notification.Method = fmt.Sprint(n)
		return notification
	}
	for n := range maxPendingLogs + 10 {
		l.queueLog(mcp.LoggingLevelError, notification(n))
	}
	notifications := l.awaitNotifications(t.Context())
	if len(notifications) != maxPendingLogs || notifications[0].Method != "10" {
		t.Fatalf("%d waiting notifications, the first %s; want %d, the first 10", len(notifications), notifications[0].Method, maxPendingLogs)
	}
	l.setModernProtocol(rpcMessage{})
	l.queueLog(mcp.LoggingLevelError, notification(1))
	if logs := l.popAllLogs(); len(logs) != 0 {
		t.Error("the server queued logs for a client of protocol version 2026-07-28; want none")
	}
	uninitializedListener := newListener("y", nil)
	uninitializedListener.queueLog(mcp.LoggingLevelError, notification(1))
	if logs := uninitializedListener.popAllLogs(); len(logs) != 0 {
		t.Error("the server queued logs for a client that is not initialized; want none")
	}
}
