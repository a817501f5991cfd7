package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLastLogMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	const earlierLog = "opentabs: of another start\n"
	for logContent, want := range map[string]string{
		"":                       "the server did not start and logged no reason",
		"{\"level\":\"info\"}\n": "the server did not start and logged no reason",
		"opentabs: a warning\n{\"level\":\"info\"}\nopentabs: port 1 is taken\n": "port 1 is taken",
		"opentabs: no newline": "no newline",
	} {
		if err := os.WriteFile(path, []byte(earlierLog+logContent), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readLastMessage(path, int64(len(earlierLog))); got != want {
			t.Errorf("last message of the log %q = %q; want %q", logContent, got, want)
		}
	}
	if got := readLastMessage(path+"x", 0); got != "the server did not start and logged no reason" {
		t.Errorf("last message of a missing log = %q; want that the server logged no reason", got)
	}
}
