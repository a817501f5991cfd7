package inspection_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/plugin"
	"opentabs/plugin/inspection"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

type testPolicy struct {
	t         *testing.T
	dir       string
	policy    *policy.Policy
	pluginSet *plugin.Set
}

func newTestPolicy(t *testing.T, packages ...plugintest.Package) *testPolicy {
	t.Helper()
	w := &testPolicy{t: t, dir: t.TempDir()}
	w.load(packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{})
	return w
}

func (w *testPolicy) Set() *plugin.Set { return w.pluginSet }

func (w *testPolicy) load(packages ...plugintest.Package) {
	w.t.Helper()
	var plugins []*plugin.Plugin
	for _, p := range packages {
		plugins = append(plugins, plugintest.Load(w.t, p))
	}
	w.pluginSet = plugin.NewSet(plugins, nil)
}

func (w *testPolicy) review(name string, permission wire.Permission) {
	w.t.Helper()
	mailPlugin, err := w.pluginSet.Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.policy.Review(name, mailPlugin.ContentHash(), permission, "the test"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testPolicy) inspect(name string) (*inspection.Inspection, error) {
	return inspection.Inspect(w.policy, w.pluginSet, settings.New(w.dir, settings.Options{}), name)
}

func newTwoToolPackage(name, code string) plugintest.Package {
	return plugintest.Package{Name: name, Code: code, Tools: []plugintest.Tool{
		{Name: "read", Description: "Reads."}, {Name: "send", Description: "Sends."},
	}}
}

func bundledAdapter(ownCode string, libraryLineCount int) string {
	return "\"use strict\";\n(() => {\n" +
		"  // node_modules/zod/v4/core/core.js\n" + strings.Repeat("  var zod = new Function('return 1');\n", libraryLineCount) +
		"  // src/tools/send.ts\n" + ownCode +
		"  // ../../platform/plugin-sdk/dist/fetch.js\n  var sdk = globalThis.fetch;\n" +
		"  // src/index.ts\n  globalThis.__openTabs.adapters.mail = { tools: [] };\n})();\n"
}

func mailPackage(ownCode string) plugintest.Package {
	p := newTwoToolPackage("mail", bundledAdapter(ownCode, 5000))
	p.Tools[0].Description = "Reads mail."
	return p
}

func TestInspectionIsReadable(t *testing.T) {
	w := newTestPolicy(t, mailPackage("  var send = () => fetch('/send', { body: localStorage.token });\n"))
	inspection, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, nextPage, err := inspection.Page("")
	if err != nil || nextPage != "" {
		t.Fatal(nextPage, err)
	}
	for _, want := range []string{
		"mail 1.0.0 (The mail)", "sites         *://localhost/*", "content hash  " + inspection.Hash, "reviewed      never", "permission    off",
		"mentions      its own code: fetch, localStorage; its pre-script: none; its libraries: Function, fetch",
		"sections      tools, code, libraries (4 pages, libraries/1 to libraries/4)", "mail__read: Reads mail.",
	} {
		if !strings.Contains(overview, want) {
			t.Errorf("want the text %q in the overview\n%s", want, overview)
		}
	}
	code, nextPage, err := inspection.Page("code")
	if err != nil || nextPage != "" || !strings.Contains(code, "var send = ") || !strings.Contains(code, "__adapterHash") || strings.Contains(code, "zod") {
		t.Errorf("author's code = %.2000s\nnext page %q, error %v; want one page without library code", code, nextPage, err)
	}
	var libraries strings.Builder
	for sectionName := "libraries"; sectionName != ""; {
		pageText, nextPage, err := inspection.Page(sectionName)
		if err != nil || len(pageText) > 48<<10 {
			t.Fatal(sectionName, len(pageText), err)
		}
		libraries.WriteString(pageText)
		sectionName = nextPage
	}
	if n := strings.Count(libraries.String(), "var zod"); n != 5000 {
		t.Errorf("library lines in all pages = %d; want 5000", n)
	}
	for _, sectionName := range []string{"nothing", "code/2", "code/0", "code/x", "changes"} {
		if _, _, err := inspection.Page(sectionName); err == nil || !strings.Contains(err.Error(), "name one of overview, tools, code") {
			t.Errorf("error for the section %s = %v; want an error that contains %q", sectionName, err, "name one of overview, tools, code")
		}
	}
}

func TestChangesSinceReview(t *testing.T) {
	const previousCode, now = "  var send = () => 1;\n", "  var send = () => fetch('https://evil.example');\n"
	w := newTestPolicy(t, mailPackage(previousCode))
	mailPlugin, _ := w.Set().Plugin("mail")
	if _, hasReviewed, err := w.policy.Changes(mailPlugin); hasReviewed || err != nil {
		t.Error(hasReviewed, err)
	}
	w.review("mail", wire.PermissionAuto)
	if changes, hasReviewed, err := w.policy.Changes(mailPlugin); changes != "" || !hasReviewed || err != nil {
		t.Error(changes, hasReviewed, err)
	}
	changedPackage := mailPackage(now)
	changedPackage.Code = bundledAdapter(now, 5001)
	w.load(changedPackage)
	changedPlugin, _ := w.Set().Plugin("mail")
	changes, hasReviewed, err := w.policy.Changes(changedPlugin)
	if err != nil || !hasReviewed {
		t.Fatal(hasReviewed, err)
	}
	for _, want := range []string{"--- reviewed/own.js", "-" + previousCode, "+" + now, "--- reviewed/libraries.txt", " node_modules/zod/v4/core/core.js"} {
		if !strings.Contains(changes, want) {
			t.Errorf("want the text %q in the changes\n%s", want, changes)
		}
	}
	if strings.Contains(changes, "tools.json") || strings.Count(changes, "\n") > 40 {
		t.Errorf("changes =\n%s\nwant at most 40 lines, none about tools.json", changes)
	}
	inspection, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	if overview, _, _ := inspection.Page("overview"); !strings.Contains(overview, "CHANGED SINCE, see the section changes") {
		t.Error(overview)
	}
	if err := w.policy.Forget("mail", "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "reviewed", "mail")); !os.IsNotExist(err) {
		t.Errorf("stored copy of the removed plugin: error %v; want a missing folder", err)
	}
}

// opentabs stores only the beginning of a large file of a reviewed plugin.
func TestChangeAfterStoredBytesIsReported(t *testing.T) {
	padding := "  /*" + strings.Repeat("x", 4<<20) + "*/\n"
	w := newTestPolicy(t, mailPackage(padding+"  var send = () => 1;\n"))
	w.review("mail", wire.PermissionAuto)
	w.load(mailPackage(padding + "  var send = () => 2;\n"))
	mailPlugin, _ := w.Set().Plugin("mail")
	changes, hasReviewed, err := w.policy.Changes(mailPlugin)
	if err != nil || !hasReviewed || strings.Count(changes, "more is not kept") != 2 {
		t.Errorf("changes: reviewed before %t, error %v, %d bytes; want a diff of two truncated files", hasReviewed, err, len(changes))
	}
}

func TestReviewTokens(t *testing.T) {
	w := newTestPolicy(t, mailPackage("  var a;\n"), newTwoToolPackage("chat", ""))
	inspect := func(name string) *inspection.Inspection {
		inspection, err := w.inspect(name)
		if err != nil {
			t.Fatal(err)
		}
		return inspection
	}
	mailInspection, chatInspection := inspect("mail"), inspect("chat")
	synctest.Test(t, func(t *testing.T) {
		var tokens inspection.Tokens
		token := tokens.Issue(mailInspection)
		if len(token) != 43 || token == tokens.Issue(mailInspection) {
			t.Errorf("review token = %q; want 43 random characters (256 bits)", token)
		}
		if hash, err := tokens.Redeem(token, "mail"); hash != mailInspection.Hash || err != nil {
			t.Error(hash, err)
		}
		chatToken, expiredToken := tokens.Issue(chatInspection), tokens.Issue(mailInspection)
		if err := discardResult(tokens.Redeem(chatToken, "mail")); err == nil {
			t.Error("the review token of another plugin is accepted; want an error")
		}
		<-time.After(10*time.Minute - 1)
		newestToken := tokens.Issue(mailInspection)
		<-time.After(1)
		for caseName, err := range map[string]error{
			"used": discardResult(tokens.Redeem(token, "mail")), "tried already": discardResult(tokens.Redeem(chatToken, "chat")),
			"late": discardResult(tokens.Redeem(expiredToken, "mail")), "guessed": discardResult(tokens.Redeem("", "mail")),
		} {
			if err == nil || !strings.Contains(err.Error(), "inspect the plugin again for a new one") {
				t.Errorf("%s: error %v; want an error that contains %q", caseName, err, "inspect the plugin again for a new one")
			}
		}
		if err := discardResult(tokens.Redeem(newestToken, "mail")); err != nil {
			t.Error(err)
		}
		firstToken := tokens.Issue(mailInspection)
		for range 200 {
			tokens.Issue(chatInspection)
		}
		if err := discardResult(tokens.Redeem(firstToken, "mail")); err == nil {
			t.Error("the oldest review token is still valid after many new ones; want an error")
		}
	})
}

func discardResult[T any](_ T, err error) error { return err }

func TestRecommendationDoesNotChangePermissions(t *testing.T) {
	w := newTestPolicy(t, mailPackage("  var a;\n"))
	mailPlugin, _ := w.Set().Plugin("mail")
	w.review("mail", wire.PermissionOff)
	if err := w.policy.Recommend("mail", mailPlugin.ContentHash(), "auto", " reads\nonly\u202e "+strings.Repeat("x", 2000), "claude"); err != nil {
		t.Fatal(err)
	}
	s := w.policy.State("mail")
	if s.EffectivePermission != wire.PermissionOff || s.Tool("read") != wire.PermissionOff || w.policy.MayRunAnyTool(mailPlugin) {
		t.Errorf("state after the agent's recommendation = %+v; want the plugin off", s)
	}
	r := w.policy.Recommended(mailPlugin)
	if r == nil || r.By != "claude" || r.Permission != wire.PermissionAuto || !strings.HasPrefix(r.Note, "reads only ") || len([]rune(r.Note)) != 1000 {
		t.Fatalf("recommendation = %+v; want auto by claude, with a note of 1,000 characters", r)
	}
	if err := w.policy.SetPermission("mail", "", wire.PermissionOff, "me"); err != nil || w.policy.Recommended(mailPlugin) != nil {
		t.Errorf("the recommendation is still stored after the user's decision, error %v; want none", err)
	}
	if err := w.policy.Recommend("mail", mailPlugin.ContentHash(), "ask", "", "claude"); err != nil {
		t.Fatal(err)
	}
	w.load(mailPackage("  var changed;\n"))
	changedPlugin, _ := w.Set().Plugin("mail")
	if w.policy.Recommended(changedPlugin) != nil {
		t.Error("the recommendation applies to content that was not inspected; want none")
	}
	err := w.policy.Recommend("mail", mailPlugin.ContentHash(), "ask", "", "claude")
	if err == nil || !strings.Contains(err.Error(), "has changed since you inspected it") {
		t.Errorf("error for a recommendation of earlier content = %v; want an error that contains %q", err, "has changed since you inspected it")
	}
	for _, permission := range []wire.Permission{"off", "", "all"} {
		if err := w.policy.Recommend("mail", changedPlugin.ContentHash(), permission, "", "claude"); err == nil {
			t.Errorf("Recommend accepted the permission %q; want an error", permission)
		}
	}
}

func TestInspectionGroupsTools(t *testing.T) {
	p := newTwoToolPackage("mail", bundledAdapter("", 1))
	p.Tools = []plugintest.Tool{
		{Name: "other", Description: "d"}, {Name: "read", Description: "d", Group: "Reading"}, {Name: "send", Description: "d", Group: "Writing"},
		{Name: "find", Description: "d", Group: "Reading"},
	}
	w := newTestPolicy(t, p)
	inspection, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, _, _ := inspection.Page("")
	if want := "Reading:\n  mail__read: d\n  mail__find: d\nWriting:\n  mail__send: d\nOther:\n  mail__other: d\n"; !strings.Contains(overview, want) {
		t.Errorf("overview = %s; want a text that contains %q", overview, want)
	}
	tools, _, _ := inspection.Page("tools")
	if !strings.HasPrefix(tools, "[Reading] mail__read") {
		t.Errorf("section tools = %s; want a text that begins with %q", tools, "[Reading] mail__read")
	}
	otherPolicy := newTestPolicy(t, mailPackage("  var x = '\U000e0041\u202e'; new Image();\n"))
	inspection, err = otherPolicy.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, _, _ = inspection.Page("")
	code, _, _ := inspection.Page("code")
	mailPlugin, _ := otherPolicy.Set().Plugin("mail")
	if !strings.Contains(overview, "  Image: Loads an image") || strings.Contains(overview, mailPlugin.Dir) || !strings.Contains(code, `'\u{e0041}\u{202e}'`) {
		t.Errorf("overview = %s\ncode = %s\nwant escaped hidden characters and no folder path", overview, code)
	}
}

func TestReviewTextShowsChangesAndCode(t *testing.T) {
	longCode := strings.Repeat("const line = 1;\n", 10_000)
	w := newTestPolicy(t, newTwoToolPackage("a", "first();\n"))
	if inspection, err := w.inspect("a"); err != nil || inspection.ReviewText(false) != "" || !strings.Contains(inspection.ReviewText(true), "\nThe author's code:\n\n") {
		t.Errorf("inspection of a new plugin = %v, error %v; want a review text with only the author's code", inspection, err)
	}
	w.review("a", wire.PermissionAsk)
	w.load(newTwoToolPackage("a", longCode))
	inspection, err := w.inspect("a")
	if err != nil {
		t.Fatal(err)
	}
	textWithoutCode, textWithCode := inspection.ReviewText(false), inspection.ReviewText(true)
	if !strings.HasPrefix(textWithoutCode, "\nChanges since the last review:\n\n") || strings.Contains(textWithoutCode, "The author's code") {
		t.Errorf("review text without the code = %.300s; want only the changes", textWithoutCode)
	}
	if !strings.HasPrefix(textWithCode, textWithoutCode) || strings.Count(textWithCode[len(textWithoutCode):], "const line = 1;\n") != 10_000 {
		t.Errorf("review text with the code: %d bytes, without the code: %d; want all 10,000 lines", len(textWithCode), len(textWithoutCode))
	}
}
