package plugin

import (
	"strings"
	"testing"
)

func TestSettingKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "_": true, "$x": true, "apiKey": true, "Größe": true, "名前": true, "٣": true, "a.b:c/d e-f": true,
		strings.Repeat("ä", 100): true, strings.Repeat("ä", 101): false,
		"": false, ".a": false, " a": false, "-a": false, "a=b": false, "a\n": false, "a\x00": false, "a\u200d": false, "a\xff": false,
	} {
		if isSettingKey(key) != want {
			t.Errorf("isSettingKey(%q) has the wrong value; want %v", key, want)
		}
	}
}
