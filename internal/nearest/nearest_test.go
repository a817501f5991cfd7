package nearest

import (
	"strings"
	"testing"
	"time"
)

func TestNearestName(t *testing.T) {
	arguments := []string{"channelId", "cursor", "id", "limit"}
	settings := []string{"port", "idleTimeout", "hardTimeout", "logLevel"}
	for _, testCase := range []struct {
		names           []string
		wrongName, want string
	}{
		{arguments, "channel_id", "channelId"},
		{arguments, "CHANNELID", "channelId"},
		{arguments, "chanelId", "channelId"},
		{arguments, "limits", "limit"},
		{arguments, "cursr", "cursor"},
		{arguments, "ix", ""},
		{arguments, "q", ""},
		{arguments, "entirely", ""},
		{arguments, "", ""},
		{settings, "prot", "port"},
		{settings, "ports", "port"},
		{settings, "PORT", "port"},
		{settings, "idle", "idleTimeout"},
		{settings, "id", ""},
		{settings, "hartTimeout", "hardTimeout"},
		{settings, "loglevle", "logLevel"},
		{settings, "colour", ""},
		{settings, "x", ""},
		{settings, "", ""},
	} {
		if got := Name(testCase.wrongName, testCase.names); got != testCase.want {
			t.Errorf("Name(%q) = %q, want %q", testCase.wrongName, got, testCase.want)
		}
	}
}

// Name does not compute the edit distance of names of 1 MiB, which would take minutes.
func TestIsWithinEditDistance(t *testing.T) {
	for _, test := range []struct {
		wrongName, name string
		maxEdits        int
		want            bool
	}{{"berlin", "begin", 1, false}, {"berlin", "begin", 2, true}, {"mesage", "message", 1, true}, {"prot", "port", 1, true}} {
		if got := IsWithinEditDistance(test.wrongName, test.name, test.maxEdits); got != test.want {
			t.Errorf("IsWithinEditDistance(%q, %q, %d) = %v, want %v", test.wrongName, test.name, test.maxEdits, got, test.want)
		}
	}
}

func TestNearestNameOfLongWord(t *testing.T) {
	startTime := time.Now()
	if got := Name(strings.Repeat("x", 1<<20), []string{strings.Repeat("y", 1<<20)}); got != "" {
		t.Errorf("Name of a long word returned %d bytes; want %q", len(got), "")
	}
	if elapsedTime := time.Since(startTime); elapsedTime > 10*time.Second {
		t.Errorf("the comparison of two long names took %v, want at most 10 s", elapsedTime)
	}
}
