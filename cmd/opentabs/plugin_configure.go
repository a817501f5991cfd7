package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

// maxStdinValue is the longest value that is read from stdin, in bytes.
const maxStdinValue = 1 << 20

type configureOptions struct {
	program *program
	name    string
	// sets are key=value or key.instance=url; unset are keys, or key.instance.
	sets, unset []string
	// instances are name=url, for the plugin's only url setting.
	instances []string
	json      bool
}

func newPluginConfigureCmd(p *program) *cobra.Command {
	opts := configureOptions{program: p}
	cmd := &cobra.Command{
		Use:   "configure NAME [KEY=VALUE...]",
		Short: "Show or change the settings of a plugin",
		Long: `Change settings of a plugin, which its tools read in the page. On a terminal, with
nothing else named, it asks for each; otherwise it prints them.

KEY=- reads the value from stdin, so that a secret is in no history of commands.
A setting of type url can have several URLs by name: KEY.INSTANCE=URL, or
--instance NAME=URL for a plugin with one such setting. The plugin then works in
these sites, too.

A server that runs has the change at once, and so have the pages that are open.`,
		Example: `  opentabs plugin configure wiki
  opentabs plugin configure wiki --instance work=https://wiki.example.com size=20
  pass show wiki | opentabs plugin configure wiki apiToken=-
  opentabs plugin configure wiki --unset size`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the name of a plugin is missing: run `opentabs plugin configure NAME`, or `opentabs help plugin configure`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.name, opts.sets = args[0], args[1:]
			return runConfigure(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.unset, "unset", nil, "take the setting `KEY` away; KEY.INSTANCE takes one URL away")
	cmd.Flags().StringArrayVar(&opts.instances, "instance", nil, "set the URL of an instance: `NAME=URL`")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runConfigure(ctx context.Context, opts configureOptions) error {
	p := opts.program
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	views, err := book.Settings(opts.name)
	if err != nil {
		return asUsage(err)
	}
	form := newSettingsForm(opts.name, views)
	named := len(opts.sets)+len(opts.unset)+len(opts.instances) > 0
	if named {
		if err := form.take(opts, p.in); err != nil {
			return err
		}
	} else if in, ok := p.in.(*os.File); ok && !opts.json && len(views) > 0 && term.IsTerminal(int(in.Fd())) {
		if err := p.askSettings(form, in); err != nil {
			return err
		}
		named = true
	}
	if len(form.changes) > 0 {
		if err := book.ChangeSettings(opts.name, form.changes, httpapi.CommandLine); err != nil {
			return usage("%v; nothing has changed", err)
		}
		if views, err = book.Settings(opts.name); err != nil {
			return asUsage(err)
		}
	}
	switch {
	case opts.json:
		return p.out.PrintValue(views)
	case len(views) == 0:
		p.out.Notef("the plugin %s has no settings", opts.name)
	case named:
		p.toldSettings(opts.name, form, views)
	default:
		p.out.PrintTable("", settingRows(views))
	}
	return nil
}

// toldSettings says what was changed, and what is still missing.
func (p *program) toldSettings(name string, form *settingsForm, views []wire.SettingView) {
	for _, key := range slices.Sorted(maps.Keys(form.changes)) {
		what := "is set"
		if string(form.changes[key]) == "null" {
			what = "is not set any more"
		}
		p.out.Notef("%s of %s %s", key, name, what)
	}
	if len(form.changes) == 0 {
		p.out.Notef("nothing has changed")
	}
	for _, v := range views {
		if v.Withheld && v.Set && string(form.changes[v.Key]) != "" {
			p.out.Notef("%s does not get %s, which is secret, because it starts after the page's scripts: allow it with `opentabs plugin permission %[1]s --late-access on`", name, v.Key)
		}
		if v.Required && !v.Set {
			p.out.Notef("%s needs %s (%s) before its tools run", name, v.Key, v.Label)
		}
	}
}

// settingRows are settings as a table; of a secret only whether it is set.
func settingRows(views []wire.SettingView) [][]string {
	rows := [][]string{{"KEY", "TYPE", "VALUE", "MEANING"}}
	for _, v := range views {
		kind := string(v.Type)
		if v.Required {
			kind += ", required"
		}
		rows = append(rows, []string{v.Key, kind, shownSetting(v), v.Label})
	}
	return rows
}

// shownSetting is a setting's value for people.
func shownSetting(v wire.SettingView) string {
	var text string
	var urls map[string]string
	switch {
	case !v.Set:
		return "(not set)"
	case v.Secret:
		return "(set, not shown" + withheldText(v) + ")"
	case json.Unmarshal(v.Value, &text) == nil:
		return text
	case v.Type == wire.SettingURL && json.Unmarshal(v.Value, &urls) == nil:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			all = append(all, name+"="+urls[name])
		}
		return strings.Join(all, " ")
	}
	return string(v.Value)
}

// settingsForm gathers changes of a plugin's settings.
type settingsForm struct {
	plugin  string
	views   []wire.SettingView
	changes map[string]json.RawMessage
	// urls are those of each url setting that changes, by instance.
	urls map[string]map[string]string
}

func newSettingsForm(plugin string, views []wire.SettingView) *settingsForm {
	return &settingsForm{plugin: plugin, views: views, changes: map[string]json.RawMessage{}, urls: map[string]map[string]string{}}
}

// take reads what the command line names.
func (f *settingsForm) take(opts configureOptions, in io.Reader) error {
	fromStdin := false
	for _, set := range opts.sets {
		key, text, ok := strings.Cut(set, "=")
		if !ok {
			return usage("%q sets nothing: write it as KEY=VALUE", key)
		}
		if text == "-" {
			if fromStdin {
				return usage("only one value can be read from stdin")
			}
			fromStdin = true
			all, err := io.ReadAll(io.LimitReader(in, maxStdinValue))
			if err != nil {
				return fmt.Errorf("read the value of %s: %w", key, err)
			}
			text = strings.TrimRight(string(all), "\r\n")
		}
		if err := f.set(key, text); err != nil {
			return err
		}
	}
	for _, one := range opts.instances {
		name, url, ok := strings.Cut(one, "=")
		if !ok {
			return usage("--instance %s: write it as NAME=URL", one)
		}
		key, err := f.onlyURL()
		if err != nil {
			return err
		}
		if err := f.set(key+"."+name, url); err != nil {
			return err
		}
	}
	for _, key := range opts.unset {
		if err := f.unset(key); err != nil {
			return err
		}
	}
	return nil
}

// set sets key, or key.instance, to what a person wrote.
func (f *settingsForm) set(key, text string) error {
	v, instance, err := f.find(key)
	if err != nil {
		return err
	}
	if v.Type == wire.SettingURL {
		if instance == "" {
			instance = settings.DefaultInstance
		}
		f.urlsOf(v)[instance] = text
		return f.putURLs(v)
	}
	setting := plugin.Setting{Key: v.Key, Type: v.Type, Options: v.Options}
	value, err := settings.Parse(setting, text)
	if err != nil {
		return usage("%v", err)
	}
	f.changes[v.Key] = value
	return nil
}

func (f *settingsForm) unset(key string) error {
	v, instance, err := f.find(key)
	if err != nil {
		return err
	}
	if instance == "" {
		f.changes[v.Key] = json.RawMessage("null")
		return nil
	}
	if _, ok := f.urlsOf(v)[instance]; !ok {
		return usage("%s has no instance %q", v.Key, instance)
	}
	delete(f.urlsOf(v), instance)
	return f.putURLs(v)
}

// urlsOf are the URLs of a setting as they will be.
func (f *settingsForm) urlsOf(v wire.SettingView) map[string]string {
	if f.urls[v.Key] == nil {
		urls := map[string]string{}
		if len(v.Value) > 0 && json.Unmarshal(v.Value, &urls) != nil {
			urls = map[string]string{}
		}
		f.urls[v.Key] = urls
	}
	return f.urls[v.Key]
}

func (f *settingsForm) putURLs(v wire.SettingView) error {
	text, err := json.Marshal(f.urls[v.Key])
	if len(f.urls[v.Key]) == 0 {
		text = []byte("null")
	}
	f.changes[v.Key] = text
	return err
}

// find returns the setting that key names; key.instance names a URL of one.
func (f *settingsForm) find(key string) (v wire.SettingView, instance string, err error) {
	var keys []string
	for _, v := range f.views {
		keys = append(keys, v.Key)
		if v.Key == key {
			return v, "", nil
		}
		if instance, ok := strings.CutPrefix(key, v.Key+"."); ok && v.Type == wire.SettingURL {
			return v, instance, nil
		}
	}
	if len(keys) == 0 {
		return v, "", usage("the plugin %s has no settings", f.plugin)
	}
	return v, "", usage("the plugin %s has no setting %q: name one of %s", f.plugin, key, strings.Join(keys, ", "))
}

func (f *settingsForm) onlyURL() (string, error) {
	var keys []string
	for _, v := range f.views {
		if v.Type == wire.SettingURL {
			keys = append(keys, v.Key)
		}
	}
	switch len(keys) {
	case 0:
		return "", usage("--instance: the plugin %s has no setting of type url", f.plugin)
	case 1:
		return keys[0], nil
	}
	return "", usage("--instance: the plugin %s has several settings of type url; write KEY.INSTANCE=URL with one of %s", f.plugin, strings.Join(keys, ", "))
}

// askSettings asks the person at the terminal for each setting. An empty answer
// leaves it, a hyphen takes it away.
func (p *program) askSettings(f *settingsForm, in *os.File) error {
	p.out.Notef("settings of %s; press return to leave one as it is, - takes it away", f.plugin)
	lines := bufio.NewReader(in)
	for _, v := range f.views {
		question := v.Label
		if v.Description != "" {
			question += " (" + v.Description + ")"
		}
		if len(v.Options) > 0 {
			question += ", one of " + strings.Join(v.Options, ", ")
		}
		if v.Required {
			question += ", required"
		}
		for {
			p.out.Ask(fmt.Sprintf("%s\n  %s [%s]: ", question, v.Key, shownSetting(v)))
			text, err := p.readAnswer(lines, in, v.Secret)
			if errors.Is(err, io.EOF) && text == "" {
				return &failure{code: exitFailed, err: errors.New("nothing has changed")}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read the answer: %w", err)
			}
			switch text = strings.TrimSpace(text); text {
			case "":
			case "-":
				err = f.unset(v.Key)
			default:
				key := v.Key
				if name, url, named := strings.Cut(text, "="); named && v.Type == wire.SettingURL && !strings.Contains(name, ":") {
					key, text = key+"."+name, url
				}
				err = f.set(key, text)
			}
			if err == nil || errors.Is(err, io.EOF) {
				break
			}
			p.out.Notef("%v", err)
		}
	}
	return nil
}

// readAnswer reads one line, without an echo if it is a secret.
func (p *program) readAnswer(lines *bufio.Reader, in *os.File, secret bool) (string, error) {
	if !secret || lines.Buffered() > 0 { // what was typed ahead has been shown already
		return lines.ReadString('\n')
	}
	text, err := term.ReadPassword(int(in.Fd()))
	p.out.EndQuestion()
	return string(text), err
}
