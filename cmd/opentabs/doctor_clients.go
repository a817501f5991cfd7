package main

import (
	"fmt"
	"time"

	"opentabs/internal/clients"
	"opentabs/internal/terminal"
	"opentabs/internal/timetext"
)

// clientProfile is a clients.Profile in the words of --json.
type clientProfile struct {
	Client string   `json:"client"`
	Names  []string `json:"names,omitempty"`
	From   string   `json:"from,omitempty"`
	Before string   `json:"before,omitempty"`
	// TimeoutMs is in milliseconds, 0 for no limit; HTTPTimeoutMs is the same over
	// HTTP, if it differs.
	TimeoutMs     int64           `json:"timeout_ms"`
	HTTPTimeoutMs int64           `json:"http_timeout_ms,omitempty"`
	Resets        bool            `json:"progress_resets"`
	Progress      clients.Support `json:"shows_progress"`
	Images        clients.Support `json:"images"`
	ListChanged   clients.Support `json:"list_changed"`
	Elicitation   clients.Support `json:"elicitation"`
	Note          string          `json:"note,omitempty"`
	Sources       []clientSource  `json:"sources"`
}

// clientSource is where a fact was read.
type clientSource struct {
	URL  string `json:"url"`
	Date string `json:"date"`
}

func clientProfiles() []clientProfile {
	var all []clientProfile
	for _, p := range clients.Table() {
		one := clientProfile{
			Client: p.Client, Names: p.Names, From: p.From, Before: p.Before,
			TimeoutMs: p.Timeout.Milliseconds(), HTTPTimeoutMs: p.HTTPTimeout.Milliseconds(), Resets: p.Resets,
			Progress: p.ShowsProgress, Images: p.Images, ListChanged: p.ListChanged, Elicitation: p.Elicitation,
			Note: p.Note, Sources: []clientSource{},
		}
		for _, s := range p.Sources {
			one.Sources = append(one.Sources, clientSource(s))
		}
		all = append(all, one)
	}
	return all
}

// checkClients tells of each MCP client that is connected how long it waits.
func (c *checkup) checkClients() {
	if c.status == nil {
		return
	}
	for _, client := range c.status.Clients {
		p := clients.Of(client.Name, client.Version)
		c.ok("client", "%s, by %s, waits %s for a call", clientName(client), client.Transport, patience(p.Patience(client.Transport == "http"), p.Resets))
	}
}

// patience says how long a client waits.
func patience(d time.Duration, resets bool) string {
	switch {
	case d == 0:
		return "without limit"
	case resets:
		return timetext.Short(d) + " after each report"
	}
	return timetext.Short(d)
}

// showClients prints what is known of MCP clients.
func showClients(out *terminal.Output) {
	out.PrintLine("")
	out.PrintLine("What is known of MCP clients (`opentabs doctor --json` has the sources):")
	rows := [][]string{{"CLIENT", "WAITS", "PROGRESS", "PICTURES", "NEW TOOLS", "QUESTIONS"}}
	for _, p := range clients.Table() {
		name := p.Client
		if name == "" {
			name = "any other"
		}
		waits := patience(p.Timeout, p.Resets)
		if p.HTTPTimeout > 0 {
			waits += fmt.Sprintf(" (HTTP: %s)", timetext.Short(p.HTTPTimeout))
		}
		rows = append(rows, []string{
			name + versions(p.From, p.Before), waits,
			string(p.ShowsProgress), string(p.Images), string(p.ListChanged), string(p.Elicitation),
		})
	}
	out.PrintTable("  ", rows, "NEW TOOLS", "PICTURES", "PROGRESS")
}

// versions spells a range of versions, behind a name.
func versions(from, before string) string {
	switch {
	case from == "" && before == "":
		return ""
	case before == "":
		return " from " + from
	case from == "":
		return " before " + before
	}
	return " " + from + " to " + before
}
