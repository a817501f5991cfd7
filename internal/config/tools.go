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
func (t Tools) RuleFor(client string) string { return findKeywordRule(string(t), client, toolsRules) }

// OutputSchemas is the setting for whether MCP clients receive the output schemas of
// tools: "on", "off" or "auto". OutputSchemas can also contain exceptions for single
// clients, as in "auto, Cursor=off".
type OutputSchemas string

// RuleFor returns "on", "off" or "auto" for the client with the given name.
func (o OutputSchemas) RuleFor(client string) string {
	return findKeywordRule(string(o), client, outputSchemasRules)
}

func findKeywordRule(setting, client string, words []string) string {
	rules, _ := parseKeywordRules(setting, words)
	if rule := rules.ruleFor(client); rule != "" {
		return rule
	}
	return ruleAuto
}

func parseKeywordRules(setting string, words []string) (clientRuleSet[string], bool) {
	return parseClientRules(setting, func(rule string) (string, bool) { return rule, slices.Contains(words, rule) })
}
