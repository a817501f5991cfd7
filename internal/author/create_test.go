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
	checkResult, err := Check(t.Context(), dir, CheckOptions{Build: childOptions})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkResult.Findings {
		if f.Rule != "world-isolated" || f.Level != levelSuggestion { // the new plugin uses the main world
			t.Errorf("%+v", f)
		}
	}
	if len(checkResult.Findings) != 1 || checkResult.Warnings != 0 {
		t.Errorf("%d findings, %d warnings; want only the suggestion of the isolated world", len(checkResult.Findings), checkResult.Warnings)
	}
	if checkResult.Plugin != "tickets" || checkResult.Version != "0.1.0" {
		t.Errorf("checked %s %s", checkResult.Plugin, checkResult.Version)
	}
	if _, err := os.Stat(filepath.Join(dir, "dist")); !os.IsNotExist(err) {
		t.Errorf("a check wrote dist: %v", err)
	}
	buildResult, err := jsbuild.BuildPlugin(t.Context(), dir, childOptions)
	if err != nil || len(buildResult.Tools) != 2 {
		t.Fatalf("%+v, %v; want length 2", buildResult, err)
	}
	if hasChanged, err := UpdateReadme(t.Context(), dir, true, childOptions); hasChanged || err != nil {
		t.Errorf("the README is not up to date: %v", err)
	}
}

func TestCreateNames(t *testing.T) {
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
			t.Errorf("%+v: %v", c.o, err)
			continue
		}
		if result.Name != c.name || result.Pattern != c.pattern || result.Dir != filepath.Join(c.o.Dir, c.name) {
			t.Errorf("%+v: made %+v", c.o, result)
		}
		text := readPluginFile(t, result.Dir, "package.json")
		for _, want := range []string{`"name": "` + c.pkg + `"`, `"displayName": "` + c.display + `"`, `"description": "` + c.description, `["` + c.pattern + `"]`} {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: package.json does not contain %s:\n%s", c.o, want, text)
			}
		}
		if _, err := jsbuild.BuildPlugin(t.Context(), result.Dir, childOptions); err != nil {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
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
			t.Errorf("%+v: got %v; want an error that contains %q", c.o, err, c.want)
		}
		if dirEntries, _ := os.ReadDir(c.o.Dir); len(dirEntries) > 0 {
			t.Errorf("%+v: the failed create left %v", c.o, dirEntries)
		}
	}
}

func TestCreateKeepsExistingFiles(t *testing.T) {
	dir := createPlugin(t)
	writePluginFile(t, dir, "src/index.ts", "mine")
	_, err := Create(CreateOptions{Name: "tickets", Dir: filepath.Dir(dir)})
	if err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v; want an error that contains %q", err, "already exists")
	}
	if readPluginFile(t, dir, "src/index.ts") != "mine" {
		t.Error("the file was overwritten")
	}
}

func TestCreateWorld(t *testing.T) {
	result, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), World: "isolated"})
	if err != nil {
		t.Fatal(err)
	}
	checkResult, err := Check(t.Context(), result.Dir, CheckOptions{Build: childOptions, NoTypes: true})
	if err != nil || len(checkResult.Findings) > 0 {
		t.Errorf("%+v, %v", checkResult, err)
	}
	if _, err := jsbuild.BuildPlugin(t.Context(), result.Dir, childOptions); err != nil {
		t.Fatal(err)
	}
	if createdPlugin, err := plugin.Load(result.Dir); err != nil || createdPlugin.World != wire.WorldIsolated {
		t.Errorf("built as %+v, %v", createdPlugin, err)
	}
	if _, err := Create(CreateOptions{Name: "others", Dir: t.TempDir(), World: "own"}); err == nil || !strings.Contains(err.Error(), `the world is "own"; use main or isolated`) {
		t.Errorf("got %v", err)
	}
}

func TestCreatedFilesHaveNoPlaceholders(t *testing.T) {
	for _, world := range []string{"main", "isolated"} {
		result, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), World: world, Description: "A {{Site}} of tickets."})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range result.Files {
			text := strings.ReplaceAll(readPluginFile(t, result.Dir, name), "A {{Site}} of tickets.", "")
			if strings.Contains(text, "{{") {
				t.Errorf("%s for the world %s contains a placeholder:\n%s", name, world, text)
			}
		}
	}
}
