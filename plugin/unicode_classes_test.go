package plugin_test

import "testing"

func TestPatternsWithClassesOfBrowsers(t *testing.T) {
	for _, c := range []struct{ pattern, good, bad string }{
		{`^\\p{Emoji_Presentation}$`, "😀", "a"},
		{`^\\P{Emoji_Presentation}$`, "a", "😀"},
		{`^[\\p{Extended_Pictographic}x]+$`, "😀x", "y"},
		{`^\\p{Script=Cyrillic}+$`, "да", "da"},
		{`^\\p{L}\\]\\p{Nd}$`, "a]1", "1]a"},
	} {
		tool := toolWith(t, `{"type":"string","pattern":"`+c.pattern+`"}`)
		if err := tool.Validate(args(t, c.good)); err != nil {
			t.Errorf("%s refuses %s: %v", c.pattern, c.good, err)
		}
		if err := tool.Validate(args(t, c.bad)); err == nil {
			t.Errorf("%s takes %s", c.pattern, c.bad)
		}
	}
}
