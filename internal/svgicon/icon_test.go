package svgicon

import (
	"slices"
	"strings"
	"testing"
)

const simpleIcon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#123456" d="M0 0h24v24z"/></svg>`

func newFileMap(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

func makeIconSet(t *testing.T, pairs ...string) Set {
	t.Helper()
	iconSet, problems := BuildSet("site", newFileMap(pairs...))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return iconSet
}

func TestBuildSetWithoutFiles(t *testing.T) {
	if iconSet, problems := BuildSet("site", nil); iconSet != (Set{}) || problems != nil {
		t.Error(iconSet, problems)
	}
}

func TestBuildSetUsesGivenVariants(t *testing.T) {
	if iconSet := makeIconSet(t, fileIcon, simpleIcon); iconSet != (Set{Icon: simpleIcon}) {
		t.Errorf("icons = %+v, want only the given icon", iconSet)
	}
	iconWithFill := func(fill string) string { return strings.Replace(simpleIcon, "#123456", fill, 1) }
	iconSet := makeIconSet(t, fileIcon, simpleIcon, fileInactive, iconWithFill("#222222"), fileDark, iconWithFill("#eeff00"), fileDarkInactive, iconWithFill("#eee"))
	if iconSet != (Set{simpleIcon, iconWithFill("#222222"), iconWithFill("#eeff00"), iconWithFill("#eee")}) {
		t.Errorf("icons = %+v, want the four icons of the author", iconSet)
	}
}

func TestIconIsMinified(t *testing.T) {
	const largeIcon = "\ufeff<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n" +
		"<!-- by hand -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:inkscape=\"urn:i\" inkscape:version=\"1\" viewBox=\"0 0\n 8 8\">\n" +
		"  <metadata><rdf:x xmlns:rdf=\"urn:r\">a</rdf:x></metadata>\n  <inkscape:page><path/></inkscape:page>\n" +
		"  <title>A &amp; B</title>\n  <path d='M0 0\n\tL8 8' aria-label=\"a &quot;b&quot;\"/>\n</svg>\n"
	const want = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><title>A &amp; B</title><path d="M0 0 L8 8" aria-label="a &quot;b&quot;"/></svg>`
	if iconSet := makeIconSet(t, fileIcon, largeIcon); iconSet.Icon != want {
		t.Errorf("minified icon:\ngot  %s\nwant %s", iconSet.Icon, want)
	}
}

// One HTML document shows the icons of several plugins, so the XML ids in different icons must differ.
func TestIconsHaveDistinctIDs(t *testing.T) {
	const source = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 8 8" aria-labelledby="t b">` +
		`<title id="t">star</title><style>#b,.x #a{fill:url(#a)}path{fill:#bbb}</style><linearGradient id="a"/><g id="b" clip-path="url('#a')"/>` +
		`<use href="#b"/><use xlink:href="#b"/><path style="fill:url(#a);stroke:url(#none)" d="#b"/></svg>`
	const want = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 8 8" aria-labelledby="site-t site-b">` +
		`<title id="site-t">star</title><style>#site-b,.x #site-a{fill:url(#site-a)}path{fill:#bbb}</style><linearGradient id="site-a"/><g id="site-b" clip-path="url('#site-a')"/>` +
		`<use href="#site-b"/><use xlink:href="#site-b"/><path style="fill:url(#site-a);stroke:url(#none)" d="#b"/></svg>`
	iconSet := makeIconSet(t, fileIcon, source, fileDarkInactive, source)
	if iconSet.Icon != want {
		t.Errorf("icon with prefixed ids:\ngot  %s\nwant %s", iconSet.Icon, want)
	}
	if !strings.Contains(iconSet.DarkInactive, `<use href="#site-dark-inactive-b"/>`) {
		t.Errorf("icon for an inactive plugin on a dark background = %s; want a text that contains %q", iconSet.DarkInactive, `<use href="#site-dark-inactive-b"/>`)
	}
}

func TestInvalidIconsAreRefused(t *testing.T) {
	insideSVG := func(svgContent string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">` + svgContent + `</svg>`
	}
	tests := []struct {
		name, svg, want string
	}{
		{"too large", insideSVG(strings.Repeat(" ", MaxBytes)), "make it at most 16384"},
		{"empty", "", "can't be read as SVG: it ends too early"},
		{"not XML", "PNG\x89 <", "can't be read as SVG"},
		{"truncated", `<svg viewBox="0 0 8 8"><g>`, "it ends too early"},
		{"crossed", `<svg viewBox="0 0 8 8"><g></svg>`, "</svg> closes nothing"},
		{"two roots", simpleIcon + simpleIcon, "more than one root"},
		{"deep", insideSVG(strings.Repeat("<g>", 200) + strings.Repeat("</g>", 200)), "nested more than 100 deep"},
		{"entities", `<!DOCTYPE svg [<!ENTITY a "b">]>` + simpleIcon, "it defines entities"},
		{"unknown entity", insideSVG("<title>&bomb;</title>"), "can't be read as SVG"},
		{"HTML", `<html></html>`, "begins with <html>"},
		{"no viewBox", `<svg width="8" height="8"/>`, "has no viewBox"},
		{"odd viewBox", `<svg viewBox="0 0 8"/>`, "write four numbers"},
		{"infinite viewBox", `<svg viewBox="0 0 Inf Inf"/>`, "write four numbers"},
		{"empty viewBox", `<svg viewBox="0 0 0 0"/>`, "write four numbers"},
		{"not square", `<svg viewBox="0 0 8 9"/>`, "8 wide and 9 high"},
		{"script", insideSVG(`<script>alert(1)</script>`), "has a <script>"},
		{"script in capitals", insideSVG(`<g><SCRIPT/></g>`), "has a <SCRIPT>"},
		{"script with a prefix", insideSVG(`<svg:script/>`), "has a <script>"},
		{"image", insideSVG(`<image href="#a"/>`), "has a <image>"},
		{"HTML inside", insideSVG(`<foreignObject/>`), "has a <foreignObject>"},
		{"event handler", insideSVG(`<path onclick="x()"/>`), "has the event handler onclick"},
		{"handler of the root", `<svg viewBox="0 0 8 8" OnLoad="x()"/>`, "has the event handler OnLoad"},
		{"reference to elsewhere", insideSVG(`<use href="https://a.test/b.svg#c"/>`), `refers to "https://a.test/b.svg#c"`},
		{"reference by xlink", insideSVG(`<use xlink:href=" data:image/png,x"/>`), `refers to " data:image/png,x"`},
		{"paint from elsewhere", insideSVG(`<path fill="url(https://a.test/b)"/>`), "loads something in fill"},
		{"style attribute", insideSVG(`<path style="fill:URL( 'https://a.test/b')"/>`), "loads something in style"},
		{"style import", insideSVG(`<style>@import "https://a.test/b.css";</style>`), "has a style that loads something"},
	}
	for _, testCase := range tests {
		t.Run(testCase.name, func(t *testing.T) {
			_, problems := BuildSet("site", newFileMap(fileIcon, testCase.svg))
			if len(problems) != 1 || problems[0].File != fileIcon || !strings.Contains(problems[0].Text, testCase.want) {
				t.Errorf("problems of the icon = %v, want one problem with the text %q", problems, testCase.want)
			}
		})
	}
}

func TestIncompleteIconSets(t *testing.T) {
	_, problems := BuildSet("site", newFileMap(fileDark, simpleIcon, fileInactive, simpleIcon))
	var got []string
	for _, p := range problems {
		got = append(got, p.File+" "+p.Text)
	}
	want := []string{
		"icon.svg is missing, but there are variants of it; add it or remove them",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems of the incomplete set = %q; want %v", got, want)
	}
}

func FuzzMake(f *testing.F) {
	f.Add([]byte(simpleIcon))
	f.Add([]byte(`<svg viewBox="0 0 8 8"><style>#a{fill:red}</style><g id="a" style="fill:url(#a)">x</g></svg>`))
	f.Fuzz(func(t *testing.T, svgContent []byte) {
		iconSet, problems := BuildSet("site", map[string][]byte{fileIcon: svgContent})
		if len(problems) > 0 {
			return
		}
		if len(iconSet.Icon) > MaxBytes {
			return
		}
		if _, problems := BuildSet("site", map[string][]byte{fileIcon: []byte(iconSet.Icon)}); len(problems) > 0 {
			t.Errorf("BuildSet of the minified icon %s returned the problems %v, want none", iconSet.Icon, problems)
		}
	})
}
