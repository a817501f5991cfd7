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

// world is a policy over plugins that a test can change.
type world struct {
	t      *testing.T
	dir    string
	policy *policy.Policy
	set    *plugin.Set
}

func newWorld(t *testing.T, packages ...plugintest.Package) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.load(packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{})
	return w
}

func (w *world) Set() *plugin.Set { return w.set }

// load replaces the plugins.
func (w *world) load(packages ...plugintest.Package) {
	w.t.Helper()
	var plugins []*plugin.Plugin
	for _, p := range packages {
		plugins = append(plugins, plugintest.Load(w.t, p))
	}
	w.set = plugin.NewSet(plugins, nil)
}

func (w *world) review(name string, permission wire.Permission) {
	w.t.Helper()
	one, err := w.set.Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.policy.Review(name, one.ContentHash(), permission, "the test"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) inspect(name string) (*inspection.Inspection, error) {
	return inspection.Inspect(w.policy, w.set, settings.New(w.dir, settings.Options{}), name)
}

// twoToolPackage is a package with two tools.
func twoToolPackage(name, code string) plugintest.Package {
	return plugintest.Package{Name: name, Code: code, Tools: []plugintest.Tool{
		{Name: "read", Description: "Reads."}, {Name: "send", Description: "Sends."},
	}}
}

// bundledAdapter is an adapter as esbuild writes it: own code between two libraries.
func bundledAdapter(own string, libraryLines int) string {
	return "\"use strict\";\n(() => {\n" +
		"  // node_modules/zod/v4/core/core.js\n" + strings.Repeat("  var zod = new Function('return 1');\n", libraryLines) +
		"  // src/tools/send.ts\n" + own +
		"  // ../../platform/plugin-sdk/dist/fetch.js\n  var sdk = globalThis.fetch;\n" +
		"  // src/index.ts\n  globalThis.__openTabs.adapters.mail = { tools: [] };\n})();\n"
}

func mailPackage(own string) plugintest.Package {
	p := twoToolPackage("mail", bundledAdapter(own, 5000))
	p.Tools[0].Description = "Reads mail."
	return p
}

// An agent is shown the author's own code and not the libraries that are many times as
// large, in pages that it can read.
func TestInspectionIsReadable(t *testing.T) {
	w := newWorld(t, mailPackage("  var send = () => fetch('/send', { body: localStorage.token });\n"))
	in, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, next, err := in.Page("")
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	for _, want := range []string{
		"mail 1.0.0 (The mail)", "sites         *://localhost/*", "content hash  " + in.Hash, "reviewed      never", "permission    off",
		"mentions      its own code: fetch, localStorage; its pre-script: none; its libraries: Function, fetch",
		"sections      tools, code, libraries (4 pages, libraries/1 to libraries/4)", "mail__read: Reads mail.",
	} {
		if !strings.Contains(overview, want) {
			t.Errorf("%q is missing in\n%s", want, overview)
		}
	}
	code, next, err := in.Page("code")
	if err != nil || next != "" || !strings.Contains(code, "var send = ") || !strings.Contains(code, "__adapterHash") || strings.Contains(code, "zod") {
		t.Errorf("%.2000s\n%q %v", code, next, err)
	}
	var libraries strings.Builder
	for section := "libraries"; section != ""; {
		text, next, err := in.Page(section)
		if err != nil || len(text) > 48<<10 {
			t.Fatal(section, len(text), err)
		}
		libraries.WriteString(text)
		section = next
	}
	if n := strings.Count(libraries.String(), "var zod"); n != 5000 {
		t.Errorf("the pages have %d of 5000 lines", n)
	}
	for _, section := range []string{"nothing", "code/2", "code/0", "code/x", "changes"} {
		if _, _, err := in.Page(section); err == nil || !strings.Contains(err.Error(), "name one of overview, tools, code") {
			t.Errorf("%s: %v", section, err)
		}
	}
}

// Changes since the last review are shown as a diff of the author's code. Changed
// libraries are shown by their hashes.
func TestChangesSinceReview(t *testing.T) {
	const old, now = "  var send = () => 1;\n", "  var send = () => fetch('https://evil.example');\n"
	w := newWorld(t, mailPackage(old))
	one, _ := w.Set().Plugin("mail")
	if _, known, err := w.policy.Changes(one); known || err != nil {
		t.Error(known, err)
	}
	w.review("mail", wire.PermissionAuto)
	if text, known, err := w.policy.Changes(one); text != "" || !known || err != nil {
		t.Error(text, known, err)
	}
	next := mailPackage(now)
	next.Code = bundledAdapter(now, 5001)
	w.load(next)
	two, _ := w.Set().Plugin("mail")
	text, known, err := w.policy.Changes(two)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	for _, want := range []string{"--- reviewed/own.js", "-" + old, "+" + now, "--- reviewed/libraries.txt", " node_modules/zod/v4/core/core.js"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "tools.json") || strings.Count(text, "\n") > 40 {
		t.Errorf("more has changed than did:\n%s", text)
	}
	in, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	if overview, _, _ := in.Page("overview"); !strings.Contains(overview, "CHANGED SINCE, see the section changes") {
		t.Error(overview)
	}
	if err := w.policy.Forget("mail", "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "reviewed", "mail")); !os.IsNotExist(err) {
		t.Errorf("what was reviewed is still there: %v", err)
	}
}

// A change beyond the stored part of a large file is shown too.
func TestChangeBeyondStoredPart(t *testing.T) {
	padding := "  /*" + strings.Repeat("x", 4<<20) + "*/\n"
	w := newWorld(t, mailPackage(padding+"  var send = () => 1;\n"))
	w.review("mail", wire.PermissionAuto)
	w.load(mailPackage(padding + "  var send = () => 2;\n"))
	one, _ := w.Set().Plugin("mail")
	text, known, err := w.policy.Changes(one)
	if err != nil || !known || strings.Count(text, "more is not kept") != 2 {
		t.Errorf("%t, %v, %d bytes", known, err, len(text))
	}
}

// A token is for one plugin and one content, once, for 10 minutes.
func TestReviewTokens(t *testing.T) {
	w := newWorld(t, mailPackage("  var a;\n"), twoToolPackage("chat", ""))
	inspect := func(name string) *inspection.Inspection {
		in, err := w.inspect(name)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	mail, chat := inspect("mail"), inspect("chat")
	synctest.Test(t, func(t *testing.T) {
		var tokens inspection.Tokens
		token := tokens.Issue(mail)
		if len(token) != 43 || token == tokens.Issue(mail) {
			t.Errorf("%q is no token of 256 bit", token)
		}
		if hash, err := tokens.Redeem(token, "mail"); hash != mail.Hash || err != nil {
			t.Error(hash, err)
		}
		other, late := tokens.Issue(chat), tokens.Issue(mail)
		if err := errorOf(tokens.Redeem(other, "mail")); err == nil {
			t.Error("a token of another plugin does")
		}
		<-time.After(10*time.Minute - 1)
		last := tokens.Issue(mail)
		<-time.After(1)
		for what, err := range map[string]error{
			"used": errorOf(tokens.Redeem(token, "mail")), "tried already": errorOf(tokens.Redeem(other, "chat")),
			"late": errorOf(tokens.Redeem(late, "mail")), "guessed": errorOf(tokens.Redeem("", "mail")),
		} {
			if err == nil || !strings.Contains(err.Error(), "inspect the plugin again for a new one") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := errorOf(tokens.Redeem(last, "mail")); err != nil {
			t.Error(err)
		}
		first := tokens.Issue(mail)
		for range 200 {
			tokens.Issue(chat)
		}
		if err := errorOf(tokens.Redeem(first, "mail")); err == nil {
			t.Error("tokens are kept without end")
		}
	})
}

func errorOf[T any](_ T, err error) error { return err }

// A recommendation enables nothing. It is for the inspected content, and ends when the
// user decides.
func TestRecommendationChangesNothing(t *testing.T) {
	w := newWorld(t, mailPackage("  var a;\n"))
	one, _ := w.Set().Plugin("mail")
	w.review("mail", wire.PermissionOff) // the user has turned it off
	if err := w.policy.Recommend("mail", one.ContentHash(), "auto", " reads\nonly\u202e "+strings.Repeat("x", 2000), "claude"); err != nil {
		t.Fatal(err)
	}
	s := w.policy.State("mail")
	if s.Effective != wire.PermissionOff || s.Tool("read") != wire.PermissionOff || w.policy.Runs(one) {
		t.Errorf("an agent has switched it on: %+v", s)
	}
	r := w.policy.Recommended(one)
	if r == nil || r.By != "claude" || r.Permission != wire.PermissionAuto || !strings.HasPrefix(r.Note, "reads only ") || len([]rune(r.Note)) != 1000 {
		t.Fatalf("recommended: %+v", r)
	}
	if err := w.policy.SetPermission("mail", "", wire.PermissionOff, "me"); err != nil || w.policy.Recommended(one) != nil {
		t.Errorf("decided, and it is still recommended: %v", err)
	}
	if err := w.policy.Recommend("mail", one.ContentHash(), "ask", "", "claude"); err != nil {
		t.Fatal(err)
	}
	w.load(mailPackage("  var changed;\n"))
	two, _ := w.Set().Plugin("mail")
	if w.policy.Recommended(two) != nil {
		t.Error("the recommendation applies to content that was not inspected")
	}
	err := w.policy.Recommend("mail", one.ContentHash(), "ask", "", "claude")
	if err == nil || !strings.Contains(err.Error(), "has changed since you inspected it") {
		t.Errorf("earlier content was recommended: %v", err)
	}
	for _, permission := range []wire.Permission{"off", "", "all"} {
		if err := w.policy.Recommend("mail", two.ContentHash(), permission, "", "claude"); err == nil {
			t.Errorf("%q was recommended", permission)
		}
	}
}

// Tools are listed under their categories; tools without a category come last.
func TestInspectionGroupsTools(t *testing.T) {
	p := twoToolPackage("mail", bundledAdapter("", 1))
	p.Tools = []plugintest.Tool{
		{Name: "other", Description: "d"}, {Name: "read", Description: "d", Group: "Reading"}, {Name: "send", Description: "d", Group: "Writing"},
		{Name: "find", Description: "d", Group: "Reading"},
	}
	w := newWorld(t, p)
	in, err := w.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, _, _ := in.Page("")
	if want := "Reading:\n  mail__read: d\n  mail__find: d\nWriting:\n  mail__send: d\nOther:\n  mail__other: d\n"; !strings.Contains(overview, want) {
		t.Errorf("%s", overview)
	}
	tools, _, _ := in.Page("tools")
	if !strings.HasPrefix(tools, "[Reading] mail__read") {
		t.Errorf("%s", tools)
	}
	w2 := newWorld(t, mailPackage("  var x = '\U000e0041\u202e'; new Image();\n"))
	in, err = w2.inspect("mail")
	if err != nil {
		t.Fatal(err)
	}
	overview, _, _ = in.Page("")
	code, _, _ := in.Page("code")
	one, _ := w2.Set().Plugin("mail")
	if !strings.Contains(overview, "  Image: Loads an image") || strings.Contains(overview, one.Dir) || !strings.Contains(code, `'\u{e0041}\u{202e}'`) {
		t.Errorf("%s\n%s", overview, code)
	}
}

// TestReviewText checks that a review shows all pages of the code only if it is
// requested, and what has changed in any case.
func TestReviewText(t *testing.T) {
	long := strings.Repeat("const line = 1;\n", 10_000)
	w := newWorld(t, twoToolPackage("a", "first();\n"))
	if in, err := w.inspect("a"); err != nil || in.ReviewText(false) != "" || !strings.Contains(in.ReviewText(true), "\nThe author's code:\n\n") {
		t.Errorf("%v, %v", in, err)
	}
	w.review("a", wire.PermissionAsk)
	w.load(twoToolPackage("a", long))
	in, err := w.inspect("a")
	if err != nil {
		t.Fatal(err)
	}
	brief, full := in.ReviewText(false), in.ReviewText(true)
	if !strings.HasPrefix(brief, "\nChanges since the last review:\n\n") || strings.Contains(brief, "The author's code") {
		t.Errorf("without the code: %.300s", brief)
	}
	if !strings.HasPrefix(full, brief) || strings.Count(full[len(brief):], "const line = 1;\n") != 10_000 {
		t.Errorf("with the code: %d bytes after %d", len(full), len(brief))
	}
}
