package schema

import "testing"

func TestBrowserClasses(t *testing.T) {
	for _, c := range []struct{ pattern, validValue, invalidValue string }{
		{`^\\p{Emoji_Presentation}$`, "😀", "a"},
		{`^\\P{Emoji_Presentation}$`, "a", "😀"},
		{`^[\\p{Extended_Pictographic}x]+$`, "😀x", "y"},
		{`^\\p{Script=Cyrillic}+$`, "да", "da"},
		{`^\\p{L}\\]\\p{Nd}$`, "a]1", "1]a"},
	} {
		tool := newToolWithArguments(t, `{"type":"string","pattern":"`+c.pattern+`"}`)
		if err := tool.Validate(newTestArguments(t, c.validValue)); err != nil {
			t.Errorf("%s rejects %s: %v", c.pattern, c.validValue, err)
		}
		if err := tool.Validate(newTestArguments(t, c.invalidValue)); err == nil {
			t.Errorf("%s accepts %s", c.pattern, c.invalidValue)
		}
	}
}
