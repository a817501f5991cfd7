package dispatch

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"opentabs/wire"
)

// chooseTargets never chooses between two browsers or two instances of a site, because the user may have a different
// account in each. If only one browser or instance has a ready document, the user is probably logged in only there, so
// chooseTargets ignores the others.
func chooseTargets(targets Targets, targetChoice TargetChoice, req *Call) ([]Target, *targetProblem) {
	liveTargets := matchingTargets(targets.LiveTargets, targetChoice)
	if len(liveTargets) == 0 {
		return nil, newTargetProblem(targets, targetChoice, req)
	}
	if req.TabID != 0 {
		if spansSeveralBrowsers(liveTargets) {
			return nil, &targetProblem{err: &wire.CallError{
				Code:    wire.ErrAmbiguousTarget,
				Message: fmt.Sprintf("several browsers have a tab %d: %s; name the browser too", req.TabID, describeTargets(liveTargets)),
			}}
		}
		return liveTargets, nil
	}
	liveTargets = filterUsableGroups(liveTargets, func(t Target) string { return t.Browser })
	if spansSeveralBrowsers(liveTargets) {
		return nil, &targetProblem{err: &wire.CallError{
			Code:    wire.ErrAmbiguousTarget,
			Message: "tabs of several browsers match: " + describeTargets(liveTargets) + "; name one of the browsers",
		}}
	}
	instanceOf := func(t Target) string { return InstanceName(req.Tool.Instances, t.URL) }
	liveTargets = filterUsableGroups(liveTargets, instanceOf)
	if firstInstance := instanceOf(liveTargets[0]); slices.ContainsFunc(liveTargets, func(t Target) bool { return instanceOf(t) != firstInstance }) {
		return nil, &targetProblem{err: newAmbiguousInstanceError(liveTargets, req.Tool.Instances)}
	}
	return liveTargets, nil
}

func filterUsableGroups(liveTargets []Target, groupKey func(Target) string) []Target {
	usableGroups := map[string]bool{}
	for _, t := range liveTargets {
		if t.Readiness != ReadinessNotReady {
			usableGroups[groupKey(t)] = true
		}
	}
	if len(usableGroups) == 0 {
		return liveTargets
	}
	return filterTargets(liveTargets, func(t *Target) bool { return usableGroups[groupKey(*t)] })
}

func filterTargets(targets []Target, isWanted func(*Target) bool) []Target {
	for i := range targets {
		if isWanted(&targets[i]) {
			continue
		}
		filteredTargets := slices.Clone(targets[:i])
		for j := i + 1; j < len(targets); j++ {
			if isWanted(&targets[j]) {
				filteredTargets = append(filteredTargets, targets[j])
			}
		}
		return filteredTargets
	}
	return targets
}

func spansSeveralBrowsers(targets []Target) bool {
	return slices.ContainsFunc(targets, func(t Target) bool { return t.Browser != targets[0].Browser })
}

func matchingTargets(targets []Target, targetChoice TargetChoice) []Target {
	return filterTargets(targets, func(t *Target) bool { return targetChoice.Allows(*t) })
}

func (c *Call) targetChoice(mayOpen func(plugin string) bool) (TargetChoice, *wire.CallError) {
	targetChoice := TargetChoice{Plugin: c.Tool.Plugin, Browser: c.Browser, TabID: c.TabID, Client: c.Client, URLToOpen: c.Tool.OpenURL}
	if c.Instance != "" {
		for _, i := range c.Tool.Instances {
			if i.Name == c.Instance {
				targetChoice.Sites = append(targetChoice.Sites, i.URL)
			}
		}
		if len(targetChoice.Sites) == 0 {
			return targetChoice, &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(
				"%s has no instance %q; it has %s", c.Tool.displayName(), c.Instance, describeInstances(c.Tool.Instances))}
		}
		targetChoice.URLToOpen = targetChoice.Sites[0]
	}
	if c.TabID != 0 || mayOpen == nil || !mayOpen(c.Tool.Plugin) {
		targetChoice.URLToOpen = ""
	}
	return targetChoice, nil
}

func (t *Tool) displayName() string {
	if t.PluginName != "" {
		return t.PluginName
	}
	return t.Plugin
}

func newAmbiguousInstanceError(liveTargets []Target, instances []Instance) *wire.CallError {
	var targetNames, seenNames []string
	for _, t := range liveTargets {
		name := InstanceName(instances, t.URL)
		if slices.Contains(seenNames, name) {
			continue
		}
		seenNames = append(seenNames, name)
		choice := describeTargets([]Target{t})
		if name != "" {
			choice = fmt.Sprintf("%q in %s", name, choice)
		}
		targetNames = append(targetNames, choice)
	}
	names := joinNames(targetNames, func(c string) string { return c })
	return &wire.CallError{
		Code: wire.ErrAmbiguousTarget, Message: fmt.Sprintf(`tabs of several instances match: %s; name one as "instance"`, names),
		UserText: fmt.Sprintf("Tabs of several instances match: %s. Choose one of the tabs with --tab.", names),
	}
}

// InstanceName returns the name of the instance that has the host and port of a URL, or an
// empty string if no instance matches.
func InstanceName(instances []Instance, address string) string {
	for _, i := range instances {
		if haveSameHost(i.URL, address) {
			return i.Name
		}
	}
	return ""
}

// The hosts localhost, 127.0.0.1 and ::1 count as equal, because a user may configure localhost but open 127.0.0.1.
func haveSameHost(a, b string) bool {
	hostA, portA, isValidA := hostAndPort(a)
	hostB, portB, isValidB := hostAndPort(b)
	return isValidA && isValidB && hostA == hostB && portA == portB
}

func (t Target) isSameTab(otherTarget Target) bool {
	return t.Browser == otherTarget.Browser && t.TabID == otherTarget.TabID
}

func hostAndPort(address string) (host, port string, ok bool) {
	scheme, schemelessURL, _ := strings.Cut(address, "://")
	if hostEndIndex := strings.IndexAny(schemelessURL, `/?#\`); hostEndIndex >= 0 {
		schemelessURL = schemelessURL[:hostEndIndex]
	}
	u, err := url.Parse(scheme + "://" + schemelessURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	host, port = strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if host == "127.0.0.1" || host == "::1" {
		host = "localhost"
	}
	return host, port, host != ""
}

const maxNamedTargets = 8

func describeTargets(targets []Target) string {
	return joinNames(targets, func(t Target) string {
		frame := ""
		if t.FrameID != 0 {
			frame = fmt.Sprintf("frame %d of ", t.FrameID)
		}
		return fmt.Sprintf("%stab %d of browser %q, id %s (%s)", frame, t.TabID, t.BrowserName, t.Browser, t.URL)
	})
}

func describeBrowsers(targets []Target) string {
	return joinNames(targets, func(t Target) string { return fmt.Sprintf("browser %q, id %s", t.BrowserName, t.Browser) })
}

func describeInstances(instances []Instance) string {
	if len(instances) == 0 {
		return "none"
	}
	return joinNames(instances, func(i Instance) string { return fmt.Sprintf("%q (%s)", i.Name, i.URL) })
}

func joinNames[T any](items []T, nameOf func(T) string) string {
	var names []string
	for _, item := range items[:min(len(items), maxNamedTargets)] {
		names = append(names, nameOf(item))
	}
	nameList := strings.Join(names, ", ")
	if len(items) > maxNamedTargets {
		nameList += fmt.Sprintf(" and %d more", len(items)-maxNamedTargets)
	}
	return nameList
}
