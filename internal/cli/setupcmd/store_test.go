package setupcmd

import (
	"strings"
	"testing"

	"opentabs/internal/config"
)

func TestStoreInstallSteps(t *testing.T) {
	pages := config.StoreExtensions("chrome=" + strings.Repeat("abcdefgh", 4)).Pages()
	for _, isOpened := range []bool{true, false} {
		steps := formatStoreSteps(pages, 9527, isOpened)
		for _, want := range []string{pages[0].URL, "(Chrome Web Store)", "side panel shows a code", "enter 9527"} {
			if !strings.Contains(steps, want) {
				t.Errorf("the steps for a store do not contain %q:\n%s", want, steps)
			}
		}
		if strings.Contains(steps, "has just opened") != isOpened {
			t.Errorf("steps for an opened store page = %v; want the words \"has just opened\" only for an opened page:\n%s", isOpened, steps)
		}
		for line := range strings.SplitSeq(steps, "\n") {
			if len(line) > 100 {
				t.Errorf("line of the steps for a store has %d columns; want at most 100: %s", len(line), line)
			}
		}
	}
}
