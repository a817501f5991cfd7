package config

import "slices"

// ruleAuto is the default of the settings about the list of tools.
const ruleAuto = "auto"

// OutputSchemasOn and OutputSchemasOff are the rules of OutputSchemas besides auto.
const (
	OutputSchemasOn  = "on"
	OutputSchemasOff = "off"
)

// toolsRules and outputSchemasRules are the rules of Tools and OutputSchemas.
var (
	toolsRules         = []string{"all", "gateway", ruleAuto}
	outputSchemasRules = []string{OutputSchemasOn, OutputSchemasOff, ruleAuto}
)

// Tools is the setting for which tools the server lists: "all", "gateway" or "auto" for
// all clients, then the rules of single clients, as in "auto, Cursor=gateway". A
// client's name is the name that the client sends, in any case.
type Tools string

// RuleFor returns the rule for the client with the given name: all, gateway or auto.
func (t Tools) RuleFor(client string) string { return wordRuleFor(string(t), client, toolsRules) }

// OutputSchemas is the setting for whether the server lists the output schemas of tools:
// "on", "off" or "auto" for all clients, then the rules of single clients, as in
// "auto, Cursor=off".
type OutputSchemas string

// RuleFor returns the rule for the client with the given name: on, off or auto.
func (o OutputSchemas) RuleFor(client string) string {
	return wordRuleFor(string(o), client, outputSchemasRules)
}

// wordRuleFor returns the rule of a setting for one client; auto if there is none.
func wordRuleFor(setting, client string, words []string) string {
	rules, _ := parseWordRules(setting, words)
	if rule := rules.ruleFor(client); rule != "" {
		return rule
	}
	return ruleAuto
}

// parseWordRules parses a setting whose rules are words, and reports whether it is well
// formed.
func parseWordRules(setting string, words []string) (perClient[string], bool) {
	return parsePerClient(setting, func(text string) (string, bool) { return text, slices.Contains(words, text) })
}
