package wsbridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// pluginSync sends plugins and settings to the browser at the other end of one link whenever
// they change.
type pluginSync struct {
	link          *link
	syncRequested chan struct{}
	// Only the goroutine that executes the method run uses the field settings.
	settings map[string]string
}

// All requests that arrive while a plugin.sync runs together cause one further plugin.sync.
func (a *pluginSync) request() { notifyWithoutBlocking(a.syncRequested) }

func notifyWithoutBlocking(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (a *pluginSync) run(b *browser) {
	for {
		select {
		case <-a.link.ended:
			return
		case <-a.syncRequested:
		}
		syncTarget := b.tabs.currentSyncNumber()
		if err := a.sendPlugins(b, syncTarget); err != nil && !a.link.hasEnded() {
			a.link.log.Warn().Err(err).Msg("could not sync the adapters")
		}
		if err := a.sendSettings(); err != nil && !a.link.hasEnded() {
			a.link.log.Warn().Err(err).Msg("could not send the settings of plugins")
		}
		b.tabs.markSynced(a.link, syncTarget)
	}
}

// sendPlugins sends the browser the list of plugins, and waits for the answer. The caller must get syncTarget from
// currentSyncNumber before it calls sendPlugins, because sendPlugins reads the list.
func (a *pluginSync) sendPlugins(b *browser, syncTarget int) error {
	plugins := a.link.hub.listPlugins()
	params := wire.PluginSyncParams{Plugins: plugins}
	if a.link.hub.opts.HostScript != nil {
		params.HostScriptID = a.link.hub.opts.HostScript()
	}
	request := a.link.requests.SendWithCallback(wire.MethodPluginSync, wire.EncodeBody(params), func() { b.tabs.recordSyncAnswer(a.link, syncTarget) })
	response, err := a.link.requests.AwaitAnswer(context.Background(), request)
	if err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	var r wire.PluginSyncResult
	if err := inbound.DecodeAnswer(response, &r); err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	a.link.hub.registry.setInjectMode(b, a.link, r.Mode)
	a.link.log.Debug().Int("plugins", len(plugins)).Str("mode", inbound.CleanText(string(r.Mode), 20)).Msg("plugins sent")
	return nil
}

// Only the method run calls sendSettings.
func (a *pluginSync) sendSettings() error {
	if a.link.hub.opts.Settings == nil {
		return nil
	}
	settingsByPlugin := map[string]wire.PluginSettings{}
	for _, p := range a.link.hub.opts.Settings() {
		settingsByPlugin[p.Name] = p.Settings
	}
	for name := range a.settings {
		if _, ok := settingsByPlugin[name]; !ok {
			settingsByPlugin[name] = wire.PluginSettings{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settingsByPlugin)) {
		params := wire.EncodeBody(wire.PluginSettingsParams{Name: name, Settings: settingsByPlugin[name]})
		if a.settings[name] == string(params) {
			continue
		}
		response, err := a.link.requests.SendAndWait(context.Background(), wire.MethodPluginSettings, params)
		if err == nil {
			err = inbound.DecodeAnswer(response, &wire.PluginSettingsResult{})
		}
		if err != nil {
			return fmt.Errorf("plugin.settings of %s: %w", name, err)
		}
		a.settings[name] = string(params)
	}
	return nil
}

func (a *pluginSync) fetchCode(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
	if a.link.hub.opts.FetchCode == nil {
		return wire.PluginFetchResult{}, errors.New("this server has no code to fetch")
	}
	r, err := a.link.hub.opts.FetchCode(p)
	if size := len(r.Code) + len(r.PreScript) + len(r.Options); err == nil && size > wire.MaxFrameBytes/2 {
		err = fmt.Errorf("the code of %s is too large for a frame: %d bytes", inbound.CleanText(p.Name, 100), size)
	}
	if err != nil {
		a.link.log.Warn().Err(err).Str("plugin", inbound.CleanText(p.Name, 100)).Msg("could not send the adapter")
	}
	return r, err
}
