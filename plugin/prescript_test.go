package plugin_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

const preScriptFile = "dist/pre-script.iife.js"

func TestLoadReadsPreScripts(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{PreScript: "token()"})
	checksum := fmt.Sprintf("%x", sha256.Sum256([]byte("token()")))
	code, err := p.PreScriptCode()
	if err != nil || string(code) != "token()" || !p.PreScript || p.PreScriptHash != checksum || len(p.Warnings) > 0 {
		t.Errorf("pre-script = %q, error %v, plugin %+v; want the code token(), its hash and no warning", code, err, p)
	}
	if fileInfo := p.Info(); !fileInfo.AllFrames || fileInfo.RunsInFrames {
		t.Errorf("description for browsers = %+v; want a pre-script in all frames and an adapter only in the main frame", fileInfo)
	}
	pluginWithoutPreScript := plugintest.Load(t, plugintest.Package{})
	if code, err := pluginWithoutPreScript.PreScriptCode(); code != nil || err != nil || pluginWithoutPreScript.PreScript || pluginWithoutPreScript.Info().AllFrames {
		t.Errorf("plugin without a pre-script: code %q, error %v, plugin %+v; want no pre-script", code, err, pluginWithoutPreScript)
	}
	dir := plugintest.Package{PreScript: "token()"}.Write(t)
	editFile(t, dir, toolsFile, newJSONMemberEdit("preScriptHash", ""))
	pluginBefore, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	editFile(t, dir, preScriptFile, newReplaceAllEdit("evil1()"))
	pluginAfter, err := plugin.Load(dir)
	if err != nil || pluginAfter.ManifestHash == pluginBefore.ManifestHash {
		t.Errorf("a changed pre-script does not change ManifestHash, error %v; want another hash", err)
	}
}

func TestPreScriptHashes(t *testing.T) {
	const code = "token()"
	for _, c := range []struct{ fileText, file string }{
		{code, code + "\n//# sourceMappingURL=pre-script.iife.js.map\n"},
		{code + "\n", code + "\n//# sourceMappingURL=pre-script.iife.js.map\n"},
		{code + "\n", code + "\n//# sourceMappingURL=pre-script.iife.js.map"},
		{code + "\n", code + "\n"},
	} {
		dir := plugintest.Package{PreScript: c.fileText}.Write(t)
		if err := os.WriteFile(filepath.Join(dir, preScriptFile), []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := plugin.Load(dir); err != nil {
			t.Errorf("pre-script %q with the hash of %q: error %v; want none", c.file, c.fileText, err)
		}
	}
	dir := plugintest.Package{PreScript: code}.Write(t)
	editFile(t, dir, preScriptFile, newReplaceAllEdit("//# sourceMappingURL=x\nevil()\n"+code))
	if _, err := plugin.Load(dir); err == nil || !strings.Contains(err.Error(), "was changed after it was built") {
		t.Errorf("error for code after the source map comment = %v; want an error that contains %q", err, "was changed after it was built")
	}
}

func TestLoadWarnsOfMissingPreScript(t *testing.T) {
	dir := plugintest.Package{PreScript: "token()"}.Write(t)
	if err := os.Remove(filepath.Join(dir, preScriptFile)); err != nil {
		t.Fatal(err)
	}
	p, err := plugin.Load(dir)
	if err != nil || p.PreScript || p.PreScriptHash != "" || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], preScriptFile+" is missing, so the plugin runs without its pre-script") {
		t.Errorf("plugin without its pre-script file = %+v, error %v; want no pre-script and one warning", p, err)
	}
}

func TestChangedPreScriptIsRejected(t *testing.T) {
	dir := plugintest.Package{PreScript: "token()"}.Write(t)
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	editFile(t, dir, preScriptFile, newReplaceAllEdit("evil()"))
	if code, err := p.PreScriptCode(); err == nil || code != nil || !strings.Contains(err.Error(), preScriptFile+": changed on disk") {
		t.Errorf("pre-script that changed on disk: code %q, error %v; want the error \"changed on disk\"", code, err)
	}
}

func TestLoadReadsIconsAndFrames(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.frames", "true"))
	editFile(t, dir, toolsFile, newJSONMemberEdit("iconSvg", `"\n<svg viewBox='0 0 1 1'><script>alert(1)</script></svg>"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("iconDarkSvg", `"javascript:alert(1)"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.iconSvg", `"<svg>`+strings.Repeat("x", 64<<10)+`</svg>"`))
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Icon != "<svg viewBox='0 0 1 1'><script>alert(1)</script></svg>" || !p.RunsInFrames || !p.Info().RunsInFrames || !p.Info().AllFrames {
		t.Errorf("plugin = %+v; want the icon and an adapter that runs in frames", p)
	}
	want := []string{"dist/tools.json: iconDarkSvg is no SVG", "dist/tools.json: tools[0].iconSvg has 65547 bytes, more than the 65536 allowed"}
	if len(p.Warnings) != 2 || !strings.HasPrefix(p.Warnings[0], want[0]) || !strings.HasPrefix(p.Warnings[1], want[1]) {
		t.Errorf("warnings = %q, want %q", p.Warnings, want)
	}
}

func TestLoadDetectsTheSDK(t *testing.T) {
	for version, isOriginalSDK := range map[string]bool{"0.0.115": true, "0.1.0": false} {
		if p := plugintest.Load(t, plugintest.Package{SDKVersion: version}); p.IsForOriginalSDK != isOriginalSDK {
			t.Errorf("IsForOriginalSDK for the SDK version %s = %v; want %v", version, p.IsForOriginalSDK, isOriginalSDK)
		}
	}
}
