package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/jsbuild"
)

// Level is the severity of a linter finding.
type Level string

const (
	// levelError marks a defect that keeps the plugin from working correctly.
	levelError Level = "error"
	// levelWarning marks a weakness of the plugin.
	levelWarning Level = "warning"
	// levelSuggestion marks an improvement that the author can ignore; plugins with suggestions pass `plugin check`.
	levelSuggestion Level = "suggestion"
)

var levels = []Level{levelError, levelWarning, levelSuggestion}

// Finding is one place in a plugin that violates a linter rule.
type Finding struct {
	// Rule is the ID of the violated rule in [Rules].
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// The field Location is the place of the problem: a file with an optional line, a tool
	// such as "list_items", or a field such as "list_items: input.filter.since". The
	// field Location is empty if the finding is about the whole plugin.
	Location string `json:"where,omitempty"`
	// Text describes the problem and the action for the author.
	Text string `json:"text"`
}

// CheckResult contains the findings of [Check].
type CheckResult struct {
	Plugin  string `json:"plugin,omitempty"`
	Version string `json:"version,omitempty"`
	// Findings are sorted by level, then by rule.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	// Undos describes how to undo calls of the plugin's tools, with one sentence for each
	// tool that has an undo.
	Undos []string `json:"undos,omitempty"`
	// SkippedChecks lists the linter's checks that did not run, each with the reason.
	SkippedChecks []string `json:"notChecked,omitempty"`
}

// Rule is one rule of the linter for plugins.
type Rule struct {
	// ID never changes, so that scripts can refer to the rule.
	ID string `json:"id"`
	// The field Why explains why the linter has the rule.
	Why string `json:"why"`
}

// Rules returns all rules of the linter, in the order in which findings are sorted.
func Rules() []Rule {
	allRules := []Rule{
		{"build", "A plugin that does not build can't be added. A warning of the build is often an error later."},
		{"types", "The compiler finds mistakes in code that no test runs. opentabs itself does not check types."},
	}
	for _, ruleToApply := range rules {
		allRules = append(allRules, ruleToApply.Rule)
	}
	return allRules
}

// reportFunc adds a finding to the result of a check. The parameter locationText becomes
// Finding.Location; format and args become Finding.Text.
type reportFunc = func(locationText, format string, args ...any)

// The type rule is a linter rule together with the function that checks the rule.
type rule struct {
	Rule
	level Level
	check func(b *tempBuild, report reportFunc)
}

var rules = slices.Concat(packageRules, toolRules, fieldRules)

// CheckOptions configure [Check].
type CheckOptions struct {
	// Build contains the options with which Check builds the plugin. Check ignores the
	// output directory in Build, because it builds into a temporary directory.
	Build jsbuild.Options
	// If SkipTypeCheck is true, Check does not run the TypeScript compiler to check types.
	SkipTypeCheck bool
}

// Check lints the plugin in dir. Check writes no files except the TypeScript types that
// editors read. Unless SkipTypeCheck is set, Check runs the TypeScript compiler in the plugin's
// node_modules, so the plugin must be trusted. Check returns an error only if the linter
// cannot run.
func Check(ctx context.Context, dir string, o CheckOptions) (*CheckResult, error) {
	c := &CheckResult{Findings: []Finding{}}
	b, removeFolder, err := buildTemporary(ctx, dir, o.Build)
	var buildErr *jsbuild.BuildError
	switch {
	case errors.As(err, &buildErr):
		c.addProblems(levelError, buildErr.Problems)
	case err != nil:
		return nil, err
	default:
		defer removeFolder()
		c.Plugin, c.Version = b.Name, joinLines(b.Version)
		c.addProblems(levelWarning, b.result.Warnings)
	}
	if o.SkipTypeCheck {
		c.SkippedChecks = append(c.SkippedChecks, "types: disabled by an option")
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

func (c *CheckResult) addProblems(level Level, problems []jsbuild.Problem) {
	for _, p := range problems {
		problemText := p.Text
		if line := strings.TrimSpace(p.Line); line != "" {
			problemText += "\n" + line
		}
		c.Findings = append(c.Findings, Finding{"build", level, p.Location, problemText})
	}
}

func (c *CheckResult) applyRules(b *tempBuild) {
	for _, ruleToApply := range rules {
		ruleToApply.check(b, func(locationText, format string, args ...any) {
			c.Findings = append(c.Findings, Finding{ruleToApply.ID, ruleToApply.level, locationText, fmt.Sprintf(format, args...)})
		})
	}
}
