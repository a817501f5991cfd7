package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/jsbuild"
	"opentabs/internal/statefile"
	"opentabs/plugin"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// The type adapters composes the script that a browser receives for each plugin: the
// adapter, embedded in the host that runs adapters. The type adapters is safe for
// concurrent use.
type adapters struct {
	plugins       *plugins
	folders       *devFolders
	dirs          config.Dirs
	log           zerolog.Logger
	host          func() ([]byte, error)
	pluginsLoaded <-chan struct{} // the channel pluginsLoaded is closed when the plugins are loaded

	writeLock sync.Mutex // writeLock serializes calls of writeFiles

	mu    sync.Mutex // the mutex guards the field files
	files map[string]string
}

var _ wsbridge.Adapters = (*adapters)(nil)

func newAdapters(p *plugins, folders *devFolders, dirs config.Dirs, pluginsLoaded <-chan struct{}, log zerolog.Logger) *adapters {
	return &adapters{plugins: p, folders: folders, dirs: dirs, log: log, host: jsbuild.HostScript, pluginsLoaded: pluginsLoaded, files: map[string]string{}}
}

// The type script describes the script of one plugin before its code is composed.
type script struct {
	info     wire.PluginInfo
	plugin   *plugin.Plugin
	settings wire.PluginSettings
}

// Browsers receive no code of plugins that must not run.
func (a *adapters) currentScripts() []script {
	scripts := []script{}
	runnablePlugins := a.plugins.runnablePlugins()
	if len(runnablePlugins) == 0 { // without plugins, the host need not be bundled
		return scripts
	}
	hostHash, err := a.hostHash()
	if err != nil {
		a.log.Error().Err(err).Msg("the host script could not be bundled, so pages get no adapters")
		return scripts
	}
	for _, enabledPlugin := range runnablePlugins {
		scripts = append(scripts, a.newScript(enabledPlugin, hostHash))
	}
	return scripts
}

// Hashes returns the adapter hashes of the plugins that may run, without waiting for the first load of the plugins.
func (a *adapters) Hashes() map[string]string {
	hashes := map[string]string{}
	for _, enabledPlugin := range a.plugins.runnablePlugins() {
		hashes[enabledPlugin.Name] = enabledPlugin.Hash
	}
	return hashes
}

func (a *adapters) hostHash() (string, error) {
	host, err := a.host()
	if err != nil {
		return "", fmt.Errorf("bundle the host: %w", err)
	}
	checksum := sha256.Sum256(host)
	return hex.EncodeToString(checksum[:]), nil
}

func (a *adapters) newScript(enabledPlugin *plugin.Plugin, host string) script {
	s := script{info: enabledPlugin.Info(), plugin: enabledPlugin, settings: a.plugins.settingValues.SettingsForPage(enabledPlugin, a.plugins.policy.IsRestricted(enabledPlugin))}
	s.info.InDevelopment, s.info.FixedScriptPartsID = a.folders.has(enabledPlugin), s.fixedPartsID()
	s.info.ScriptID = s.id(host)
	return s
}

// Chrome identifies scripts by ID or path, so a changed script needs a new ID.
func (s script) id(host string) string {
	codeParts, err := json.Marshal([]any{host, s.options(), s.plugin.PreScriptHash})
	if err != nil {
		panic("opentabs: settings that are not JSON: " + err.Error()) // encoding cannot fail, because this process has encoded the settings before
	}
	checksum := sha256.Sum256(codeParts)
	return hex.EncodeToString(checksum[:8])
}

func (s script) options() jsbuild.ScriptOptions {
	return jsbuild.ScriptOptions{
		Name: s.info.Name, Hash: s.info.Hash, Settings: s.settings, Start: s.start(), RunsInFrames: s.info.RunsInFrames,
		FixedScriptPartsID: s.info.FixedScriptPartsID,
	}
}

// The original OpenTabs SDK starts adapters at DOMContentLoaded. An adapter with StartAtDocumentIdle can require a parsed
// document, so it starts at DOMContentLoaded at the earliest.
func (s script) start() jsbuild.StartTime {
	switch p := s.plugin; {
	case p.Start == plugin.StartAtDocumentStart:
		return jsbuild.StartImmediately
	case p.Start == plugin.StartAtDocumentIdle, p.IsForOriginalSDK:
		return jsbuild.StartAtDOMReady
	}
	return ""
}

// The world and the pre-script of a plugin stay in a document when a hot reload replaces the adapter.
func (s script) fixedPartsID() string {
	checksum := sha256.Sum256([]byte(string(s.info.World) + " " + s.plugin.PreScriptHash))
	return hex.EncodeToString(checksum[:8])
}

