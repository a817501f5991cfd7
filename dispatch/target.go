package dispatch

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"opentabs/dispatch/errtext"
	"opentabs/wire"
)

// chooseTargets returns the documents in which the call may run, best first. The next
// document is tried if the adapter is not ready in the one before. chooseTargets never
// chooses between two browsers or two instances, because they may be two accounts. A
// browser or instance without a ready document is ignored if another browser or
// instance has one: the user is not logged in there.
func chooseTargets(all Targets, want Want, req *Call) ([]Target, *wire.CallError) {
	live := matchingTargets(all.Live, want)
	if len(live) == 0 {
		return nil, noTarget(all, want, req)
	}
	if req.TabID != 0 {
		if len(browsersOf(live)) > 1 {
			return nil, &wire.CallError{
				Code:    wire.ErrAmbiguousTarget,
				Message: fmt.Sprintf("several browsers have a tab %d: %s; name the browser too", req.TabID, nameTargets(live)),
			}
		}
		return live, nil
	}
	live = amongUsable(live, func(t Target) string { return t.Browser })
	if len(browsersOf(live)) > 1 {
		return nil, &wire.CallError{
			Code:    wire.ErrAmbiguousTarget,
			Message: "tabs of several browsers match: " + nameTargets(live) + "; name one",
		}
	}
	instance := func(t Target) string { return InstanceOf(req.Tool.Instances, t.URL) }
	live = amongUsable(live, instance)
	if first := instance(live[0]); slices.ContainsFunc(live, func(t Target) bool { return instance(t) != first }) {
		return nil, severalInstances(live, req.Tool.Instances)
	}
	return live, nil
}

// amongUsable removes the targets of each group, such as a browser, without a target
// that may be ready, unless that would remove all.
func amongUsable(live []Target, group func(Target) string) []Target {
	usable := map[string]bool{}
	for _, t := range live {
		if t.Readiness != NotReady {
			usable[group(t)] = true
		}
	}
	if len(usable) == 0 {
		return live
	}
	return slices.DeleteFunc(slices.Clone(live), func(t Target) bool { return !usable[group(t)] })
}

// browsersOf returns the IDs of the browsers of targets, each once.
func browsersOf(targets []Target) []string {
	var ids []string
	for _, t := range targets {
		if !slices.Contains(ids, t.Browser) {
			ids = append(ids, t.Browser)
		}
	}
	return ids
}

// matchingTargets returns the targets that want allows.
func matchingTargets(targets []Target, want Want) []Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return !want.Allows(t) })
}

// targetChoice returns the call's choice of a target. targetChoice fails for an unknown instance.
func (c *Call) targetChoice(mayOpen func(plugin string) bool) (Want, *wire.CallError) {
	w := Want{Plugin: c.Tool.Plugin, Browser: c.Browser, TabID: c.TabID, Open: c.Tool.OpensAt}
	if c.Instance != "" {
		for _, i := range c.Tool.Instances {
			if i.Name == c.Instance {
				w.Sites = append(w.Sites, i.URL)
			}
		}
		if len(w.Sites) == 0 {
			return w, &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(
				"%s has no instance %q; it has %s", c.Tool.displayName(), c.Instance, nameInstances(c.Tool.Instances))}
		}
		w.Open = w.Sites[0]
	}
	if c.TabID != 0 || mayOpen == nil || !mayOpen(c.Tool.Plugin) {
		w.Open = ""
	}
	return w, nil
}

// displayName returns the plugin's name for users.
func (t *Tool) displayName() string {
	if t.PluginName != "" {
		return t.PluginName
	}
	return t.Plugin
}

