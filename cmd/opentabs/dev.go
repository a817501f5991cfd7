package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"opentabs/internal/author"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/plugin"
	"opentabs/wire"
)

// developer is `opentabs plugin dev`: it builds, has the server take the build in,
// and carries out what is typed. All of it happens in the goroutine of run, but
// for the calls and what the server tells.
type developer struct {
	program    *program
	source     string // the plugin's directory as it was given
	permission wire.Permission
	home       *home.Home
	options    jsbuild.Options

	signals <-chan os.Signal
	// lines are what is typed; nil without a terminal.
	lines <-chan string
	// heard are things to be said that came from outside of run's goroutine.
	heard   chan func()
	changes chan []string

	// added is the plugin as the store has it; nil before the first good build.
	added *plugin.Plugin
	// client asks the server; nil while there is none.
	client *httpapi.Client
	// leaveServer ends what the server is told of added; nil before.
	leaveServer context.CancelFunc
	tools       []string // their short names
	// stopCall stops the call that runs, whose end called tells; both are nil
	// without one.
	stopCall context.CancelFunc
	called   chan struct{}
	asking   bool // the prompt is the last thing on the terminal
}

// run develops until the person ends it.
func (d *developer) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	watch, err := author.NewWatch(d.source) // before the first build: it may change meanwhile
	if err != nil {
		return err
	}
	kept := &jsbuild.Kept{}
	defer kept.Close()
	d.options.Kept = kept
	ended := make(chan error, 1)
	go func() {
		ended <- watch.Run(ctx, func(files []string) {
			select {
			case d.changes <- files:
			case <-ctx.Done():
			}
		})
	}()
	if err := d.begin(ctx); err != nil {
		return err
	}
	for {
		d.prompt()
		select {
		case err := <-ended:
			return err
		case files := <-d.changes:
			d.note("%s changed", someFiles(files))
			d.build(ctx)
		case tell := <-d.heard:
			d.clear()
			tell()
		case <-d.called:
			d.stopCall()
			d.stopCall, d.called = nil, nil
		case s := <-d.signals:
			if d.stopCall == nil || s == syscall.SIGTERM {
				return d.leave()
			}
			d.stopCall()
		case line, ok := <-d.typed():
			d.asking = false
			if !ok || d.obey(ctx, line) {
				return d.leave()
			}
		}
	}
}

// typed are the lines, but none while a call runs.
func (d *developer) typed() <-chan string {
	if d.called != nil {
		return nil
	}
	return d.lines
}

// leave says what stays.
func (d *developer) leave() error {
	if d.stopCall != nil {
		d.stopCall()
		<-d.called
	}
	d.clear()
	if d.added != nil {
		d.program.out.Notef("%s stays as it was built last; it was reviewed by you", d.added.Name)
	}
	return nil
}

// begin makes the first build. If the source is at fault it says so and waits for
// a change; everything else ends the command.
func (d *developer) begin(ctx context.Context) error {
	err := d.takeIn(ctx)
	var wrong *jsbuild.BuildError
	if errors.As(err, &wrong) && isPackage(d.source) {
		printBuildFailure(ctx, d.program.out, err)
		err = nil
	}
	if err == nil {
		d.note("waiting for changes in %s; Ctrl-C ends", d.source)
	}
	return err
}

// build builds anew after a change and says what came of it.
func (d *developer) build(ctx context.Context) {
	if err := d.takeIn(ctx); err != nil {
		d.clear()
		printBuildFailure(ctx, d.program.out, err)
	}
}

// takeIn builds the plugin and has the server take it in.
func (d *developer) takeIn(ctx context.Context) error {
	began := time.Now()
	built, err := jsbuild.BuildPlugin(ctx, d.source, d.options)
	if err != nil {
		return err
	}
	d.clear()
	printBuild(d.program.out, built)
	d.tools = d.tools[:0]
	for _, tool := range built.Tools {
		d.tools = append(d.tools, tool.Name)
	}
	if d.added == nil || d.added.Name != built.Name {
		return d.add(ctx, built.Dir)
	}
	// What is in the folder is what was just built.
	fresh, err := plugin.Load(d.added.Dir)
	if err != nil {
		return err
	}
	d.added = fresh
	if d.client == nil {
		d.note("there is no server just now; it takes the build in when it is back")
		return nil
	}
	if err := d.client.Reload(ctx); err != nil {
		return err
	}
	return d.tellTabs(ctx, began)
}

// add has the store and the server know the plugin: the first time, and when its
// package has got another name.
func (d *developer) add(ctx context.Context, dir string) error {
	if err := author.RefreshEditorTypes(dir); err != nil {
		return err
	}
	began := time.Now()
	added, err := d.home.Store().Add(dir)
	if err != nil {
		return err
	}
	if d.client == nil {
		if d.client, err = d.reach(ctx); err != nil {
			return err
		}
	}
	if d.leaveServer != nil {
		d.leaveServer()
	}
	attending, leave := context.WithCancel(ctx)
	d.added, d.leaveServer = added, leave
	begun := make(chan error, 1)
	go d.attend(attending, d.client, added, begun)
	if err := <-begun; err != nil {
		return err
	}
	if err := d.client.Reload(ctx); err != nil {
		return err
	}
	return d.tellTabs(ctx, began)
}
