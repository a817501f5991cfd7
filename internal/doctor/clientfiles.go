package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/humanize"
	"opentabs/internal/mcpclient"
	"opentabs/internal/setup"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
)

const clientFileCheck = "client file"

// clientFileChecks checks the configuration files of MCP clients.
type clientFileChecks struct{ *healthCheck }

func (c clientFileChecks) checkClientFiles(ctx context.Context) {
	if c.Machine == nil {
		return
	}
	tokens := clienttoken.Open(c.dirs.ClientsFile())
	knownClients, err := tokens.List()
	if err != nil {
		c.reportFailure(clientFileCheck, fmt.Sprintf("the tokens of MCP clients in %s are damaged or cannot be read, so no client has a token", c.dirs.ClientsFile()), "run `opentabs restart`, which keeps the damaged file under another name, then run `opentabs setup`")
		return
	}
	allClients, isInstalled := setup.Clients(*c.Machine)
	foundCount := 0
	for _, client := range allClients {
		hasClientToken := slices.ContainsFunc(knownClients, func(k clienttoken.Client) bool { return k.Name == client.ID })
		if !isInstalled(client) {
			continue
		}
		configured, err := setup.ReadConfigured(client, clienttoken.Prefix)
		switch {
		case errors.Is(err, setup.ErrNotConfigured) && !hasClientToken:
			continue
		case errors.Is(err, setup.ErrNotConfigured):
			c.reportWarning(clientFileCheck, fmt.Sprintf("opentabs is no longer in the configuration of %s, %s", client.Title, client.File), setupRemedy(client))
			c.offerClientSetup(client)
		case err != nil && hasClientToken:
			c.reportFailure(clientFileCheck, fmt.Sprintf("%s: %v", client.Title, err), "correct the file; a copy from before `opentabs setup` is in "+c.dirs.SetupDir())
		case err != nil:
			c.reportWarning(clientFileCheck, fmt.Sprintf("%s: %v", client.Title, err), "correct the file, then run `opentabs setup --client "+client.ID+"`")
		default:
			c.checkConfiguredClient(ctx, client, configured, tokens)
		}
		foundCount++
	}
	if foundCount == 0 {
		c.reportOK(clientFileCheck, "no MCP client on this computer is set up; `opentabs setup` does that")
		c.markLastNotSetUp()
	}
}

func setupRemedy(client setup.Client) string {
	return "run `opentabs setup --client " + client.ID + "`"
}

func (c clientFileChecks) offerClientSetup(client setup.Client) {
	if c.SetUpClient == nil {
		return
	}
	c.offerRepair(func(ctx context.Context) (string, error) {
		return fmt.Sprintf("wrote opentabs with a new token into the configuration of %s, %s", client.Title, client.File), c.SetUpClient(ctx, client.ID)
	})
}

func (c clientFileChecks) checkConfiguredClient(ctx context.Context, client setup.Client, configured setup.ConfiguredServer, tokens *clienttoken.Store) {
	if configured.IsDisabled {
		c.reportWarning(clientFileCheck, fmt.Sprintf("opentabs is switched off in the configuration of %s, %s", client.Title, client.File), "switch the server opentabs on in "+client.Title)
		return
	}
	if configured.Command.Path == "" {
		c.checkConfiguredURL(ctx, client, configured, tokens)
		return
	}
	if err := configured.Command.FindProgram(); err != nil {
		c.reportFailure(clientFileCheck, fmt.Sprintf("%s cannot start opentabs: %v", client.Title, err), setupRemedy(client))
		c.offerClientSetup(client)
		return
	}
	token, isSameHome := configured.Token(), c.isSameHome(configured.Command.Env[config.HomeVariable])
	switch {
	case !isSameHome: // the client's command would start a server of the other installation
		reason := "has no OPENTABS_HOME"
		if value := configured.Command.Env[config.HomeVariable]; value != "" {
			reason = "has the OPENTABS_HOME " + value
		}
		c.reportWarning(clientFileCheck, fmt.Sprintf("%s uses another installation of opentabs, because %s %s", client.Title, client.File, reason),
			setupRemedy(client)+", or change OPENTABS_HOME")
		c.offerClientSetup(client)
		return
	case token == "":
		c.reportWarning(clientFileCheck, fmt.Sprintf("%s has no token in %s, so approvals for it do not stay apart from those of other clients", client.Title, client.File), setupRemedy(client))
		c.offerClientSetup(client)
		return
	case tokens.NameOf(token) == "":
		c.reportFailure(clientFileCheck, fmt.Sprintf("the token of %s in %s is not valid: it was removed or changed", client.Title, client.File), setupRemedy(client))
		c.offerClientSetup(client)
		return
	case tokens.NameOf(token) != client.ID:
		c.reportFailure(clientFileCheck, describeSwappedToken(client, tokens.NameOf(token)), setupRemedy(client))
		c.offerClientSetup(client)
		return
	case c.isPortTaken || !c.areSettingsValid || c.isTokenDamaged:
		c.reportWarning(clientFileCheck, client.Title+" was not tried, because no server of this installation can run", "first repair what failed above")
		return
	}
	c.runConfiguredCommand(ctx, client, configured)
}

