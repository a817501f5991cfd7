package democmd

import (
	"strings"
	"testing"
)

// TestNextSteps checks that the demo suggests browser tools only while they are off.
func TestNextSteps(t *testing.T) {
	for _, areOn := range []bool{false, true} {
		message := nextSteps(areOn)
		if suggested := strings.Contains(message, "opentabs browser tools on"); suggested == areOn || !strings.Contains(message, "opentabs plugin search") {
			t.Errorf("nextSteps(%t) = %q", areOn, message)
		}
	}
}

func TestTextsFit(t *testing.T) {
	for _, message := range []string{nextSteps(false), stoppedText(40), deniedText} {
		for line := range strings.Lines(message) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("a line of the demo has more than 80 columns: %s", line)
			}
		}
	}
}
