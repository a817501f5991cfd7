package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/pluginlog"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

const (
	// attendAgain is the time between two tries to reach a server that has gone.
	attendAgain = 500 * time.Millisecond
	// livePatience is how long tabs may take to take a new build in before they are
	// told as they are, reloadPatience how long before one that seems to want a
	// reload is believed: it also does while one adapter takes the place of the
	// other. livePoll is the time between two looks.
	livePatience   = 5 * time.Second
	reloadPatience = 2 * time.Second
	livePoll       = 20 * time.Millisecond
)

// reach finds the server, or starts one.
func (d *developer) reach(ctx context.Context) (*httpapi.Client, error) {
	client, err := d.home.Client(ctx)
	if errors.Is(err, httpapi.ErrNoServer) {
		if err = d.home.StartServer(ctx); err == nil {
			client, err = d.home.Client(ctx)
		}
	}
	return client, err
}

// attend says to the server that the plugin is being developed and hears what it
// logs, also of a server that comes in the place of the first one, until ctx ends.
// begun gets nil once the first server knows, or why it does not.
func (d *developer) attend(ctx context.Context, client *httpapi.Client, one *plugin.Plugin, begun chan<- error) {
	begin := func() { begun <- nil }
	err := d.attendOnce(ctx, client, one, begin)
	if !errors.Is(err, httpapi.ErrEnded) {
		begun <- err // or nobody reads it any more
		return
	}
	for ctx.Err() == nil {
		d.hear(ctx, func() {
			d.client = nil
			d.program.out.Notef("the server has gone; looking for another")
		})
		for client = nil; client == nil; {
			select {
			case <-time.After(attendAgain):
			case <-ctx.Done():
				return
			}
			client, _ = d.reach(ctx) // what is wrong may pass
		}
		_ = d.attendOnce(ctx, client, one, func() {
			d.hear(ctx, func() {
				d.client = client
				d.program.out.Notef("another server has it now")
			})
		})
	}
}

// attendOnce is attend for one server. It returns why that ended.
func (d *developer) attendOnce(ctx context.Context, client *httpapi.Client, one *plugin.Plugin, begin func()) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		// If the log can't be heard the plugin can still be developed.
		_ = client.FollowLogs(ctx, httpapi.LogQuery{Filter: pluginlog.Filter{Plugin: one.Name}}, httpapi.LogListener{
			Entry: func(e pluginlog.Entry) error {
				d.hear(ctx, func() { d.program.out.PrintLine("%s", devLogLine(e)) })
				return nil
			},
			Missed: func(n int) error {
				d.hear(ctx, func() { d.program.out.Notef("%s of the log were lost", terminal.Plural(n, "entry")) })
				return nil
			},
		})
	}()
	return client.Develop(ctx, one.Dir, d.permission, begin)
}

// hear has run's goroutine say something.
func (d *developer) hear(ctx context.Context, tell func()) {
	select {
	case d.heard <- tell:
	case <-ctx.Done():
	}
}

// devLogLine is an entry of the plugin's log on one line.
func devLogLine(e pluginlog.Entry) string {
	text := fmt.Sprintf("%s %-7s %s", e.Time.Local().Format("15:04:05.000"), e.Level, terminal.SafeLine(e.Message))
	if len(e.Data) > 0 {
		text += " " + terminal.SafeLine(string(e.Data))
	}
	if e.Dropped > 0 {
		text = fmt.Sprintf("(%s before this one were too many)\n%s", terminal.Plural(e.Dropped, "entry"), text)
	}
	return text
}

// devTabs is how the tabs stand in which the plugin may run.
type devTabs struct {
	// live have the last build, old another one, or none yet.
	live, old []devTab
	browsers  int
}

type devTab struct {
	id           int
	url, browser string
	// reload says that the tab has to be loaded anew; ready is what isReady said,
	// nil if it was not asked.
	reload bool
	ready  *bool
}

// tabsOf sorts the tabs of a server's status in which the plugin may run.
func tabsOf(status httpapi.Status, one *plugin.Plugin) devTabs {
	var all devTabs
	for _, b := range status.Browsers {
		if b.Connected {
			all.browsers++
		}
		for _, t := range b.Tabs {
			tab := devTab{id: t.TabID, url: t.URL, browser: b.Name, reload: slices.Contains(t.NeedsReload, one.Name)}
			known, live := tab.reload || slices.Contains(t.Loading, one.Name) || slices.Contains(t.Arriving, one.Name), false
			for _, p := range t.Plugins {
				if p.Name == one.Name {
					known, live, tab.ready = true, p.Hash == one.Hash, p.Ready
				}
			}
			switch {
			case live:
				all.live = append(all.live, tab)
			case known:
				all.old = append(all.old, tab)
			}
		}
	}
	return all
}

// settled reports whether nothing more is to be waited for; patient is set while
// one that seems to want a reload may not.
func (t devTabs) settled(patient bool) bool {
	return !slices.ContainsFunc(t.old, func(tab devTab) bool { return !tab.reload || patient })
}

// tellTabs waits until the tabs have the build, and says so.
func (d *developer) tellTabs(ctx context.Context, began time.Time) error {
	late, believed := time.After(livePatience), time.Now().Add(reloadPatience)
	for {
		status, err := d.client.Status(ctx)
		if err != nil {
			return err
		}
		if problem := standingOf(status, d.added); problem != "" {
			d.note("%s", problem)
			return nil
		}
		tabs := tabsOf(status, d.added)
		over := false
		if !tabs.settled(time.Now().Before(believed)) {
			select {
			case <-late:
				over = true
			case <-time.After(livePoll):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		d.noteTabs(tabs, over, time.Since(began))
		return nil
	}
}

// standingOf says why the server lets no tab have the plugin; empty if it does.
func standingOf(status httpapi.Status, one *plugin.Plugin) string {
	for _, f := range status.Failed {
		if f.Path == one.Dir {
			return "the server can't load it: " + f.Error
		}
	}
	for _, p := range status.Plugins {
		if p.Name == one.Name && p.Dir != one.Dir {
			return fmt.Sprintf("another plugin has the name %s, in %s; remove that with `opentabs plugin remove %[1]s`", p.Name, p.Dir)
		}
		if p.Name == one.Name && p.Permission == "off" {
			return fmt.Sprintf("its permission is off, so no page gets it; change that with `opentabs plugin permission %s auto`", p.Name)
		}
	}
	return ""
}

// noteTabs says in which tabs the build is, and what the person can do about the
// others.
func (d *developer) noteTabs(tabs devTabs, late bool, took time.Duration) {
	switch {
	case tabs.browsers == 0:
		d.note("no browser is connected; `opentabs extension install` says how")
	case len(tabs.live)+len(tabs.old) == 0:
		d.note("no tab of it is open; open one of %s", terminal.SafeLine(fmt.Sprint(d.added.Matches)))
	case len(tabs.live) > 0:
		d.note("live in %s after %s", terminal.Plural(len(tabs.live), "tab"), terminal.Elapsed(took))
	}
	for _, t := range tabs.old {
		switch {
		case t.reload:
			d.note("reload tab %d (%s) in %s to use it there", t.id, terminal.SafeLine(t.url), terminal.SafeLine(t.browser))
		case late:
			d.note("tab %d (%s) in %s has not taken it; reload it", t.id, terminal.SafeLine(t.url), terminal.SafeLine(t.browser))
		}
	}
}
