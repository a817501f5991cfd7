package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func TestAttackByPlugin(t *testing.T) {
	t.Run("names that look like another plugin's, or lead elsewhere", func(t *testing.T) {
		for _, name := range []string{
			"mess\u0430ges", "messages\u200b", "\u202esegassem", "Messages", "mess\u00e4ges", "messages ", " messages", "messages\x00", "messages\n",
			"mess\uff41ges", "\U0001d5c6essages", "__proto__", "../messages", "a/../../b", "a\\b", ".", "..", "a.b", "a__b", "a_b", "-a", "a-", "a--b",
			strings.Repeat("a", 127), "system", "browser", "opentabs", "mcp", "%2e%2e", "a:b", "a;b", "$(id)", "`id`", "a\"b", "a'b", "<b>",
		} {
			checkRefused(t, plugintest.Package{Name: name}, name)
		}
	})
	t.Run("scopes that lead to another plugin's name", func(t *testing.T) {
		for _, pkg := range []string{"@a/b/opentabs-plugin-x", "@../opentabs-plugin-x", "@a__b/opentabs-plugin-c", "@\u0430cme/opentabs-plugin-x", "@/opentabs-plugin-x"} {
			if name, err := plugin.NameOf(pkg); err == nil {
				t.Errorf("NameOf(%q) = %q; want an error", pkg, name)
			}
		}
	})
	t.Run("a name that another plugin has", func(t *testing.T) {
		store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
		firstDir := plugintest.Package{Name: "acme-chat"}.Write(t)
		if _, err := store.Add(firstDir); err != nil {
			t.Fatal(err)
		}
		for _, pkg := range []string{"opentabs-plugin-acme-chat", "@acme/opentabs-plugin-chat", "@opentabs-dev/opentabs-plugin-acme-chat"} {
			dir := plugintest.Package{Name: "acme-chat"}.Write(t)
			rewriteFile(t, filepath.Join(dir, "package.json"), `"opentabs-plugin-acme-chat"`, fmt.Sprintf("%q", pkg))
			if _, err := store.Add(dir); err == nil || !strings.Contains(err.Error(), "acme-chat") {
				t.Errorf("Add of the package %s: error %v; want an error that contains %q", pkg, err, "acme-chat")
			}
		}
		if entries := storeEntries(t, store); len(entries) != 1 || entries[0].Path != firstDir {
			t.Errorf("installed plugins = %+v; want only the first plugin", entries)
		}
	})
	t.Run("tools whose full name is another plugin's tool", func(t *testing.T) {
		// The name a__b__c can only mean the tool b__c of the plugin a, because plugin
		// names have no underscore.
		registry, _ := plugintest.Registry(t,
			plugintest.Package{Name: "a", Tools: []plugintest.Tool{{Name: "b__c", Description: "x"}, {Name: "_b", Description: "x"}}},
			plugintest.Package{Name: "a-b", Tools: []plugintest.Tool{{Name: "c", Description: "x"}}})
		pluginSet := registry.Set()
		for fullName, owner := range map[string]string{"a__b__c": "a", "a___b": "a", "a-b__c": "a-b"} {
			if tool, ok := pluginSet.Tool(fullName); !ok || tool.Plugin.Name != owner {
				t.Errorf("tool %s = %+v; want a tool of the plugin %s", fullName, tool, owner)
			}
		}
		for _, name := range []string{"", "b c", "b.c", "b/c", "b\u0441", "b\n", strings.Repeat("b", 127), "b\u200b", "b;c"} {
			checkRefused(t, plugintest.Package{Tools: []plugintest.Tool{{Name: name, Description: "x"}}}, "the tool "+name)
		}
		checkRefused(t, plugintest.Package{Tools: []plugintest.Tool{{Name: "b", Description: "x"}, {Name: "b", Description: "y"}}}, "one tool twice")
	})
	t.Run("patterns that match other sites", func(t *testing.T) {
		for _, pattern := range []string{
			"<all_urls>", "*://*/*", "http://*/*", "*://*.com/*", "*://*.localhost/*", "file:///*", "chrome://*/*", "chrome-extension://*/*", "javascript://x/*",
			"data:text/html,*", "ftp://example.com/*", "ws://example.com/*", "*://example.com@evil.example/*", "*://evil.example#.example.com/*", "*://ex*mple.com/*",
			"*://*.*.com/*", "*://examp\u0142e.com/*", "*://[::1]/*", "*://127.1/*", "*://0x7f.1/*", "*://2130706433/*", "*://example.com:99999/*", "*://.com/*", "*://example..com/*",
			"*://example.com", "//example.com/*", "", "*", "* ://example.com/*", "http\u202e://example.com/*",
		} {
			checkRefused(t, plugintest.Package{Matches: []string{pattern}}, pattern)
		}
	})
	t.Run("texts with hidden characters", func(t *testing.T) {
		for _, hostileText := range []string{"a\u202eb", "a\u2066b", "a\u200bb", "a\U000e0041b", "a\u001b[2Jb", "a\u0007b", "a\u009bb", "a\u2060b", "a\ufff9b"} {
			checkRefused(t, plugintest.Package{Tools: []plugintest.Tool{{Name: "x", Description: hostileText}}}, "a description "+hostileText)
			checkRefused(t, plugintest.Package{Tools: []plugintest.Tool{{Name: "x", DisplayName: hostileText, Description: "x"}}}, "a name "+hostileText)
		}
	})
	t.Run("an entry that leads out of the package", func(t *testing.T) {
		dir := plugintest.Package{}.Write(t)
		outsideFile := filepath.Join(t.TempDir(), "outside.js")
		if err := os.WriteFile(outsideFile, []byte("OUTSIDE"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, entry := range []string{outsideFile, "../../../../../../etc/passwd", "dist/../../x.js", "file:///etc/passwd"} {
			rewriteFile(t, filepath.Join(dir, "package.json"), `"dist/adapter.iife.js"`, fmt.Sprintf("%q", entry))
			p, err := plugin.Load(dir)
			if err != nil {
				t.Fatalf("Load with the adapter %s: error %v; want none", entry, err)
			}
			if code, err := p.Adapter(); err != nil || strings.Contains(string(code), "OUTSIDE") || strings.Contains(string(code), "root:") {
				t.Errorf("adapter %s: code %.60q, error %v; want no content from outside of the folder", entry, code, err)
			}
			rewriteFile(t, filepath.Join(dir, "package.json"), fmt.Sprintf("%q", entry), `"dist/adapter.iife.js"`)
		}
	})
	t.Run("a file that is a link out of the package", func(t *testing.T) {
		for _, file := range []string{"package.json", "dist/tools.json", "dist/adapter.iife.js"} {
			dir := plugintest.Package{}.Write(t)
			outsideFile := filepath.Join(t.TempDir(), "outside")
			if err := os.Rename(filepath.Join(dir, file), outsideFile); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outsideFile, filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
			_, err := plugin.Load(dir)
			if err == nil || !strings.Contains(err.Error(), file+": is a link, or is behind a link, that leads out of the plugin's folder; put the file itself there") {
				t.Errorf("link in place of %s: error %v; want the error that the link leads out of the folder", file, err)
			}
		}
	})
}

func checkRefused(t *testing.T, p plugintest.Package, attackName string) {
	t.Helper()
	loadedPlugin, err := plugin.Load(p.Write(t))
	if err == nil {
		t.Errorf("package name %q: loaded as %q with the patterns %v; want an error", attackName, loadedPlugin.Name, loadedPlugin.Matches)
		return
	}
	if strings.ContainsAny(err.Error(), "\x1b\x07\u009b\u202e\u2066\u200b\x00") {
		t.Errorf("package name %q: the error has its hidden characters, want them escaped: %q", attackName, err)
	}
}

func rewriteFile(t *testing.T, path, oldText, newText string) {
	t.Helper()
	hostileText, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(hostileText), oldText) {
		t.Fatalf("%s does not contain the text %s, which the test replaces; want it in the file", path, oldText)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(hostileText), oldText, newText, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