// List waits until the plugins are loaded, because a browser that receives an empty list removes all adapters.
func (a *adapters) List() []wire.PluginInfo {
	<-a.pluginsLoaded
	infos := []wire.PluginInfo{}
	for _, s := range a.currentScripts() {
		infos = append(infos, s.info)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range infos {
		infos[i].File = a.files[infos[i].Name]
	}
	return infos
}

// Fetch returns the parts of a plugin's script, or the host script if p names no plugin.
func (a *adapters) Fetch(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
	host, err := a.hostHash()
	if err != nil {
		return wire.PluginFetchResult{}, err
	}
	if p.Name == "" {
		code, err := a.host()
		if err == nil && p.ScriptID != host {
			err = errors.New("the host script has changed; sync the plugins first")
		}
		return wire.PluginFetchResult{Code: string(code)}, err
	}
	enabledPlugin, ok := a.plugins.registry.Set().Plugin(p.Name)
	if !ok || !a.plugins.policy.MayRunAnyTool(enabledPlugin) {
		return wire.PluginFetchResult{}, fmt.Errorf("the plugin %q may not run", p.Name)
	}
	s := a.newScript(enabledPlugin, host)
	if s.info.ScriptID != p.ScriptID {
		return wire.PluginFetchResult{}, fmt.Errorf("the script of the plugin %q has changed; sync the plugins first", p.Name)
	}
	adapter, preScript, err := a.readAdapterCode(s)
	if err != nil {
		return wire.PluginFetchResult{}, err
	}
	scriptParts := jsbuild.MakeScriptParts(s.options(), adapter, preScript)
	return wire.PluginFetchResult{Code: string(scriptParts.Adapter), Options: string(scriptParts.Options), PreScript: string(scriptParts.PreScript)}, nil
}

// HostHash returns the SHA-256 of the host script, or an empty string if the host cannot be
// bundled.
func (a *adapters) HostHash() string {
	name, err := a.hostHash()
	if err != nil {
		return "" // currentScripts has logged the error
	}
	return name
}

func (a *adapters) composeScript(s script) ([]byte, error) {
	adapter, preScript, err := a.readAdapterCode(s)
	if err != nil {
		return nil, err
	}
	host, err := a.host()
	if err != nil {
		return nil, fmt.Errorf("bundle the host: %w", err)
	}
	return jsbuild.WrapAdapter(host, s.options(), adapter, preScript), nil
}

func (a *adapters) recordScriptFault(s script, err error) error {
	a.plugins.registry.Faults().RecordFault(s.plugin, err.Error(), "", "")
	return err
}

// readAdapterCode rejects code that could break out of its wrapping function, such as with an unbalanced brace. Each call
// of readAdapterCode checks the code, because older versions of opentabs installed adapters without a check.
func (a *adapters) readAdapterCode(s script) (adapter, preScript []byte, err error) {
	if adapter, err = s.plugin.Adapter(); err != nil {
		return nil, nil, err
	}
	if err := a.plugins.scriptChecks.Check(adapter); err != nil {
		return nil, nil, a.recordScriptFault(s, fmt.Errorf("the adapter of %s may not run: %w; build the plugin again and add it", s.info.Name, err))
	}
	if preScript, err = s.plugin.PreScriptCode(); err != nil {
		return nil, nil, err
	}
	if len(preScript) > 0 {
		if err := a.plugins.scriptChecks.Check(preScript); err != nil {
			return nil, nil, a.recordScriptFault(s, fmt.Errorf("the pre-script of %s may not run: %w; build the plugin again and add it", s.info.Name, err))
		}
	}
	return adapter, preScript, nil
}

// Browsers with user scripts off run the scripts that writeFiles writes into the extension's folder.
func (a *adapters) writeFiles() error {
	folder, ok := extensiondir.Find(a.dirs)
	if !ok {
		return nil
	}
	a.writeLock.Lock()
	defer a.writeLock.Unlock()
	folder = filepath.Join(folder, extensiondir.AdapterDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("write the adapters: %w", err)
	}
	files, currentFiles := map[string]string{}, map[string]bool{}
	var failures []error
	for _, enabledPlugin := range a.currentScripts() {
		name := enabledPlugin.info.Name + "-" + enabledPlugin.info.ScriptID + ".js"
		if err := a.writeFile(filepath.Join(folder, name), enabledPlugin); err != nil {
			failures = append(failures, fmt.Errorf("write the adapter of %s: %w", enabledPlugin.info.Name, err))
			continue
		}
		files[enabledPlugin.info.Name], currentFiles[name] = extensiondir.AdapterDir+"/"+name, true
	}
	a.mu.Lock()
	a.files = files
	a.mu.Unlock()
	return errors.Join(errors.Join(failures...), removeOtherFiles(folder, currentFiles))
}

// writeFile keeps existing files, because the file name contains a hash of the code.
func (a *adapters) writeFile(path string, s script) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	code, err := a.composeScript(s)
	if err != nil {
		return err
	}
	return statefile.Write(path, code)
}

func removeOtherFiles(folder string, currentFiles map[string]bool) error {
	statefile.RemoveLeftovers(folder)
	dirEntries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("remove old adapters: %w", err)
	}
	var failures []error
	for _, e := range dirEntries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".js") && !currentFiles[e.Name()] {
			failures = append(failures, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return errors.Join(failures...)
}
