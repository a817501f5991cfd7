package plugin

import (
	"fmt"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Withheld returns the secret settings that are set and that a plugin does not get,
// because it is restricted.
func (p *Policy) Withheld(one *Plugin, v *Values) []Setting {
	if len(one.Settings) == 0 || !p.IsRestricted(one) {
		return nil
	}
	set := v.Of(one)
	var withheld []Setting
	for _, s := range one.Settings {
		if s.Secret() && set[s.Key] != nil {
			withheld = append(withheld, s)
		}
	}
	return withheld
}

// SecretsGate blocks calls of plugins that do not get a secret setting which they
// require; v are the settings.
func (p *Policy) SecretsGate(v *Values) dispatch.Gate { return secretsGate{p, v} }

type secretsGate struct {
	policy *Policy
	values *Values
}

func (secretsGate) Name() string { return "secrets" }

func (g secretsGate) Decide(in dispatch.Info) dispatch.Verdict {
	one, ok := g.policy.set().Plugin(in.Tool.Plugin)
	if !ok {
		return dispatch.Verdict{}
	}
	var required []Setting
	for _, s := range g.policy.Withheld(one, g.values) {
		if s.Required {
			required = append(required, s)
		}
	}
	if len(required) == 0 {
		return dispatch.Verdict{}
	}
	v := refusedCall(fmt.Sprintf("The plugin %s does not get %s, which it needs: it starts after the page's scripts, and the setting is secret",
		one.Name, nameSettings(required)), lateAccessCommand(one.Name))
	v.Block.Code = wire.ErrNeedsSettings
	return v
}

// FailureNote says which secret settings the plugin of a tool did not get, as a
// sentence for the agent and one for the user; empty if it got all.
func (p *Policy) FailureNote(t dispatch.Tool, v *Values) (forAgent, forUser string) {
	one, ok := p.set().Plugin(t.Plugin)
	if !ok {
		return "", ""
	}
	withheld := p.Withheld(one, v)
	if len(withheld) == 0 {
		return "", ""
	}
	fact := fmt.Sprintf("The plugin %s did not get %s, because it starts after the page's scripts", one.Name, nameSettings(withheld))
	command := lateAccessCommand(one.Name)
	return fmt.Sprintf("%s. If it failed for that reason, ask the user to allow it with %s in a terminal, or in the opentabs side panel.", fact, command),
		fmt.Sprintf("%s. To allow it, run %s, or use the side panel.", fact, command)
}
