package democmd

import (
	"strings"
	"testing"
)

// TestNextSteps checks that the demo suggests browser tools only while they are off.
func TestNextSteps(t *testing.T) {
	for _, hasBrowserTools := range []bool{false, true} {
		message := nextSteps(hasBrowserTools)
		if hasSuggestion := strings.Contains(message, "opentabs browser tools on"); hasSuggestion == hasBrowserTools || !strings.Contains(message, "opentabs plugin search") {
			t.Errorf("nextSteps with browser tools on = %t returned %q; want the command `opentabs browser tools on` only while they are off", hasBrowserTools, message)
		}
	}
}

func TestDemoTextsFit80Columns(t *testing.T) {
	for _, message := range []string{nextSteps(false), stoppedText(40), deniedText} {
		for line := range strings.Lines(message) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("line of the demo has %d columns; want at most 80: %s", len(line), line)
			}
		}
	}
}
