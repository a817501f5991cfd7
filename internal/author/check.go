package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/jsbuild"
)

// Level is the severity of a finding.
type Level string

const (
	// levelError is for a defect that keeps the plugin from working correctly.
	levelError Level = "error"
	// levelWarning is for a weakness of the plugin.
	levelWarning Level = "warning"
	// levelSuggestion is for an improvement that the author may choose. A finding of
	// levelSuggestion is not counted and fails no check.
	levelSuggestion Level = "suggestion"
)

// levels are all severity levels, in the order in which findings are sorted.
var levels = []Level{levelError, levelWarning, levelSuggestion}

// Finding is one place in a plugin that breaks a rule.
type Finding struct {
	// Rule is the ID of a rule in [Rules].
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Where is a file with an optional line, a tool ("list_items"), or a field
	// ("list_items: input.filter.since"); empty for the whole plugin.
	Where string `json:"where,omitempty"`
	// Text describes the problem and the action to take.
	Text string `json:"text"`
}

// CheckResult is the result of [Check].
type CheckResult struct {
	Plugin  string `json:"plugin,omitempty"`
	Version string `json:"version,omitempty"`
	// Findings are sorted by level, then by rule.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	// Undos describes how the calls of the plugin's tools are undone, a sentence for each
	// tool with an undo.
	Undos []string `json:"undos,omitempty"`
	// NotChecked lists the checks that did not run, each with the reason.
	NotChecked []string `json:"notChecked,omitempty"`
}

// Rule is one rule of the linter.
type Rule struct {
	// ID never changes, so that scripts can use the ID of a rule.
	ID string `json:"id"`
	// Why explains why the linter has the rule.
	Why string `json:"why"`
}

// Rules returns all rules of the linter, in the order in which findings are sorted.
func Rules() []Rule {
	all := []Rule{
		{"build", "A plugin that does not build can't be added. A warning of the build is often an error later."},
		{"types", "The compiler finds mistakes in code that no test runs. opentabs itself does not check types."},
	}
	for _, ruleToApply := range rules {
		all = append(all, ruleToApply.Rule)
	}
	return all
}

// reportFunc adds a finding to the result of a check. A reportFunc takes the value of
// Where, and a format string with its arguments for Text.
type reportFunc = func(where, format string, args ...any)

// rule is a rule with its check, which passes its findings to report.
type rule struct {
	Rule
	level Level
	check func(b *tempBuild, report reportFunc)
}

// rules are the rules that apply to a built plugin.
var rules = slices.Concat(packageRules, toolRules, fieldRules)

// CheckOptions configure [Check].
type CheckOptions struct {
	// Build contains the options of the build. Check ignores the output directory in
	// the build options.
	Build jsbuild.Options
	// NoTypes skips the type check by the TypeScript compiler.
	NoTypes bool
}

// Check lints the plugin in dir. The only files that Check writes are the types for
// editors. Unless NoTypes is set, Check runs the TypeScript compiler in the plugin's
// node_modules, so the plugin must be trusted. Check returns an error only if the check
// can't run.
func Check(ctx context.Context, dir string, o CheckOptions) (*CheckResult, error) {
	c := &CheckResult{Findings: []Finding{}}
	b, remove, err := buildTemporary(ctx, dir, o.Build)
	var buildErr *jsbuild.BuildError
	switch {
	case errors.As(err, &buildErr):
		c.addProblems(levelError, buildErr.Problems)
	case err != nil:
		return nil, err
	default:
		defer remove()
		c.Plugin, c.Version = b.Name, joinLines(b.Version)
		c.addProblems(levelWarning, b.result.Warnings)
	}
	if o.NoTypes {
		c.NotChecked = append(c.NotChecked, "types: disabled by an option")
	} else if err := c.checkTypes(ctx, dir); err != nil {
		return nil, err
	}
	if b != nil {
		c.applyRules(b)
		c.Undos = describeUndos(b.Plugin)
	}
	slices.SortStableFunc(c.Findings, func(x, y Finding) int { return slices.Index(levels, x.Level) - slices.Index(levels, y.Level) })
	for _, f := range c.Findings {
		switch f.Level {
		case levelError:
			c.Errors++
		case levelWarning:
			c.Warnings++
		}
	}
	return c, nil
}

// addProblems adds findings of the rule "build".
func (c *CheckResult) addProblems(level Level, problems []jsbuild.Problem) {
	for _, p := range problems {
		text := p.Text
		if line := strings.TrimSpace(p.Line); line != "" {
			text += "\n" + line
		}
		c.Findings = append(c.Findings, Finding{"build", level, p.Where, text})
	}
}

// applyRules runs all rules and adds their findings.
func (c *CheckResult) applyRules(b *tempBuild) {
	for _, ruleToApply := range rules {
		ruleToApply.check(b, func(where, format string, args ...any) {
			c.Findings = append(c.Findings, Finding{ruleToApply.ID, ruleToApply.level, where, fmt.Sprintf(format, args...)})
		})
	}
}
