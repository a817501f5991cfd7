package doctor

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/clients"
	"opentabs/internal/httpapi"
	"opentabs/internal/timeouts"
)

func describeClientTimeout(client httpapi.MCPClient) string {
	t := client.Timeout
	if t == nil {
		if profile := clients.Of(client.Name, client.Version); profile.IsKnown() {
			knownTimeout := profile.TransportTimeout(client.Transport == "http")
			return fmt.Sprintf("waits %s for a call", waitText(knownTimeout.Limit, knownTimeout.ProgressRestarts))
		}
		return "waits for a call as long as the call runs; opentabs learns its timeout if it gives up on a call"
	}
	waitPhrase := fmt.Sprintf("waits %s for a call", waitText(time.Duration(t.LimitMs)*time.Millisecond, t.ProgressRestarts))
	switch t.Source {
	case httpapi.TimeoutSourceLearned:
		waitPhrase += ", as opentabs learned from a call that it gave up"
	case httpapi.TimeoutSourceUser:
		waitPhrase += ", as you set it"
	}
	return waitPhrase
}

func (c *healthCheck) checkTimeouts() {
	store := timeouts.Open(c.dirs.State, c.warnUser, zerolog.Nop())
	if err := store.Problem(); err != nil {
		c.reportWarning("client timeouts", fmt.Sprintf("the timeouts of clients cannot be read: %v", err), "restart opentabs, which renames the damaged file: opentabs restart")
		return
	}
	for _, e := range store.List() {
		if e.IsSetByUser {
			c.reportOK("client timeouts", "calls of %s become jobs before %s, as you set it", e.FormatClient(), e.FormatLimit())
			continue
		}
		c.reportOK("client timeouts", "%s gave up a call after %s, so its later calls become jobs before that; if it waits longer: opentabs client timeout set %q TIME", e.FormatClient(), e.FormatLimit(), e.Name)
	}
}
