package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/jsbuild"
)

// Level is how much a finding matters.
type Level string

const (
	// levelError is what keeps a plugin from working, or makes it work wrongly.
	levelError Level = "error"
	// levelWarning is what makes it worse than it could be.
	levelWarning Level = "warning"
	// levelSuggestion is what would make it better, and is for the author to choose:
	// it is not counted, and fails no check.
	levelSuggestion Level = "suggestion"
)

// levels are all levels, in the order of findings.
var levels = []Level{levelError, levelWarning, levelSuggestion}

// Finding is one thing that could be better.
type Finding struct {
	// Rule is the id of a rule of [Rules].
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Where is a file, with its line if that is known, or a tool ("list_items") and
	// a field of it ("list_items: input.filter.since"); empty for the whole plugin.
	Where string `json:"where,omitempty"`
	// Text says what was found and what to do.
	Text string `json:"text"`
}

// Checked is what [Check] found.
type Checked struct {
	Plugin  string `json:"plugin,omitempty"`
	Version string `json:"version,omitempty"`
	// Findings are errors first, each in the order of the rules.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	// NotChecked says what could not be looked at, and why.
	NotChecked []string `json:"notChecked,omitempty"`
}

// Rule is one thing that [Check] looks for.
type Rule struct {
	// ID is stable: scripts may name it.
	ID string `json:"id"`
	// Why says what is gained by following it.
	Why string `json:"why"`
}

// Rules are all rules, in the order of findings.
func Rules() []Rule {
	all := []Rule{
		{"build", "A plugin that does not build can't be added, and what a build warns of often fails later."},
		{"types", "The compiler finds what no test runs into. opentabs does not check types itself."},
	}
	for _, one := range rules {
		all = append(all, one.Rule)
	}
	return all
}

// rule is a rule with its check, which tells its findings by calling found.
type rule struct {
	Rule
	level Level
	check func(b *built, found func(where, format string, args ...any))
}

// rules are those about a plugin that builds.
var rules = slices.Concat(packageRules, toolRules, fieldRules)

// CheckOptions say how to check a plugin.
type CheckOptions struct {
	// Build says how it is built to look at it. Default: as jsbuild does.
	Build jsbuild.Options
	// NoTypes leaves the author's compiler out. Default: it is run where it is
	// installed.
	NoTypes bool
}

// Check looks at the plugin in dir. It writes nothing but the types for editors.
// Unless NoTypes is set it runs the compiler that is installed for the plugin,
// which is code of whoever wrote the plugin. An error is returned only if it could
// not look.
func Check(ctx context.Context, dir string, o CheckOptions) (*Checked, error) {
	c := &Checked{Findings: []Finding{}}
	b, drop, err := buildAside(ctx, dir, o.Build)
	var wrong *jsbuild.BuildError
	switch {
	case errors.As(err, &wrong):
		c.problems(levelError, wrong.Problems)
	case err != nil:
		return nil, err
	default:
		defer drop()
		c.Plugin, c.Version = b.Name, oneLine(b.Version)
		c.problems(levelWarning, b.report.Warnings)
	}
	if o.NoTypes {
		c.NotChecked = append(c.NotChecked, "types: they were left out")
	} else if err := c.types(ctx, dir); err != nil {
		return nil, err
	}
	if b != nil {
		c.apply(b)
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

func (c *Checked) problems(level Level, problems []jsbuild.Problem) {
	for _, p := range problems {
		text := p.Text
		if line := strings.TrimSpace(p.Line); line != "" {
			text += "\n" + line
		}
		c.Findings = append(c.Findings, Finding{"build", level, p.Where, text})
	}
}

func (c *Checked) apply(b *built) {
	for _, one := range rules {
		one.check(b, func(where, format string, args ...any) {
			c.Findings = append(c.Findings, Finding{one.ID, one.level, where, fmt.Sprintf(format, args...)})
		})
	}
}
