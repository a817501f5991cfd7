package wsbridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
	"opentabs/wsbridge/requests"
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

// maxCodeInFlight limits how many bytes of plugin code the server sends before the browser
// confirms earlier code. Chrome rewrites its whole script store for each registration, so the
// browser registers all code that arrives together in one batch.
const maxCodeInFlight = 16 << 20

// sendPlugins sends the browser the list of plugins, and then each plugin's code that the browser lacks. Because
// sendPlugins reads the list of plugins, the caller must get syncTarget from currentSyncNumber before it calls
// sendPlugins.
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
	a.link.log.Debug().Int("plugins", len(plugins)).Int("missing", len(r.MissingHotReloads)).Str("mode", inbound.CleanText(string(r.Mode), 20)).Msg("plugins sent")
	scriptIDByPlugin := make(map[string]string, len(plugins))
	for _, p := range plugins {
		scriptIDByPlugin[p.Name] = p.ScriptID
	}
	unconfirmedCode := unconfirmedCode{link: a.link}
	defer unconfirmedCode.awaitConfirmations(0)
	for _, name := range r.MissingHotReloads {
		if len(a.syncRequested) > 0 || a.link.hasEnded() {
			return nil
		}
		script, ok := scriptIDByPlugin[name]
		if !ok {
			a.link.log.Warn().Str("plugin", inbound.CleanText(name, 100)).Msg("browser requested the code of a plugin that is not in its list")
			continue
		}
		delete(scriptIDByPlugin, name)
		if err := unconfirmedCode.sendFrame(name, script); err != nil {
			a.link.log.Warn().Err(err).Str("plugin", name).Msg("could not send the adapter")
		}
	}
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

// unconfirmedCode lists the plugin code that was sent but not confirmed by the browser, oldest first.
type unconfirmedCode struct {
	link             *link
	sentCodes        []sentPluginCode
	unconfirmedBytes int
}

type sentPluginCode struct {
	plugin    string
	codeBytes int
	request   requests.Request
}

func (c *unconfirmedCode) sendFrame(name, script string) error {
	code, err := c.link.hub.opts.Adapters.Code(name, script)
	if err != nil {
		return err
	}
	params := wire.EncodeBody(code)
	if len(params) > wire.MaxFrameBytes-1024 {
		return fmt.Errorf("its code is too large for a frame: %d bytes", len(params))
	}
	c.awaitConfirmations(maxCodeInFlight - len(params))
	c.sentCodes = append(c.sentCodes, sentPluginCode{name, len(params), c.link.requests.Send(wire.MethodPluginCode, params)})
	c.unconfirmedBytes += len(params)
	return nil
}

func (c *unconfirmedCode) awaitConfirmations(maxBytes int) {
	for len(c.sentCodes) > 0 && c.unconfirmedBytes > maxBytes {
		oldestSentCode := c.sentCodes[0]
		c.sentCodes = c.sentCodes[1:]
		c.unconfirmedBytes -= oldestSentCode.codeBytes
		response, err := c.link.requests.AwaitAnswer(context.Background(), oldestSentCode.request)
		if err == nil {
			err = inbound.DecodeAnswer(response, &wire.PluginCodeResult{})
		}
		if err != nil && !c.link.hasEnded() {
			c.link.log.Warn().Err(err).Str("plugin", oldestSentCode.plugin).Msg("could not send the adapter")
		}
	}
}
