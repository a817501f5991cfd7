package layout

import (
	"regexp"
	"strings"
	"testing"

	"opentabs/browser"
)

var toolRowPattern = regexp.MustCompile("(?m)^\\| `(browser_\\w+)` \\| (.+) \\| (read|act|dangerous|as its steps)( \\(.+\\))? \\|$")

func TestBrowserToolsAreDocumented(t *testing.T) {
	changeToRepositoryRoot(t)
	var got, want []string
	for _, m := range toolRowPattern.FindAllStringSubmatch(readDocuments(t)["docs/browser-tools.md"], -1) {
		got = append(got, m[1]+" "+m[3])
	}
	for _, tool := range browser.Plugin().Tools {
		class := "act"
		switch {
		case tool.Name == "browser_batch":
			class = "as its steps"
		case browser.IsDangerous(tool.Name):
			class = "dangerous"
		case tool.Annotations.ReadOnly != nil && *tool.Annotations.ReadOnly:
			class = "read"
		}
		want = append(want, tool.Name+" "+class)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("docs/browser-tools.md lists the browser tools\n%s\nwant\n%s", g, w)
	}
}
