// Package plugindev implements the commands that watch a plugin's source. `opentabs
// plugin dev` and `opentabs plugin build --watch` build a plugin after each change of its
// files. `opentabs plugin dev` also loads the builds into open tabs, prints the plugin's
// log, and calls tools from a prompt.
//
// Only the goroutine of [Run] builds and prints. The file watcher, the log, the
// connection to the daemon, and tool calls run in separate goroutines, which send events
// to Run.
package plugindev

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
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

// Options configure [Run].
type Options struct {
	// Home is the opentabs installation that loads the builds; required.
	Home *home.Home
	// Source is the directory of the plugin; required.
	Source string
	// Permission is the permission of the developed plugin, unless the user has set another
	// permission for the plugin; required.
	Permission wire.Permission
	// Out is the terminal to which Run prints; required.
	Out *terminal.Output
	// The field Build contains the options of builds, with the same defaults as in
	// package jsbuild.
	Build jsbuild.Options
	// Signals receives interrupts from the user; required. An interrupt stops the running
	// tool call. If no tool call is running, an interrupt makes Run return.
	Signals <-chan os.Signal
	// RepeatLastCall repeats the last call from the prompt after each build. By default, no call
	// is repeated.
	RepeatLastCall bool
	// Lines receives the lines that the user types. By default, Run shows no prompt.
	Lines <-chan string
	// Call runs a tool call to its end and prints the result or error. The field Call is
	// required if the field Lines is not nil.
	Call func(ctx context.Context, c Call)
}

// Call is a tool call that the user typed.
type Call struct {
	// Tool is the full name of the tool, such as messages__export.
	Tool string
	// JSON contains the arguments of the call as the text of one JSON object. JSON is
	// empty if the arguments are in Words.
	JSON string
	// The field Words contains the arguments of the call, each as name=value.
	Words []string
}

// The type session is one run of `opentabs plugin dev`. A session is not safe for
// concurrent use.
type session struct {
	Options

	events  chan func()
	changes chan []string

	addedPlugin *plugin.Plugin // addedPlugin is nil before the first successful build
	tools       []string
	client      *httpapi.Client
	// The field stopDevelopment ends the development of addedPlugin on the daemon; nil before the
	// first build.
	stopDevelopment context.CancelFunc
	stopCall        context.CancelFunc
	callDone        chan struct{}
	lastCall        Call // lastCall.Tool is empty before the first call
	isPromptShown   bool // isPromptShown is true while the prompt is the last line on the terminal
}

// Run builds the plugin after each change of its files, until the user interrupts the
// program.
func Run(ctx context.Context, o Options) error {
	s := &session{Options: o, events: make(chan func()), changes: make(chan []string)}
	return s.run(ctx)
}

func (s *session) run(ctx context.Context) error {
	ctx, cancelRun := context.WithCancel(ctx)
	defer cancelRun()
	watcher, err := author.NewWatcher(s.Source) // the watcher starts before the first build, to detect changes during this build
	if err != nil {
		return err
	}
	cache := &jsbuild.BuildCache{}
	defer cache.Close()
	s.Build.Cache = cache
	watchErr := make(chan error, 1)
	go func() {
		watchErr <- watcher.Run(ctx, func(files []string) {
			select {
			case s.changes <- files:
			case <-ctx.Done():
			}
		})
	}()
	if err := s.runFirstBuild(ctx); err != nil {
		return err
	}
	for {
		s.showPrompt()
		select {
		case err := <-watchErr:
			return err
		case files := <-s.changes:
			s.printNotef("%s changed", formatFileList(files))
			s.rebuild(ctx)
		case event := <-s.events:
			s.clearPrompt()
			event()
		case <-s.callDone:
			s.stopCall()
			s.stopCall, s.callDone = nil, nil
		case signal := <-s.Signals:
			if s.stopCall == nil || signal == syscall.SIGTERM {
				return s.endSession()
			}
			s.stopCall()
		case line, ok := <-s.promptInput():
			s.isPromptShown = false
			if !ok || s.executeLine(ctx, line) {
				return s.endSession()
			}
		}
	}
}

func (s *session) promptInput() <-chan string {
	if s.callDone != nil {
		return nil
	}
	return s.Lines
}

func (s *session) endSession() error {
	if s.stopCall != nil {
		s.stopCall()
		<-s.callDone
	}
	s.clearPrompt()
	if s.addedPlugin != nil {
		s.Out.Notef("the last build of %s stays in use; it counts as reviewed by you", s.addedPlugin.Name)
	}
	return nil
}

// After an error in the plugin's source, run waits for a change. If the first build fails for another reason than an
// error in the plugin's source, runFirstBuild ends the command.
func (s *session) runFirstBuild(ctx context.Context) error {
	err := s.build(ctx)
	var buildErr *jsbuild.BuildError
	if errors.As(err, &buildErr) && hasPackageFile(s.Source) {
		printBuildFailure(ctx, s.Out, err)
		err = nil
	}
	if err == nil {
		s.printNotef("waiting for changes in %s; Ctrl-C ends", s.Source)
	}
	return err
}

func (s *session) rebuild(ctx context.Context) {
	if err := s.build(ctx); err != nil {
		s.clearPrompt()
		printBuildFailure(ctx, s.Out, err)
		return
	}
	s.repeatCallAfterBuild(ctx)
}

func (s *session) build(ctx context.Context) error {
	startTime := time.Now()
	buildResult, err := jsbuild.BuildPlugin(ctx, s.Source, s.Build)
	if err != nil {
		return err
	}
	s.clearPrompt()
	printBuild(s.Out, buildResult)
	s.tools = s.tools[:0]
	for _, tool := range buildResult.Tools {
		s.tools = append(s.tools, tool.Name)
	}
	if s.addedPlugin == nil || s.addedPlugin.Name != buildResult.Name {
		return s.addPlugin(ctx, buildResult.Dir)
	}
	loadedPlugin, err := plugin.Load(s.addedPlugin.Dir)
	if err != nil {
		return err
	}
	s.addedPlugin = loadedPlugin
	if s.client == nil {
		s.printNotef("no server runs; the next one loads the build")
		return nil
	}
	if err := s.client.Plugins.Reload(ctx); err != nil {
		return err
	}
	return s.reportTabs(ctx, startTime, true)
}

// The method run calls addPlugin after the first build, and when the name of the plugin's
// package changes.
func (s *session) addPlugin(ctx context.Context, dir string) error {
	if err := author.RefreshEditorTypes(dir); err != nil {
		return err
	}
	startTime := time.Now()
	newPlugin, err := s.Home.PluginStore().Add(dir)
	if err != nil {
		return err
	}
	if s.client == nil {
		if s.client, err = s.connect(ctx); err != nil {
			return err
		}
	}
	if s.stopDevelopment != nil {
		s.stopDevelopment()
	}
	developmentCtx, stopDevelopment := context.WithCancel(ctx)
	s.addedPlugin, s.stopDevelopment = newPlugin, stopDevelopment
	firstLoadResult := make(chan error, 1)
	go s.developUntilCancelled(developmentCtx, s.client, newPlugin, firstLoadResult)
	if err := <-firstLoadResult; err != nil {
		return err
	}
	if err := s.client.Plugins.Reload(ctx); err != nil {
		return err
	}
	return s.reportTabs(ctx, startTime, false)
}
