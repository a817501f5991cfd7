package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/mcpclient"
)

const (
	// redraw is the least time between two drawings of a bar.
	redraw = 50 * time.Millisecond
	// barDelay is how long a call may take before a bar is drawn for it.
	barDelay = 250 * time.Millisecond
)

// progressView shows how far a call is. Both methods may be called from any
// goroutine; after close nothing is written.
type progressView interface {
	report(p mcpclient.Progress)
	close()
}

// newProgressView returns a bar for a terminal and lines for anything else. They
// show the messages for the user, or all of them.
func newProgressView(o *output, label string, all bool) progressView {
	if !o.errTerminal {
		return &lineView{out: o, all: all}
	}
	v := &barView{out: o, all: all, state: barState{label: label}, began: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	go v.run()
	return v
}

// noProgress is for --no-progress.
type noProgress struct{}

func (noProgress) report(mcpclient.Progress) {}
func (noProgress) close()                    {}

// shownMessage is the message of a report, with its status word, if it is for the
// user or all are shown.
func shownMessage(p mcpclient.Progress, all bool) string {
	if all || p.Audience == dispatch.AudienceUser {
		return withWord(p.StatusWord, p.Message)
	}
	return ""
}

// withWord puts the tool's own word for what it does before its message.
func withWord(word, message string) string {
	switch {
	case word == "" || strings.EqualFold(word, message):
		return message
	case message == "":
		return word
	}
	return word + ": " + message
}

// lineView writes a line for each report that has something new to show.
type lineView struct {
	out     *output
	all     bool   // also messages that are not for the user
	numbers string // of the last line
}

func (v *lineView) report(p mcpclient.Progress) {
	s := barState{progress: p.Progress, total: p.Total, known: p.HasTotal, counted: true}
	numbers, message := strings.Join(strings.Fields(s.numbers()), " "), shownMessage(p, v.all)
	if message == "" && numbers == v.numbers {
		return
	}
	v.numbers = numbers
	v.out.say("%s", strings.Join(strings.Fields("progress "+numbers+" "+oneLine(message)), " "))
}

func (v *lineView) close() {}

// barView draws a bar in the last line of the terminal.
type barView struct {
	out     *output
	all     bool // also messages that are not for the user
	began   time.Time
	stop    chan struct{} // closed by close
	stopped chan struct{} // closed by run
	once    sync.Once

	mu    sync.Mutex // guards state
	state barState
}

func (v *barView) report(p mcpclient.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.progress, v.state.total, v.state.known, v.state.counted = p.Progress, p.Total, p.HasTotal, true
	if message := shownMessage(p, v.all); message != "" {
		v.state.message = message
	}
}

// close takes the bar off the terminal.
func (v *barView) close() {
	v.once.Do(func() { close(v.stop) })
	<-v.stopped
}

func (v *barView) run() {
	defer close(v.stopped)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	shown := ""
	for {
		select {
		case <-v.stop:
			v.write("", shown)
			return
		case <-tick.C:
		}
		v.mu.Lock()
		v.state.elapsed = time.Since(v.began)
		state := v.state
		v.mu.Unlock()
		if state.elapsed < barDelay && !state.counted {
			continue
		}
		// The last column stays free: some terminals would begin a new line.
		line := state.draw(v.out.errWidth()-1, v.out.glyphs)
		v.write(line, shown)
		shown = line
	}
}

// write draws line over shown.
func (v *barView) write(line, shown string) {
	if line == shown {
		return
	}
	rest := max(0, textWidth(shown)-textWidth(line))
	text := "\r" + line + strings.Repeat(" ", rest)
	if line == "" {
		text += "\r"
	}
	fmt.Fprint(v.out.stderr, text)
}
