package policy

import (
	"fmt"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

func findWithheldSecrets(p *Policy, loadedPlugin *plugin.Plugin, v *settings.Values) []plugin.Setting {
	if len(loadedPlugin.Settings) == 0 || !p.IsRestricted(loadedPlugin) {
		return nil
	}
	settingValues := v.ValidValues(loadedPlugin)
	var withheldSettings []plugin.Setting
	for _, s := range loadedPlugin.Settings {
		if s.IsSecret() && settingValues[s.Key] != nil {
			withheldSettings = append(withheldSettings, s)
		}
	}
	return withheldSettings
}

// SecretsGate returns a gate that blocks calls of restricted plugins that require a
// secret setting. The argument v contains the user's settings of plugins.
func (e *Enforcer) SecretsGate(v *settings.Values) dispatch.Gate { return secretsGate{e.policy, v} }

type secretsGate struct {
	policy        *Policy
	settingValues *settings.Values
}

func (secretsGate) Name() string { return "secrets" }

func (g secretsGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	loadedPlugin, ok := g.policy.currentPlugins().Plugin(callInfo.Tool.Plugin)
	if !ok {
		return dispatch.Verdict{}
	}
	var requiredNames []plugin.Setting
	for _, s := range findWithheldSecrets(g.policy, loadedPlugin, g.settingValues) {
		if s.Required {
			requiredNames = append(requiredNames, s)
		}
	}
	if len(requiredNames) == 0 {
		return dispatch.Verdict{}
	}
	v := newRefusalVerdict(fmt.Sprintf("The plugin %s does not get %s, which it needs: it starts after the page's scripts, and the setting is secret",
		loadedPlugin.Name, settings.Names(requiredNames)), formatLateAccessCommand(loadedPlugin.Name))
	v.BlockError.Code = wire.ErrNeedsSettings
	return v
}

// FailureNote returns two sentences about secret settings that the tool's plugin did not
// receive. The sentence forAgent is for the agent, and the sentence forUser is for the
// user. FailureNote returns two empty sentences if the plugin has received all settings.
func (e *Enforcer) FailureNote(t dispatch.Tool, v *settings.Values) (forAgent, forUser string) {
	loadedPlugin, ok := e.policy.currentPlugins().Plugin(t.Plugin)
	if !ok {
		return "", ""
	}
	withheldSettings := findWithheldSecrets(e.policy, loadedPlugin, v)
	if len(withheldSettings) == 0 {
		return "", ""
	}
	errorSentence := fmt.Sprintf("The plugin %s did not get %s, because it starts after the page's scripts", loadedPlugin.Name, settings.Names(withheldSettings))
	command := formatLateAccessCommand(loadedPlugin.Name)
	return fmt.Sprintf("%s. If it failed for that reason, ask the user to allow it with %s in a terminal, or in the opentabs side panel.", errorSentence, command),
		fmt.Sprintf("%s. To allow it, run %s, or use the side panel.", errorSentence, command)
}