// noTarget returns the error of a call without a document.
func noTarget(all Targets, want Want, req *Call) *wire.CallError {
	name := req.Tool.displayName()
	silent := matchingTargets(all.Silent, want)
	reload, broken, loading := matchingTargets(all.NeedReload, want), matchingTargets(all.Broken, want), matchingTargets(all.Loading, want)
	failed := matchingTargets(all.Failed, want)
	switch {
	case all.Browsers == 0:
		return &wire.CallError{Code: wire.ErrNoBrowser, Message: "no browser with the opentabs extension is connected"}
	case all.Opened != nil && slices.ContainsFunc(failed, all.Opened.isSameTab):
		at := slices.IndexFunc(failed, all.Opened.isSameTab)
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s was opened for the call, but its page can't be loaded: %s", nameTargets(failed[at:at+1]), errtext.LoadError(failed[at].Problem))}
	case all.Opened != nil:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s was opened for the call, but %s did not start there; check the tab, the page may require a login",
			nameTargets([]Target{*all.Opened}), name)}
	case len(matchingTargets(all.Arriving, want)) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s is open, but plugins are still being loaded into the browser (%s); call again in a few seconds",
			name, nameTargets(matchingTargets(all.Arriving, want)))}
	case all.Syncing:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"plugins are still being loaded into the browser, so tabs of %s may not be recognized yet; call again in a few seconds", name)}
	case len(broken) > 0:
		return &wire.CallError{Code: wire.ErrPluginBroken, Message: fmt.Sprintf(
			"the plugin %s did not start in its page: %s; none of its tools can run in %s",
			req.Tool.Plugin, broken[0].Problem, nameTargets(broken))}
	case len(silent) > 0:
		return &wire.CallError{Code: wire.ErrPageUnresponsive, Message: fmt.Sprintf(
			"%s is open, but its page does not answer (%s)", name, nameTargets(silent))}
	case len(reload) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s is open, but its page was loaded before the plugin was added or changed (%s); reload the tab",
			name, nameTargets(reload))}
	case len(loading) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s is open, but its page is still loading or updating the plugin (%s); retry in a few seconds",
			name, nameTargets(loading))}
	case len(failed) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s is open, but its page can't be loaded (%s): %s", name, nameTargets(failed), errtext.LoadError(failed[0].Problem))}
	case len(all.Openers) > 1:
		return &wire.CallError{Code: wire.ErrAmbiguousTarget, Message: fmt.Sprintf(
			"no open tab shows %s, and several browsers could open one: %s; name one", name, nameBrowsers(all.Openers))}
	case len(all.Live)+len(all.Silent) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"the tab, browser or instance that was named does not show %s; these do: %s", name, nameTargets(slices.Concat(all.Live, all.Silent)))}
	default:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"no open tab shows %s (%s)", name, strings.Join(req.Tool.Matches, ", "))}
	}
}

// severalInstances returns the error of a call that names no instance. The error lists
// the best tab of each instance.
func severalInstances(live []Target, instances []Instance) *wire.CallError {
	var choices, seen []string
	for _, t := range live {
		name := InstanceOf(instances, t.URL)
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		choice := nameTargets([]Target{t})
		if name != "" {
			choice = fmt.Sprintf("%q in %s", name, choice)
		}
		choices = append(choices, choice)
	}
	return &wire.CallError{Code: wire.ErrAmbiguousTarget, Message: fmt.Sprintf(
		`tabs of several instances match: %s; name one as "instance"`, nameAll(choices, func(c string) string { return c }))}
}

// InstanceOf returns the name of the instance of a URL; empty if there is none.
func InstanceOf(instances []Instance, at string) string {
	for _, i := range instances {
		if sameHost(i.URL, at) {
			return i.Name
		}
	}
	return ""
}

// sameHost reports whether two URLs have the same host and port. All names of this
// machine's loopback are one host: a user who has configured localhost may have
// 127.0.0.1 open.
func sameHost(a, b string) bool {
	hostA, portA, okA := hostOf(a)
	hostB, portB, okB := hostOf(b)
	return okA && okB && hostA == hostB && portA == portB
}

// isSameTab reports whether two targets are in the same tab.
func (t Target) isSameTab(other Target) bool {
	return t.Browser == other.Browser && t.TabID == other.TabID
}

// hostOf returns the host and port of an http or https URL. The path and the query of
// the URL may be invalid.
func hostOf(text string) (host, port string, ok bool) {
	scheme, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	u, err := url.Parse(scheme + "://" + rest)
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

// maxListed limits the targets that an error names.
const maxListed = 8

// nameTargets names targets for an error.
func nameTargets(targets []Target) string {
	return nameAll(targets, func(t Target) string {
		frame := ""
		if t.FrameID != 0 {
			frame = fmt.Sprintf("frame %d of ", t.FrameID)
		}
		return fmt.Sprintf("%stab %d of browser %q, id %s (%s)", frame, t.TabID, t.BrowserName, t.Browser, t.URL)
	})
}

// nameBrowsers names the browsers of targets.
func nameBrowsers(targets []Target) string {
	return nameAll(targets, func(t Target) string { return fmt.Sprintf("browser %q, id %s", t.BrowserName, t.Browser) })
}

func nameInstances(instances []Instance) string {
	if len(instances) == 0 {
		return "none"
	}
	return nameAll(instances, func(i Instance) string { return fmt.Sprintf("%q (%s)", i.Name, i.URL) })
}

func nameAll[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all[:min(len(all), maxListed)] {
		names = append(names, name(one))
	}
	text := strings.Join(names, ", ")
	if len(all) > maxListed {
		text += fmt.Sprintf(" and %d more", len(all)-maxListed)
	}
	return text
}
