package nearest

import (
	"strings"
	"testing"
	"time"
)

func TestName(t *testing.T) {
	arguments := []string{"channelId", "cursor", "id", "limit"}
	settings := []string{"port", "idleTimeout", "hardTimeout", "logLevel"}
	for _, testCase := range []struct {
		names            []string
		misspelled, want string
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
		if got := Name(testCase.misspelled, testCase.names); got != testCase.want {
			t.Errorf("%q: %q, want %q", testCase.misspelled, got, testCase.want)
		}
	}
}

// Name does not compute the edit distance of names of 1 MiB, which would take minutes.
func TestIsWithin(t *testing.T) {
	for _, test := range []struct {
		wrong, name string
		maxEdits    int
		want        bool
	}{{"berlin", "begin", 1, false}, {"berlin", "begin", 2, true}, {"mesage", "message", 1, true}, {"prot", "port", 1, true}} {
		if got := IsWithin(test.wrong, test.name, test.maxEdits); got != test.want {
			t.Errorf("IsWithin(%q, %q, %d) = %v", test.wrong, test.name, test.maxEdits, got)
		}
	}
}

func TestNameOfLongWord(t *testing.T) {
	startTime := time.Now()
	if got := Name(strings.Repeat("x", 1<<20), []string{strings.Repeat("y", 1<<20)}); got != "" {
		t.Errorf("the nearest name has %d bytes; want %q", len(got), "")
	}
	if elapsedTime := time.Since(startTime); elapsedTime > 10*time.Second {
		t.Errorf("the comparison took %v", elapsedTime)
	}
}
