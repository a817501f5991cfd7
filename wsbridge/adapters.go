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

// adapterSync keeps the plugins and settings of one link up to date.
type adapterSync struct {
	link *link
	due  chan struct{} // has a token when a plugin.sync is due
	// settings are the settings that the browser has received on this link, as JSON by
	// plugin. Only run uses settings.
	settings map[string]string
}

// request schedules a plugin.sync on this link. Requests during a running
// sync are merged into one.
func (a *adapterSync) request() { signalOnce(a.due) }

// signalOnce puts a token into a channel with room for one token.
func signalOnce(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run sends plugins and settings to the browser after each requestSync. run returns
// when the link has ended.
func (a *adapterSync) run(b *browser) {
	for {
		select {
		case <-a.link.gone:
			return
		case <-a.due:
		}
		if err := a.sendPlugins(b); err != nil && !a.link.hasEnded() {
			a.link.log.Warn().Err(err).Msg("could not sync the adapters")
		}
		if err := a.sendSettings(); err != nil && !a.link.hasEnded() {
			a.link.log.Warn().Err(err).Msg("could not send the settings of plugins")
		}
		b.tabs.markSynced(a.link)
	}
}

// maxCodeInFlight limits the code that the browser has not confirmed, in bytes.
// A browser registers in one batch what arrives together, because Chrome
// rewrites its whole script store for each registration.
const maxCodeInFlight = 16 << 20

// sendPlugins sends the list of plugins, then the code that the browser lacks.
// sendPlugins stops early if the list has changed.
func (a *adapterSync) sendPlugins(b *browser) error {
	plugins := a.link.hub.listPlugins()
	params := wire.PluginSyncParams{Plugins: plugins}
	if a.link.hub.opts.Host != nil {
		params.Host = a.link.hub.opts.Host()
	}
	answer, err := a.link.requests.call(context.Background(), wire.MethodPluginSync, wire.EncodeBody(params))
	if err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	var r wire.PluginSyncResult
	if err := decodeAnswer(answer, &r); err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	a.link.hub.registry.setInject(b, a.link, r.Mode)
	a.link.log.Debug().Int("plugins", len(plugins)).Int("missing", len(r.Missing)).Str("mode", inbound.Text(string(r.Mode), 20)).Msg("plugins sent")
	byName := make(map[string]string, len(plugins))
	for _, p := range plugins {
		byName[p.Name] = p.Script
	}
	sending := codeInFlight{link: a.link}
	defer sending.waitBelow(0)
	for _, name := range r.Missing {
		if len(a.due) > 0 || a.link.hasEnded() {
			return nil // the next round has a newer list
		}
		script, ok := byName[name]
		if !ok {
			a.link.log.Warn().Str("plugin", inbound.Text(name, 100)).Msg("browser requested the code of a plugin that is not in its list")
			continue
		}
		delete(byName, name) // ignore duplicates
		if err := sending.send(name, script); err != nil {
			a.link.log.Warn().Err(err).Str("plugin", name).Msg("could not send the adapter")
		}
	}
	return nil
}

// sendSettings sends the settings of plugins that changed since sendSettings last sent
// them on this link. Only run calls sendSettings.
func (a *adapterSync) sendSettings() error {
	if a.link.hub.opts.Settings == nil {
		return nil
	}
	now := map[string]wire.PluginSettings{}
	for _, p := range a.link.hub.opts.Settings() {
		now[p.Name] = p.Settings
	}
	for name := range a.settings { // all settings were removed
		if _, ok := now[name]; !ok {
			now[name] = wire.PluginSettings{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		params := wire.EncodeBody(wire.PluginSettingsParams{Name: name, Settings: now[name]})
		if a.settings[name] == string(params) {
			continue
		}
		answer, err := a.link.requests.call(context.Background(), wire.MethodPluginSettings, params)
		if err == nil {
			err = decodeAnswer(answer, &wire.PluginSettingsResult{})
		}
		if err != nil {
			return fmt.Errorf("plugin.settings of %s: %w", name, err)
		}
		a.settings[name] = string(params)
	}
	return nil
}

// fetchCode returns the code of a plugin or of the host for plugin.fetch.
func (a *adapterSync) fetchCode(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
	if a.link.hub.opts.Fetch == nil {
		return wire.PluginFetchResult{}, errors.New("this server has no code to fetch")
	}
	r, err := a.link.hub.opts.Fetch(p)
	if size := len(r.Code) + len(r.PreScript) + len(r.Options); err == nil && size > wire.MaxFrameBytes/2 {
		err = fmt.Errorf("the code of %s is too large for a frame: %d bytes", inbound.Text(p.Name, 100), size)
	}
	if err != nil {
		a.link.log.Warn().Err(err).Str("plugin", inbound.Text(p.Name, 100)).Msg("could not send the adapter")
	}
	return r, err
}

// codeInFlight is the code that was sent and not confirmed yet, oldest first.
type codeInFlight struct {
	link  *link
	sent  []sentCode
	bytes int
}

type sentCode struct {
	plugin string
	bytes  int
	pendingRequest
}

// send sends the code of a plugin when maxCodeInFlight allows more code.
func (c *codeInFlight) send(name, script string) error {
	code, err := c.link.hub.opts.Adapters.Code(name, script)
	if err != nil {
		return err
	}
	params := wire.EncodeBody(code)
	if len(params) > wire.MaxFrameBytes-1024 {
		return fmt.Errorf("its code is too large for a frame: %d bytes", len(params))
	}
	c.waitBelow(maxCodeInFlight - len(params))
	c.sent = append(c.sent, sentCode{name, len(params), c.link.requests.send(wire.MethodPluginCode, params)})
	c.bytes += len(params)
	return nil
}

// waitBelow blocks until at most this many bytes are unconfirmed.
func (c *codeInFlight) waitBelow(bytes int) {
	for len(c.sent) > 0 && c.bytes > bytes {
		first := c.sent[0]
		c.sent = c.sent[1:]
		c.bytes -= first.bytes
		answer, err := c.link.requests.awaitAnswer(context.Background(), first.pendingRequest)
		if err == nil {
			err = decodeAnswer(answer, &wire.PluginCodeResult{})
		}
		if err != nil && !c.link.hasEnded() {
			c.link.log.Warn().Err(err).Str("plugin", first.plugin).Msg("could not send the adapter")
		}
	}
}

// decodeAnswer reads the result of a request to the browser.
func decodeAnswer(e wire.Envelope, result any) error {
	if e.Error != nil {
		return fmt.Errorf("the browser rejected the request (%d): %s", e.Error.Code, inbound.Text(e.Error.Message, 500))
	}
	return wire.DecodeBody(e.Result, result)
}
