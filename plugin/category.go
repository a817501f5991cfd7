package plugin

import "slices"

// ToolsByCategory puts the tools of one category together, in the order in which the
// categories come; those without one are the last.
func (p *Plugin) ToolsByCategory() []*Tool {
	rank := map[string]int{}
	for i, t := range p.Tools {
		if _, known := rank[t.Group]; !known {
			rank[t.Group] = i
		}
	}
	rank[""] = len(p.Tools)
	tools := slices.Clone(p.Tools)
	slices.SortStableFunc(tools, func(a, b *Tool) int { return rank[a.Group] - rank[b.Group] })
	return tools
}

// otherTools is the heading of tools without a category, if there are others.
const otherTools = "Other"

// EachCategory calls f with each category of the plugin's tools and its tools. A
// plugin without categories has one, "".
func (p *Plugin) EachCategory(f func(category string, tools []*Tool)) {
	tools := p.ToolsByCategory()
	for len(tools) > 0 {
		n := 1
		for n < len(tools) && tools[n].Group == tools[0].Group {
			n++
		}
		category := tools[0].Group
		if category == "" && n < len(p.Tools) {
			category = otherTools
		}
		f(category, tools[:n])
		tools = tools[n:]
	}
}
