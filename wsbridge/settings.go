package wsbridge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"opentabs/wire"
)

// syncSettings sends the settings of plugins that differ from those sent on
// this link. Only syncAdapters calls it.
func (l *link) syncSettings() error {
	if l.hub.opts.Settings == nil {
		return nil
	}
	now := map[string]wire.PluginSettings{}
	for _, p := range l.hub.opts.Settings() {
		now[p.Name] = p.Settings
	}
	for name := range l.settings { // all settings were removed
		if _, ok := now[name]; !ok {
			now[name] = wire.PluginSettings{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		params := marshal(wire.PluginSettingsParams{Name: name, Settings: now[name]})
		if l.settings[name] == string(params) {
			continue
		}
		answer, err := l.request(context.Background(), wire.MethodPluginSettings, params)
		if err == nil {
			err = decodeAnswer(answer, &wire.PluginSettingsResult{})
		}
		if err != nil {
			return fmt.Errorf("plugin.settings of %s: %w", name, err)
		}
		l.settings[name] = string(params)
	}
	return nil
}
