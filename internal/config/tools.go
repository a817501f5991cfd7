package config

import "slices"

const ruleAuto = "auto"

// OutputSchemasOn and OutputSchemasOff are the rules of [OutputSchemas], besides "auto".
const (
	OutputSchemasOn  = "on"
	OutputSchemasOff = "off"
)

var (
	toolsRules         = []string{"all", "gateway", ruleAuto}
	outputSchemasRules = []string{OutputSchemasOn, OutputSchemasOff, ruleAuto}
)

// Tools is the setting for which tools MCP clients list: "all", "gateway" or "auto".
// Tools can also contain exceptions for single clients, as in "auto, Cursor=gateway".
// Client names are matched without regard to case.
type Tools string

// RuleFor returns "all", "gateway" or "auto" for the client with the given name.
func (t Tools) RuleFor(client string) string { return wordRuleFor(string(t), client, toolsRules) }

// OutputSchemas is the setting for whether MCP clients receive the output schemas of
// tools: "on", "off" or "auto". OutputSchemas can also contain exceptions for single
// clients, as in "auto, Cursor=off".
type OutputSchemas string

// RuleFor returns "on", "off" or "auto" for the client with the given name.
func (o OutputSchemas) RuleFor(client string) string {
	return wordRuleFor(string(o), client, outputSchemasRules)
}

func wordRuleFor(setting, client string, words []string) string {
	rules, _ := parseWordRules(setting, words)
	if rule := rules.ruleFor(client); rule != "" {
		return rule
	}
	return ruleAuto
}

func parseWordRules(setting string, words []string) (perClient[string], bool) {
	return parsePerClient(setting, func(toolsValue string) (string, bool) { return toolsValue, slices.Contains(words, toolsValue) })
}
