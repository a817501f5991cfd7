package recorder

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/redact"
)

const folderName = "calls"

// If the queue exceeds maxPendingCalls or maxPendingBytes before the next flush, the recorder drops and counts further
// records.
const (
	flushInterval   = 100 * time.Millisecond
	maxPendingCalls = 10_000
	maxPendingBytes = 32 << 20
	logInterval     = time.Minute
)

// Options configure a Recorder.
type Options struct {
	// Days is the number of days for which records are kept. If Days has the default 0, the
	// recorder records no calls.
	Days int
	// Bytes limits the total size of all record files; required. If the files exceed Bytes,
	// the recorder deletes the oldest ones.
	Bytes int64
	// Arguments and Results select whether records contain the arguments and the results of
	// calls. By default, Arguments and Results are false.
	Arguments, Results bool
	// Secrets returns texts that the recorder removes from every record, such as the
	// values of secret settings. By default, the recorder removes nothing.
	Secrets func() []string
	// OnInterruptedCall receives the record of each call during which an earlier server stopped,
	// once the record is written. OnInterruptedCall runs while a mutex of the Recorder is locked,
	// so it must not call methods of the Recorder. By default, no function receives the records.
	OnInterruptedCall func(Record)
	// Log receives an error about failed writes, at most once a minute. By default, the
	// recorder logs nothing.
	Log zerolog.Logger
}

// Recorder writes records of calls to files. Create a Recorder with [Open], and call
// [Recorder.Close] before the program ends.
type Recorder struct {
	dir  string
	opts Options
	stop chan struct{}
	done chan struct{}

	mu           sync.Mutex // the mutex guards all fields below
	pendingCalls []queuedCall
	pendingBytes int
	pendingNotes []Note
	droppedCalls int
	// openCallStates are the states of open calls that have begun or are stored as waiting for
	// approval, by call ID.
	openCallStates map[string]string
	wake           chan struct{} // the channel wake wakes the method run, and has a capacity of 1
	isClosed       bool

	writeMu sync.Mutex // the mutex guards all fields below; lock writeMu before mu
	files   *recordFiles
	// needsServerStartNote is true until the recorder has written the note that marks the start of the current server.
	isPrepared, needsServerStartNote bool
	lastLogTime                      time.Time
}

// Open starts a Recorder that writes to the state folder stateDir, which must exist. Open
// returns at once; a separate goroutine repairs the newest record file and deletes old
// files.
func Open(stateDir string, o Options) *Recorder {
	r := &Recorder{
		dir: filepath.Join(stateDir, folderName), opts: o,
		stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1), openCallStates: map[string]string{},
	}
	r.files = &recordFiles{dir: r.dir, days: o.Days, maxBytes: o.Bytes}
	go r.run()
	return r
}

// Add queues the record of a call that has ended, without blocking on the disk. After
// Close, Add does nothing.
func (r *Recorder) Add(e dispatch.EndedCall, facts CallFacts) {
	if r.opts.Days == 0 {
		return
	}
	r.queueCall(r.opts.newQueuedCall(e, facts))
}

// AddOpenCall queues a note about a call that has not ended, without blocking on the disk. If
// the server stops before it records the call, the next server makes the call's record
// from the note of the open call. After Close, AddOpenCall does nothing.
func (r *Recorder) AddOpenCall(e dispatch.EndedCall, facts CallFacts) {
	if r.opts.Days == 0 {
		return
	}
	e.View.Activities, e.Output = nil, nil
	c := r.opts.newQueuedCall(e, facts)
	c.openCallState = openCallStored
	r.queueCall(c)
}

func (r *Recorder) queueCall(c queuedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := c.size()
	r.updateOpenCallState(&c)
	switch {
	case r.isClosed:
		return
	case len(r.pendingCalls) >= maxPendingCalls || r.pendingBytes+size > maxPendingBytes:
		r.droppedCalls++
	default:
		r.pendingCalls = append(r.pendingCalls, c)
		r.pendingBytes += size
	}
	r.wakeWriter()
}

// The caller of wakeWriter has locked Recorder.mu.
func (r *Recorder) wakeWriter() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	r.writeMu.Lock()
	r.logFailure(r.prepare(time.Now()), 0)
	r.writeMu.Unlock()
	flushTimer := time.NewTimer(flushInterval)
	defer flushTimer.Stop()
	for {
		select {
		case <-r.wake:
		case <-r.stop:
			return
		}
		flushTimer.Reset(flushInterval)
		select {
		case <-flushTimer.C:
			r.Flush()
		case <-r.stop:
			return
		}
	}
}

// Flush writes all queued records and notes to the disk. Flush logs errors instead of
// returning them.
func (r *Recorder) Flush() { _ = r.flush(nil) } // flush logs its errors

// If the write fails, the queued notes stay queued.
func (r *Recorder) flush(lastNote *Note) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	r.mu.Lock()
	if lastNote != nil && r.isClosed {
		r.mu.Unlock()
		return errClosed
	}
	calls, notes, droppedCalls := r.pendingCalls, r.pendingNotes, r.droppedCalls
	r.pendingCalls, r.pendingNotes, r.pendingBytes, r.droppedCalls = nil, nil, 0, 0
	r.mu.Unlock()
	now := time.Now()
	if err := r.prepare(now); err != nil {
		r.logFailure(err, 0)
	}
	if len(calls) == 0 && len(notes) == 0 && droppedCalls == 0 && lastNote == nil {
		return nil
	}
	secrets := &valueCleaner{}
	if r.opts.Secrets != nil {
		shownTexts := r.opts.Secrets()
		secrets.Redactor = redact.Redactor{Secrets: func() []string { return shownTexts }}
	}
	var lines []byte
	for i := range calls {
		lines = r.appendServerStartNote(lines, calls[i].openCallState != "")
		line, err := calls[i].encode(secrets)
		if err != nil || len(line) > maxLineBytes {
			r.opts.Log.Error().Err(err).Str("call", calls[i].call.View.CallID).Int("bytes", len(line)).Msg("the call cannot be recorded; report this as a bug of opentabs")
			continue
		}
		lines = append(append(lines, line...), '\n')
		calls[i] = queuedCall{}
	}
	lines = appendNotes(lines, notes, secrets)
	if lastNote != nil {
		lines = appendNotes(lines, []Note{*lastNote}, secrets)
	}
	err := r.files.append(now, lines)
	switch {
	case err != nil:
		r.logFailure(err, len(calls)+droppedCalls)
		r.mu.Lock()
		newNotes := r.pendingNotes
		r.pendingNotes = nil
		r.queueNotes(append(notes, newNotes...)...)
		r.mu.Unlock()
	case droppedCalls > 0:
		r.logFailure(errQueueFull, droppedCalls)
	}
	return err
}

// The caller of logFailure has locked Recorder.writeMu.
func (r *Recorder) logFailure(err error, lostRecordCount int) {
	if err != nil && time.Since(r.lastLogTime) >= logInterval {
		r.lastLogTime = time.Now()
		r.opts.Log.Error().Err(err).Int("records", lostRecordCount).Msg("calls are not recorded")
	}
}

// Close writes the queued records and notes, and closes the record file. After the first
// call, Close does nothing.
func (r *Recorder) Close() {
	r.mu.Lock()
	isAlreadyClosed := r.isClosed
	r.isClosed = true
	r.mu.Unlock()
	if isAlreadyClosed {
		return
	}
	close(r.stop)
	<-r.done
	r.Flush()
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	r.files.close()
}
