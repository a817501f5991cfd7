package democmd

import (
	"strings"
	"testing"
)

// TestNextSteps checks that the demo suggests browser tools only while they are off.
func TestNextSteps(t *testing.T) {
	for _, areOn := range []bool{false, true} {
		text := nextSteps(areOn)
		if suggested := strings.Contains(text, "opentabs browser tools on"); suggested == areOn || !strings.Contains(text, "opentabs plugin search") {
			t.Errorf("nextSteps(%t) = %q", areOn, text)
		}
	}
}
