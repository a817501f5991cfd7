package wsbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"opentabs/wire"
)

// wantSync asks for a plugin.sync on this link. Those asked for while one is
// under way become one.
func (l *link) wantSync() { poke(l.sync) }

// poke puts a token into a channel with room for one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// syncAdapters brings the browser's adapters up to date whenever that is asked
// for. It returns when the link has ended.
func (l *link) syncAdapters(b *browser) {
	for {
		select {
		case <-l.gone:
			return
		case <-l.sync:
		}
		if err := l.syncOnce(b); err != nil && !l.ended() {
			l.log.Warn().Err(err).Msg("could not bring the adapters up to date")
		}
		if err := l.syncSettings(); err != nil && !l.ended() {
			l.log.Warn().Err(err).Msg("could not tell the settings of plugins")
		}
		b.noteSynced(l)
	}
}

// maxCodeUnderWay is how much code is sent before the browser has taken what
// came before, in bytes. A browser registers together what comes together:
// Chrome writes its store of scripts anew each time.
const maxCodeUnderWay = 16 << 20

// syncOnce sends the list of plugins and then the code that the browser lacks.
// It sends no more if the list has changed meanwhile.
func (l *link) syncOnce(b *browser) error {
	plugins := l.hub.plugins()
	params := wire.PluginSyncParams{Plugins: plugins}
	if l.hub.opts.Host != nil {
		params.Host = l.hub.opts.Host()
	}
	answer, err := l.request(context.Background(), wire.MethodPluginSync, marshal(params))
	if err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	var r wire.PluginSyncResult
	if err := decodeAnswer(answer, &r); err != nil {
		return fmt.Errorf("plugin.sync: %w", err)
	}
	b.setInject(l, r.Mode)
	l.log.Debug().Int("plugins", len(plugins)).Int("missing", len(r.Missing)).Str("mode", clean(string(r.Mode), 20)).Msg("plugins told")
	byName := make(map[string]string, len(plugins))
	for _, p := range plugins {
		byName[p.Name] = p.Script
	}
	sending := codeUnderWay{link: l}
	defer sending.settle(0)
	for _, name := range r.Missing {
		if len(l.sync) > 0 || l.ended() {
			return nil // the next round has a newer list
		}
		script, ok := byName[name]
		if !ok {
			l.log.Warn().Str("plugin", clean(name, 100)).Msg("browser asked for the code of a plugin that it was not told of")
			continue
		}
		delete(byName, name) // once is enough
		if err := sending.send(name, script); err != nil {
			l.log.Warn().Err(err).Str("plugin", name).Msg("could not send the adapter")
		}
	}
	return nil
}

// fetch returns the code of a plugin or of the host to the browser.
func (l *link) fetch(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
	if l.hub.opts.Fetch == nil {
		return wire.PluginFetchResult{}, errors.New("this server has no code to fetch")
	}
	r, err := l.hub.opts.Fetch(p)
	if size := len(r.Code) + len(r.PreScript) + len(r.Options); err == nil && size > wire.MaxFrameBytes/2 {
		err = fmt.Errorf("the code of %s is too large for a frame: %d bytes", clean(p.Name, 100), size)
	}
	if err != nil {
		l.log.Warn().Err(err).Str("plugin", clean(p.Name, 100)).Msg("could not send the adapter")
	}
	return r, err
}

// codeUnderWay is the code that was sent and not answered yet, oldest first.
type codeUnderWay struct {
	link  *link
	sent  []sentCode
	bytes int
}

type sentCode struct {
	plugin string
	bytes  int
	question
}

// send sends the code of a plugin, after it has waited for room.
func (c *codeUnderWay) send(name, script string) error {
	code, err := c.link.hub.opts.Adapters.Code(name, script)
	if err != nil {
		return err
	}
	params := marshal(code)
	if len(params) > wire.MaxFrameBytes-1024 {
		return fmt.Errorf("its code is too large for a frame: %d bytes", len(params))
	}
	c.settle(maxCodeUnderWay - len(params))
	c.sent = append(c.sent, sentCode{name, len(params), c.link.ask(wire.MethodPluginCode, params)})
	c.bytes += len(params)
	return nil
}

// settle waits until at most this many bytes are under way.
func (c *codeUnderWay) settle(bytes int) {
	for len(c.sent) > 0 && c.bytes > bytes {
		first := c.sent[0]
		c.sent = c.sent[1:]
		c.bytes -= first.bytes
		answer, err := c.link.await(context.Background(), first.question)
		if err == nil {
			err = decodeAnswer(answer, &wire.PluginCodeResult{})
		}
		if err != nil && !c.link.ended() {
			c.link.log.Warn().Err(err).Str("plugin", first.plugin).Msg("could not send the adapter")
		}
	}
}

// decodeAnswer reads the result of a request of ours.
func decodeAnswer(e wire.Envelope, result any) error {
	if e.Error != nil {
		return fmt.Errorf("the browser refused it (%d): %s", e.Error.Code, clean(e.Error.Message, 500))
	}
	return json.Unmarshal(e.Result, result)
}

// setInject notes how the browser gets adapters into pages.
func (b *browser) setInject(l *link, mode wire.InjectMode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link == l {
		b.inject = wire.InjectMode(clean(string(mode), 20))
	}
}

// noteSynced notes that the browser has the adapters, as far as it can have them.
// Only its current link may.
func (b *browser) noteSynced(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	b.synced = true
	b.syncs++
	b.hub.tabs.tell(false)
}
