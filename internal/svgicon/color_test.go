package svgicon

import "testing"

func TestParseColor(t *testing.T) {
	tests := []struct{ text, want string }{
		{"#abc", "#aabbcc"}, {"#ABCD", "#aabbccdd"}, {"#12aB56", "#12ab56"}, {"#12345678", "#12345678"},
		{" Red ", "#ff0000"}, {"rebeccapurple", "#663399"},
		{"rgb(255, 0,10)", "#ff000a"}, {"rgb(100% 0% 0% / 50%)", "#ff000080"}, {"rgba(1,2,3,.5)", "#01020380"},
		{"hsl(120, 100%, 50%)", "#00ff00"}, {"hsla(-120deg 100% 50% / 1)", "#0000ff"}, {"hsl(0,0%,50%)", "#808080"},
		{"rgb(300,-5,0)", "#ff0000"},
	}
	for _, test := range tests {
		c, ok := parseColor(test.text)
		if !ok || c.String() != test.want {
			t.Errorf("%q is %v %v, want %s", test.text, c, ok, test.want)
		}
	}
	for _, text := range []string{"", "none", "currentColor", "inherit", "url(#a)", "#12", "#12345", "#ggg", "rgb(1,2)", "rgb(a,b,c)", "hsl(x,1%,1%)", "lab(1 2 3)", "#", "rgb(1,2,3"} {
		if c, ok := parseColor(text); ok {
			t.Errorf("%q is taken for %v", text, c)
		}
	}
}

func TestGrey(t *testing.T) {
	for text, want := range map[string]string{"#ff0000": "#7f7f7f", "#00ff00": "#dcdcdc", "#000000": "#000000", "#ffffff80": "#ffffff80", "#123456": "#333333"} {
		c, _ := parseColor(text)
		if got := c.grey(); got.String() != want || !got.achromatic() {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// A dark icon is changed to be visible on a dark surface; a visible icon is
// unchanged.
func TestOnDark(t *testing.T) {
	for _, text := range []string{"#000000", "#0000ff", "#123456", "#1c1c1c", "#800000", "#004d00", "#333333cc"} {
		before, _ := parseColor(text)
		after, _ := parseColor(before.onDark().String())
		if got := contrast(after, darkSurface); got < minContrast || got > minContrast+0.3 {
			t.Errorf("%s becomes %s with contrast %.2f", before, after, got)
		}
		if before.alpha != after.alpha {
			t.Errorf("%s becomes %s", before, after)
		}
		hueBefore, _, _ := before.hsl()
		if hueAfter, _, _ := after.hsl(); !before.achromatic() && (hueAfter-hueBefore > 0.1 || hueBefore-hueAfter > 0.1) {
			t.Errorf("%s becomes %s, of another hue", before, after)
		}
	}
	for _, text := range []string{"#ffffff", "#ff0000", "#e01e5a"} {
		if c, _ := parseColor(text); c.onDark() != c {
			t.Errorf("%s becomes %s", c, c.onDark())
		}
	}
}

func TestEachColor(t *testing.T) {
	const source = `<svg viewBox="0 0 1 1" fill="red" stroke="currentColor" style="stroke : #00f; opacity:.5;fill:none">` +
		`<style>.a{fill:#f00!important;stroke:blue}.fill{background:red}</style><path d="red" stop-color="#f00"/></svg>`
	tree, err := parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	tree.eachColor(func(color) color { return color{1, 1, 1, 1} })
	const want = `<svg viewBox="0 0 1 1" fill="#ffffff" stroke="currentColor" style="stroke : #ffffff; opacity:.5;fill:none">` +
		`<style>.a{fill:#ffffff!important;stroke:#ffffff}.fill{background:red}</style><path d="red" stop-color="#ffffff"/></svg>`
	if got := tree.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
