package author

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
	"opentabs/wire"
)

func TestCreatedPluginPassesCheck(t *testing.T) {
	dir := createPlugin(t)
	checkResult, err := Check(t.Context(), dir, CheckOptions{Build: childBuildOptions})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkResult.Findings {
		if f.Rule != "world-isolated" || f.Level != levelSuggestion { // the new plugin uses the main world
			t.Errorf("the new plugin has the finding %+v; want only a suggestion of the rule world-isolated", f)
		}
	}
	if len(checkResult.Findings) != 1 || checkResult.Warnings != 0 {
		t.Errorf("the new plugin has %d findings, %d of them warnings; want only the suggestion of the isolated world", len(checkResult.Findings), checkResult.Warnings)
	}
	if checkResult.Plugin != "tickets" || checkResult.Version != "0.1.0" {
		t.Errorf("Check linted the plugin %s, version %s; want tickets 0.1.0", checkResult.Plugin, checkResult.Version)
	}
	if _, err := os.Stat(filepath.Join(dir, "dist")); !os.IsNotExist(err) {
		t.Errorf("after Check, the status of dist is %v; want that dist does not exist", err)
	}
	buildResult, err := jsbuild.BuildPlugin(t.Context(), dir, childBuildOptions)
	if err != nil || len(buildResult.Tools) != 2 {
		t.Fatalf("BuildPlugin returned %+v, error %v; want a plugin with 2 tools", buildResult, err)
	}
	if hasChanged, err := UpdateReadme(t.Context(), dir, true, childBuildOptions); hasChanged || err != nil {
		t.Errorf("README of the new plugin changed = %t, error %v; want an up-to-date README", hasChanged, err)
	}
}

func TestCreateDerivesNames(t *testing.T) {
	for _, c := range []struct {
		o                           CreateOptions
		name, pkg, display, pattern string
		description                 string
	}{
		{CreateOptions{Name: "tickets"}, "tickets", "opentabs-plugin-tickets", "Tickets", "*://*.example.com/*", "Describes the open page of example.com"},
		{CreateOptions{Name: "opentabs-plugin-a1", Domain: "localhost:3000"}, "a1", "opentabs-plugin-a1", "A1", "*://localhost:3000/*", "Describes the open page of localhost:3000"},
		{CreateOptions{Name: "@acme/live-chat", Domain: "https://www.chat.test/in?x=1", DisplayName: "Chat \"of\"\nAcme", Description: `All of <it> & "more"`},
			"acme-live-chat", "@acme/opentabs-plugin-live-chat", `Chat \"of\" Acme`, "*://*.chat.test/*", `All of <it> & \"more\"`},
		{CreateOptions{Name: "x", Domain: "127.0.0.1"}, "x", "opentabs-plugin-x", "X", "*://127.0.0.1/*", "Describes the open page"},
	} {
		c.o.Dir = t.TempDir()
		result, err := Create(c.o)
		if err != nil {
			t.Errorf("Create(%+v) returned the error %v; want none", c.o, err)
			continue
		}
		if result.Name != c.name || result.Pattern != c.pattern || result.Dir != filepath.Join(c.o.Dir, c.name) {
			t.Errorf("Create(%+v) wrote the plugin %+v; want the name %s, the pattern %s and a directory with the plugin's name", c.o, result, c.name, c.pattern)
		}
		text := readPluginFile(t, result.Dir, "package.json")
		for _, want := range []string{`"name": "` + c.pkg + `"`, `"displayName": "` + c.display + `"`, `"description": "` + c.description, `["` + c.pattern + `"]`} {
			if !strings.Contains(text, want) {
				t.Errorf("Create(%+v) wrote a package.json without %s:\n%s", c.o, want, text)
			}
		}
		if _, err := jsbuild.BuildPlugin(t.Context(), result.Dir, childBuildOptions); err != nil {
			t.Errorf("the plugin of Create(%+v) does not build: %v", c.o, err)
		}
	}
}

func TestCreateRejectsInvalidOptions(t *testing.T) {
	for _, c := range []struct {
		o    CreateOptions
		want string
	}{
		{CreateOptions{Name: "Tickets"}, "lower-case letters"},
		{CreateOptions{Name: "mcp"}, "reserved"},
		{CreateOptions{Name: ""}, "is empty"},
		{CreateOptions{Name: "../x"}, "lower-case letters"},
		{CreateOptions{Name: "x", Domain: "com"}, "com"},
		{CreateOptions{Name: "x", Domain: "*"}, "can't be used"},
		{CreateOptions{Name: "x", Domain: "https://"}, "not a URL"},
		{CreateOptions{Name: "x", DisplayName: "a\x1b[2Jb"}, "the display name has the character U+001B"},
		{CreateOptions{Name: "x", Description: "a\u202eb"}, "the description has the character U+202E"},
	} {
		c.o.Dir = t.TempDir()
		_, err := Create(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Create(%+v) returned the error %v; want an error that contains %q", c.o, err, c.want)
		}
		if dirEntries, _ := os.ReadDir(c.o.Dir); len(dirEntries) > 0 {
			t.Errorf("the failed Create(%+v) left the files %v; want none", c.o, dirEntries)
		}
	}
}

func TestCreateKeepsExistingFiles(t *testing.T) {
	dir := createPlugin(t)
	writePluginFile(t, dir, "src/index.ts", "mine")
	_, err := Create(CreateOptions{Name: "tickets", Dir: filepath.Dir(dir)})
	if err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("Create in a directory with files returned the error %v; want an error that contains %q", err, "already exists")
	}
	if readPluginFile(t, dir, "src/index.ts") != "mine" {
		t.Error("Create overwrote the author's src/index.ts; want an unchanged file")
	}
}

func TestCreatePluginInIsolatedWorld(t *testing.T) {
	result, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), ScriptWorld: "isolated"})
	if err != nil {
		t.Fatal(err)
	}
	checkResult, err := Check(t.Context(), result.Dir, CheckOptions{Build: childBuildOptions, SkipTypeCheck: true})
	if err != nil || len(checkResult.Findings) > 0 {
		t.Errorf("Check of a new plugin in the isolated world = %+v, error %v; want no findings", checkResult, err)
	}
	if _, err := jsbuild.BuildPlugin(t.Context(), result.Dir, childBuildOptions); err != nil {
		t.Fatal(err)
	}
	if createdPlugin, err := plugin.Load(result.Dir); err != nil || createdPlugin.World != wire.WorldIsolated {
		t.Errorf("the built plugin is %+v, error %v; want the isolated world", createdPlugin, err)
	}
	if _, err := Create(CreateOptions{Name: "others", Dir: t.TempDir(), ScriptWorld: "own"}); err == nil || !strings.Contains(err.Error(), `the world is "own"; use main or isolated`) {
		t.Errorf("Create with the world \"own\" returned the error %v; want an error that lists the allowed worlds", err)
	}
}

func TestCreatedFilesHaveNoPlaceholders(t *testing.T) {
	for _, world := range []string{"main", "isolated"} {
		result, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), ScriptWorld: world, Description: "A {{Site}} of tickets."})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range result.Files {
			text := strings.ReplaceAll(readPluginFile(t, result.Dir, name), "A {{Site}} of tickets.", "")
			if strings.Contains(text, "{{") {
				t.Errorf("the new plugin's file %s for the world %s still contains a template placeholder:\n%s", name, world, text)
			}
		}
	}
}
