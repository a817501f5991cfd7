package permissions

import "opentabs/wire"

// InspectPlugin returns what a user reads about a plugin before enabling it.
func (l Local) InspectPlugin(name string) (wire.PluginInspectResult, error) {
	inspected, err := l.Inspect(name)
	if err != nil {
		return wire.PluginInspectResult{}, err
	}
	return inspected.View(), nil
}

// PluginPage returns one page of the code or the changes of a plugin.
func (l Local) PluginPage(in wire.PluginPageParams) (wire.PluginPageResult, error) {
	inspected, err := l.Inspect(in.Plugin)
	if err != nil {
		return wire.PluginPageResult{}, err
	}
	return inspected.PanelPage(in)
}
