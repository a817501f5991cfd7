package democmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/install"
	"opentabs/internal/jsbuild"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	sdkts "opentabs/sdk-ts"
	"opentabs/wire"
)

// The demo renames the example plugin, so that a user's plugin named "messages" is not affected.
const (
	pluginName  = "demo"
	packageName = "opentabs-plugin-demo"
	exampleDir  = "examples/messages"
	exportTool  = "export_messages"
	countTool   = "count_authors"
)

// demoPlugin is the example plugin that the demo installs and removes.
type demoPlugin struct {
	home   *home.Home
	client *httpapi.Client
	dir    string
}

func newDemoPlugin(h *home.Home, client *httpapi.Client) demoPlugin {
	return demoPlugin{home: h, client: client, dir: filepath.Join(h.State, "demo")}
}

func (p demoPlugin) checkName() error {
	storeEntries, err := p.home.PluginStore().Entries()
	for _, e := range storeEntries {
		if e.Name == pluginName && e.Path != p.dir {
			return fmt.Errorf("another plugin has the name %s, in %s: remove that plugin with `opentabs plugin remove %[1]s`, then run `opentabs demo` again", pluginName, e.Path)
		}
	}
	return err
}

// The method enable lets the export tool run without approval, and requires approval for the
// other tools.
func (p demoPlugin) enable(ctx context.Context, siteURL string) error {
	if err := p.write(siteURL); err != nil {
		return fmt.Errorf("write the example plugin: %w", err)
	}
	if _, err := jsbuild.BuildPlugin(ctx, p.dir, jsbuild.Options{}); err != nil {
		return fmt.Errorf("build the example plugin: %w", err)
	}
	addedPlugin, err := p.home.PluginStore().Add(p.dir)
	if err != nil {
		return err
	}
	if err := p.client.Plugins.Reload(ctx); err != nil {
		return fmt.Errorf("load the example plugin: %w", err)
	}
	policy := p.client.Policy(ctx)
	if err := policy.Review(addedPlugin.Name, addedPlugin.ContentHash(), wire.PermissionAsk, httpapi.CommandLine); err != nil {
		return err
	}
	if err := policy.SetPermission(addedPlugin.Name, exportTool, wire.PermissionAuto, httpapi.CommandLine); err != nil {
		return err
	}
	return policy.SetMayOpenTab(addedPlugin.Name, true, httpapi.CommandLine)
}

// The plugin's homepage is siteURL, so that the first call opens the example site.
func (p demoPlugin) write(siteURL string) error {
	if err := os.RemoveAll(p.dir); err != nil {
		return err
	}
	sourceFiles, err := fs.Sub(sdkts.Example, exampleDir)
	if err != nil {
		return err
	}
	if err := os.CopyFS(p.dir, sourceFiles); err != nil {
		return err
	}
	fileContent, err := fs.ReadFile(sourceFiles, "package.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(fileContent, &manifest); err != nil {
		return err
	}
	manifest["name"] = packageName
	pluginFields, ok := manifest["opentabs"].(map[string]any)
	if !ok {
		return errors.New("package.json of the example plugin has no member opentabs")
	}
	pluginFields["urlPatterns"], pluginFields["homepage"] = []string{"http://" + siteHost + "/*"}, siteURL
	if fileContent, err = rawjson.Marshal(manifest); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "package.json"), fileContent, 0o600)
}

// The method remove works even after an interrupted demo.
func (p demoPlugin) remove(ctx context.Context) error {
	storeEntries, err := p.home.PluginStore().Entries()
	isAdded := false
	for _, e := range storeEntries {
		isAdded = isAdded || e.Name == pluginName && e.Path == p.dir
	}
	if isAdded {
		_, removeErr := install.Remove(p.home, pluginName)
		err = errors.Join(err, removeErr, p.client.Plugins.Reload(ctx))
		if forgetErr := p.client.Policy(ctx).Forget(pluginName, httpapi.CommandLine); !errors.Is(forgetErr, plugin.ErrUnknown) {
			err = errors.Join(err, forgetErr)
		}
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
