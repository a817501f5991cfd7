package schema

import "testing"

func TestBrowserUnicodeClasses(t *testing.T) {
	for _, c := range []struct{ pattern, validValue, invalidValue string }{
		{`^\\p{Emoji_Presentation}$`, "😀", "a"},
		{`^\\P{Emoji_Presentation}$`, "a", "😀"},
		{`^[\\p{Extended_Pictographic}x]+$`, "😀x", "y"},
		{`^\\p{Script=Cyrillic}+$`, "да", "da"},
		{`^\\p{L}\\]\\p{Nd}$`, "a]1", "1]a"},
	} {
		tool := newToolWithArguments(t, `{"type":"string","pattern":"`+c.pattern+`"}`)
		if err := tool.Validate(newTestArguments(t, c.validValue)); err != nil {
			t.Errorf("pattern %s: the valid value %s is rejected with %v; want it accepted", c.pattern, c.validValue, err)
		}
		if err := tool.Validate(newTestArguments(t, c.invalidValue)); err == nil {
			t.Errorf("pattern %s: the invalid value %s is accepted; want it rejected", c.pattern, c.invalidValue)
		}
	}
}