func describeSwappedToken(client setup.Client, owner string) string {
	return fmt.Sprintf("%s has the token of the client %s in %s, so opentabs treats its calls as calls of %[2]s", client.Title, owner, client.File)
}

func (c clientFileChecks) isSameHome(value string) bool {
	dirs, err := config.FindDirs(func(name string) string {
		if name == config.HomeVariable {
			return value
		}
		return c.getenv(name)
	})
	return err == nil && filepath.Clean(dirs.State) == filepath.Clean(c.dirs.State)
}

// runConfiguredCommand stops a server that the client's command has started.
func (c clientFileChecks) runConfiguredCommand(ctx context.Context, client setup.Client, configured setup.ConfiguredServer) {
	startedAt := time.Now()
	toolCount, err := setup.Verify(ctx, configured.Command)
	elapsedTime := time.Since(startedAt)
	if c.status == nil {
		if _, err := c.findHome().StopServer(ctx, false); err == nil {
			c.reportOK("server", "the command of %s started a server, which was stopped again", client.Title)
		}
	}
	switch {
	case err != nil:
		c.reportFailure(clientFileCheck, fmt.Sprintf("%s runs %s, which failed: %s", client.Title, configured.Command.Path, firstLine(err)), setupRemedy(client)+", which writes the command again; that command in a terminal shows more")
		c.offerClientSetup(client)
	default:
		c.reportOK(clientFileCheck, "%s: its command lists %s, in %s", client.Title, terminal.CountNoun(toolCount, "tool"), humanize.Duration(elapsedTime))
	}
}

// The name of a token that is used over HTTP need not be the ID of an MCP client.
func (c clientFileChecks) isNameOfOtherClient(client setup.Client, name string) bool {
	allClients, _ := setup.Clients(*c.Machine)
	return name != client.ID && slices.ContainsFunc(allClients, func(otherClient setup.Client) bool { return otherClient.ID == name })
}

func (c clientFileChecks) checkConfiguredURL(ctx context.Context, client setup.Client, configured setup.ConfiguredServer, tokens *clienttoken.Store) {
	address, err := url.Parse(configured.URL)
	switch {
	case err != nil || address.Host == "":
		c.reportFailure(clientFileCheck, fmt.Sprintf("%s has no valid URL of opentabs in %s", client.Title, client.File), setupRemedy(client))
		return
	case c.status != nil && address.Port() != strconv.Itoa(c.server.Port):
		c.reportFailure(clientFileCheck, fmt.Sprintf("%s connects to %s, but the server uses port %d", client.Title, configured.URL, c.server.Port),
			"correct the port in "+client.File)
		return
	case configured.Token() == "" || tokens.NameOf(configured.Token()) == "":
		c.reportFailure(clientFileCheck, fmt.Sprintf("the token of %s in %s is missing or not valid", client.Title, client.File), "run `opentabs client add "+client.ID+"`, and put the token into the file")
		return
	case c.isNameOfOtherClient(client, tokens.NameOf(configured.Token())):
		c.reportFailure(clientFileCheck, describeSwappedToken(client, tokens.NameOf(configured.Token())), "run `opentabs client add "+client.ID+"`, and put the token into the file")
		return
	case c.status == nil:
		c.reportWarning(clientFileCheck, fmt.Sprintf("%s connects to %s, where no server of this installation runs", client.Title, configured.URL), "start the server with `opentabs serve`, or use a command instead: "+setupRemedy(client))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	session := mcpclient.New(mcpclient.Options{URL: configured.URL, Token: configured.Token(), Name: "opentabs doctor", Version: version.Version})
	startedAt := time.Now()
	_, err = session.Initialize(ctx)
	if closeErr := session.Close(ctx); err == nil {
		err = closeErr
	}
	if err != nil {
		c.reportFailure(clientFileCheck, fmt.Sprintf("%s connects to %s, which failed: %s", client.Title, configured.URL, home.ExplainError(err)), "correct the URL and the token in "+client.File)
		return
	}
	c.reportOK(clientFileCheck, "%s: %s answers, in %s", client.Title, configured.URL, humanize.Duration(time.Since(startedAt)))
}
