package doctor

import (
	"fmt"
	"time"

	"opentabs/internal/clients"
	"opentabs/internal/humanize"
)

// clientProfile is a clients.Profile as printed by `opentabs doctor --json`.
type clientProfile struct {
	Client        string   `json:"client"`
	Names         []string `json:"names,omitempty"`
	FromVersion   string   `json:"from,omitempty"`
	BeforeVersion string   `json:"before,omitempty"`
	// TimeoutMs is the client's timeout for a call in milliseconds. 0 means no timeout.
	// HTTPTimeoutMs is set only if the client's timeout over HTTP differs from TimeoutMs.
	TimeoutMs               int64                `json:"timeout_ms"`
	HTTPTimeoutMs           int64                `json:"http_timeout_ms,omitempty"`
	ProgressRestartsTimeout bool                 `json:"progress_resets"`
	Progress                clients.SupportLevel `json:"shows_progress"`
	Images                  clients.SupportLevel `json:"images"`
	ListChanged             clients.SupportLevel `json:"list_changed"`
	Elicitation             clients.SupportLevel `json:"elicitation"`
	Note                    string               `json:"note,omitempty"`
	Sources                 []clientSource       `json:"sources"`
}

// clientSource is the web page that documents a fact about an MCP client.
type clientSource struct {
	URL  string `json:"url"`
	Date string `json:"date"`
}

func clientProfiles() []clientProfile {
	var profiles []clientProfile
	for _, p := range clients.Table() {
		profile := clientProfile{
			Client: p.Client, Names: p.Names, FromVersion: p.FromVersion, BeforeVersion: p.BeforeVersion,
			TimeoutMs: p.Timeout.Milliseconds(), HTTPTimeoutMs: p.HTTPTimeout.Milliseconds(), ProgressRestartsTimeout: p.ProgressRestartsTimeout,
			Progress: p.ShowsProgress, Images: p.Images, ListChanged: p.ListChanged, Elicitation: p.Elicitation,
			Note: p.Note, Sources: []clientSource{},
		}
		for _, s := range p.Sources {
			profile.Sources = append(profile.Sources, clientSource(s))
		}
		profiles = append(profiles, profile)
	}
	return profiles
}

func (c *healthCheck) checkClients() {
	if c.status == nil {
		return
	}
	for _, client := range c.status.Clients {
		c.reportOK("client", "%s, by %s, %s", client.DisplayName(), client.Transport, describeClientTimeout(client))
	}
}

func waitText(timeout time.Duration, progressRestarts bool) string {
	switch {
	case timeout == 0:
		return "without limit"
	case progressRestarts:
		return humanize.Duration(timeout) + " after each report"
	}
	return humanize.Duration(timeout)
}

func formatClientTable() [][]string {
	tableRows := [][]string{{"CLIENT", "WAITS", "PROGRESS", "PICTURES", "NEW TOOLS", "FORMS"}}
	for _, p := range clients.Table() {
		name := p.Client
		if name == "" {
			name = "any other"
		}
		timeoutCell := waitText(p.Timeout, p.ProgressRestartsTimeout)
		if !p.IsKnown() {
			timeoutCell = "learned"
		}
		if p.HTTPTimeout > 0 {
			timeoutCell += fmt.Sprintf(" (HTTP: %s)", humanize.Duration(p.HTTPTimeout))
		}
		tableRows = append(tableRows, []string{
			name + versionRange(p.FromVersion, p.BeforeVersion), timeoutCell,
			string(p.ShowsProgress), string(p.Images), string(p.ListChanged), string(p.Elicitation),
		})
	}
	return tableRows
}

func versionRange(minVersion, textBefore string) string {
	switch {
	case minVersion == "" && textBefore == "":
		return ""
	case textBefore == "":
		return " from " + minVersion
	case minVersion == "":
		return " before " + textBefore
	}
	return " " + minVersion + " to " + textBefore
}
