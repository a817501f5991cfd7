package inspection_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/inspection"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func bundle(library, ownCode string) string {
	return "(()=>{\n  // node_modules/lib/index.js\n  " + library + "\n\n  // src/index.ts\n  " + ownCode + "\n})();\n"
}

func findViewSection(view wire.PluginInspectResult, name wire.SectionName) wire.SectionView {
	i := slices.IndexFunc(view.Sections, func(s wire.SectionView) bool { return s.Name == name })
	if i < 0 {
		return wire.SectionView{}
	}
	return view.Sections[i]
}

func TestInspectionView(t *testing.T) {
	isDestructive := true
	p := plugintest.Package{
		Name: "mail", Code: bundle("eval(x);", "fetch('/a');"), PreScript: "localStorage.x;\n",
		Tools: []plugintest.Tool{{Name: "read", Description: "Reads."}, {Name: "drop", Description: "Drops.", Annotations: &plugin.Annotations{Destructive: &isDestructive}}},
	}
	w := newTestPolicy(t, p)
	mailInspection, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	view := mailInspection.View()
	if view.Hash != mailInspection.Hash || view.Description != "A plugin for tests." || view.Package != "opentabs-plugin-mail" || !view.PreScript || view.LastReview != nil || view.Author != "" {
		t.Errorf("inspection of a new plugin = %+v; want its description, package and pre-script, and no earlier review", view)
	}
	var powerNames []string
	for _, powerView := range view.Powers {
		for _, section := range powerView.Sections {
			powerNames = append(powerNames, powerView.Name+" in "+string(section))
		}
	}
	if got := strings.Join(powerNames, ", "); got != "eval in libraries, fetch in code, localStorage in pre-script" {
		t.Errorf("browser features = %s; want eval, fetch and localStorage", got)
	}
	if len(view.Tools) != 2 || view.Tools[0].Description != "Reads." || view.Tools[0].Destructive || !view.Tools[1].Destructive {
		t.Errorf("inspected tools = %+v; want 2, the second one destructive", view.Tools)
	}
	if s := findViewSection(view, wire.SectionCode); s.Pages != 1 || s.Lines < 3 || findViewSection(view, wire.SectionLibraries).Lines == 0 || findViewSection(view, wire.SectionChanges).Pages != 0 {
		t.Errorf("inspected sections = %+v; want 1 page of code, some libraries and no changes", view.Sections)
	}
	if names, err := inspection.BrowserFeatureNames(mailInspection.Plugin); err != nil || strings.Join(names, " ") != "fetch localStorage" {
		t.Errorf("browser features in the author's code = %v, error %v; want fetch and localStorage", names, err)
	}

	w.review("mail", wire.PermissionAuto)
	p.Code = bundle("eval(x);", "fetch('/b');\n  fetch('/c');")
	w.load(p)
	if mailInspection, err = w.inspect("mail"); err != nil {
		t.Fatal(err)
	}
	view = mailInspection.View()
	if r := view.LastReview; r == nil || r.Version != "1.0.0" || r.Permission != wire.PermissionAuto || r.AtMs == 0 {
		t.Errorf("last review of the changed plugin = %+v; want version 1.0.0 with the permission auto", r)
	}
	if s := findViewSection(view, wire.SectionChanges); s.Added != 3 || s.Removed != 2 {
		t.Errorf("section changes of the changed plugin = %+v; want 3 lines added and 2 removed", s)
	}
	page, err := mailInspection.PanelPage(wire.PluginPageParams{Plugin: "mail", Hash: view.Hash, Section: wire.SectionChanges, Page: 1})
	if err != nil || page.FirstLine != 1 || !strings.Contains(page.Text, "+  fetch('/c');") {
		t.Errorf("first page of the section changes = %+v, error %v; want line 1 first, and the added call of fetch", page, err)
	}
}

func TestPanelPage(t *testing.T) {
	w := newTestPolicy(t, plugintest.Package{Name: "mail", Code: "(()=>{\n" + strings.Repeat("x();\n", 30_000) + "})();\n"})
	mailInspection, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	request := wire.PluginPageParams{Plugin: "mail", Hash: mailInspection.Hash, Section: wire.SectionCode, Page: 2}
	firstPageParams := request
	firstPageParams.Page = 1
	firstPage, firstErr := mailInspection.PanelPage(firstPageParams)
	page, err := mailInspection.PanelPage(request)
	if err != nil || firstErr != nil || firstPage.FirstLine != 1 || page.FirstLine != 1+strings.Count(firstPage.Text, "\n") || findViewSection(mailInspection.View(), wire.SectionCode).Pages != 4 {
		t.Errorf("page 2 begins at line %d, errors %v and %v; want the line after page 1", page.FirstLine, err, firstErr)
	}
	for want, pluginChange := range map[string]func(*wire.PluginPageParams){
		"has changed since you opened its review": func(p *wire.PluginPageParams) { p.Hash = "old" },
		"has no page 9":               func(p *wire.PluginPageParams) { p.Page = 9 },
		"has no page 0":               func(p *wire.PluginPageParams) { p.Page = 0 },
		`of the section "pre-script"`: func(p *wire.PluginPageParams) { p.Section = wire.SectionPreScript },
		`of the section "other"`:      func(p *wire.PluginPageParams) { p.Section = "other" },
	} {
		invalidParams := request
		pluginChange(&invalidParams)
		if _, err := mailInspection.PanelPage(invalidParams); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the invalid page request %+v = %v; want %q", invalidParams, err, want)
		}
	}
}

func TestInspectionViewAuthor(t *testing.T) {
	for author, want := range map[string]string{`"Ada"`: "Ada", `{"name":"Ada\u202e Lovelace","email":"a@b.example"}`: "Ada Lovelace", `7`: "", `null`: ""} {
		w := newTestPolicy(t, plugintest.Package{Name: "mail"})
		mailPlugin, err := w.pluginSet.Find("mail")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(mailPlugin.Dir, "package.json")
		fileContent, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(fileContent), "{", `{"author":`+author+",", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		mailInspection, err := w.inspect("mail")
		if err != nil {
			t.Fatal(err)
		}
		if got := mailInspection.View().Author; got != want {
			t.Errorf("author for the JSON %s = %q, want %q", author, got, want)
		}
	}
}
