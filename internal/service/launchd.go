package service

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

const agentLabel = "opentabs.server"

// The type launchd manages the opentabs service as a launchd agent of the user.
type launchd struct{ machine Machine }

func (l launchd) file() string {
	return filepath.Join(l.machine.Home, "Library", "LaunchAgents", agentLabel+".plist")
}

func (l launchd) domain() string { return fmt.Sprintf("gui/%d", l.machine.UserID) }

func (l launchd) target() string { return l.domain() + "/" + agentLabel }

func (l launchd) content(c Command) []byte {
	var plist bytes.Buffer
	plist.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by opentabs service install. -->
<plist version="1.0">
<dict>
`)
	writeKey(&plist, "  ", "Label", agentLabel)
	plist.WriteString("  <key>ProgramArguments</key>\n  <array>\n")
	for _, word := range append([]string{c.Path}, c.Args...) {
		fmt.Fprintf(&plist, "    <string>%s</string>\n", escapeXML(word))
	}
	plist.WriteString("  </array>\n")
	if len(c.Env) > 0 {
		plist.WriteString("  <key>EnvironmentVariables</key>\n  <dict>\n")
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			writeKey(&plist, "    ", name, c.Env[name])
		}
		plist.WriteString("  </dict>\n")
	}
	writeKey(&plist, "  ", "StandardErrorPath", c.LogFile)
	// After `opentabs stop`, the server exits with code 0, and launchd does not restart
	// the server.
	plist.WriteString(`  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
`)
	return plist.Bytes()
}

func writeKey(plist *bytes.Buffer, indent, name, value string) {
	fmt.Fprintf(plist, "%s<key>%s</key>\n%s<string>%s</string>\n", indent, escapeXML(name), indent, escapeXML(value))
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeXML(xmlText string) string { return xmlEscaper.Replace(xmlText) }

func (l launchd) checkAvailable(ctx context.Context) error {
	return runCommand(ctx, "launchctl", "print", l.domain())
}

func (l launchd) enable(ctx context.Context) error {
	return runCommand(ctx, "launchctl", "bootstrap", l.domain(), l.file())
}

func (l launchd) start(ctx context.Context) error {
	return runCommand(ctx, "launchctl", "kickstart", l.target())
}

func (l launchd) disable(ctx context.Context) error {
	if _, isLoaded := l.state(ctx); !isLoaded {
		return nil
	}
	return runCommand(ctx, "launchctl", "bootout", l.target())
}

func (l launchd) reloadAfterRemoval(context.Context) error { return nil }

func (l launchd) state(ctx context.Context) (isRunning, isEnabled bool) {
	output, err := runForOutput(ctx, "launchctl", "print", l.target())
	return err == nil && bytes.Contains(output, []byte("state = running")), err == nil
}
