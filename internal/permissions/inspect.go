package permissions

import "opentabs/wire"

// InspectPlugin returns the facts that the side panel shows in a plugin's review, such as
// sites, tools and warnings.
func (l LocalPolicy) InspectPlugin(name string) (wire.PluginInspectResult, error) {
	inspection, err := l.Inspect(name)
	if err != nil {
		return wire.PluginInspectResult{}, err
	}
	return inspection.View(), nil
}

// PluginPage returns one page of a plugin's code, or of the changes in the code since the
// last review.
func (l LocalPolicy) PluginPage(in wire.PluginPageParams) (wire.PluginPageResult, error) {
	inspection, err := l.Inspect(in.Plugin)
	if err != nil {
		return wire.PluginPageResult{}, err
	}
	return inspection.PanelPage(in)
}
