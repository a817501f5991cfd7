package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Verification is the result of [Verify]: the number of lines in the hash chain, and the first
// problem, if any.
type Verification struct {
	// Lines is the number of lines in the hash chain, and Files is the number of log
	// files.
	Lines int `json:"records"`
	Files int `json:"files"`
	// LinesBeforeChain is the number of log lines before the beginning of the hash chain.
	// Verify cannot check lines from before the beginning of the hash chain.
	LinesBeforeChain int `json:"records_before_chain"`
	// FirstTime is the time of the first line in the hash chain; zero if there is none.
	FirstTime time.Time `json:"chain_since,omitzero"`
	// Problem is the first problem of the hash chain; nil if the chain is intact.
	Problem *Problem `json:"problem,omitempty"`
}

// Problem describes a changed, removed or inserted line of a hash chain, or a missing or
// damaged file.
type Problem struct {
	// File and Line locate the problem in the log files. Line is the number of the line,
	// starting at 1; 0 if the whole file is missing or damaged.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Text is a sentence for users, such as "Record 3 was changed after it was written."
	Text string `json:"text"`
}

// The type verifier checks the lines of a hash chain from the oldest to the newest line.
type verifier struct {
	Verification
	files      int
	path       string
	newestLink chainLink

	lastUnchainedLine unchainedLine
	lastLink          chainLink
	lastFile          string
	lastLineNumber    int
	file              string
	line              int
	// mayLackOlderFiles is true if the log has its maximum number of files, so rotation may have
	// removed older files.
	mayLackOlderFiles bool
}

// unchainedLine is the position and the time of a log line that precedes the hash chain.
type unchainedLine struct {
	file     string
	line     int
	readTime time.Time
}

// Verify checks the hash chain of the log at path. The parameter files is the maximum
// number of log files, as in Options.Files. Each line of the log must be a JSON object
// with a time. Lines before the hash chain are counted; each of them must be older than
// the first line in the hash chain. Verify waits until no other process appends lines.
func Verify(path string, files int) (Verification, error) {
	unlock, err := lockChain(path)
	if err != nil {
		return Verification{}, err
	}
	defer unlock()
	v := verifier{files: files, path: path}
	newestLink, hasHeadFile, err := readFirstLink(path)
	if err != nil {
		v.report(path+headFileSuffix, 0, "This file is damaged, so lines that are missing at the end of the log cannot be noticed.")
		return v.Verification, nil
	}
	v.newestLink = newestLink
	for n := files - 1; n >= 0 && v.Problem == nil; n-- {
		if err := v.readFile(rotatedPath(path, n), n == files-1); err != nil {
			return Verification{}, err
		}
	}
	switch {
	case v.Problem != nil:
	case !hasHeadFile && v.Lines > 0:
		v.report(path+headFileSuffix, 0, "This file is missing, so lines that are missing at the end of the log cannot be noticed.")
	case v.lastLink.Seq == 0 && newestLink.Seq > 0:
		v.report(path, 0, describeMissingRecords(1, newestLink.Seq)+".")
	case v.lastLink.Seq < newestLink.Seq:
		v.report(v.lastFile, v.lastLineNumber, describeMissingRecords(v.lastLink.Seq+1, newestLink.Seq)+" after this line.")
	}
	return v.Verification, nil
}

func describeMissingRecords(firstSeq, lastSeq uint64) string {
	if firstSeq == lastSeq {
		return fmt.Sprintf("Record %d is missing", firstSeq)
	}
	return fmt.Sprintf("Records %d to %d are missing", firstSeq, lastSeq)
}

func (v *verifier) report(file string, line int, problemText string) {
	if v.Problem == nil {
		v.Problem = &Problem{file, line, problemText}
	}
}

func (v *verifier) readFile(path string, isOldest bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	v.Files++
	v.mayLackOlderFiles = v.mayLackOlderFiles || isOldest
	v.file, v.line = path, 0
	r := bufio.NewReaderSize(f, maxLineBytes)
	for v.Problem == nil {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			v.line++
			v.report(path, v.line, "This line is too long to be a record.")
		case errors.Is(err, io.EOF): // after a crash, the last line may be incomplete; the next write removes this line
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		default:
			v.line++
			v.checkLine(bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return nil
}

func (v *verifier) checkLine(line []byte) {
	fields, isChained, err := parseLink(line)
	isFirstLine := v.lastLink.Seq == 0
	switch {
	case err != nil || !isChained && fields.Time.IsZero():
		v.report(v.file, v.line, "This line is not a record.")
	case isFirstLine && !isChained:
		v.LinesBeforeChain++
		if !fields.Time.Before(v.lastUnchainedLine.readTime) {
			v.lastUnchainedLine = unchainedLine{v.file, v.line, fields.Time}
		}
		return
	case isFirstLine && v.LinesBeforeChain > 0 && !v.lastUnchainedLine.readTime.Before(fields.Time):
		v.report(v.lastUnchainedLine.file, v.lastUnchainedLine.line, "This line has no number, but it is not older than the first record with a number: it was changed or inserted.")
	case !isChained:
		v.report(v.file, v.line, fmt.Sprintf("This line is not part of the chain: an older version of opentabs or another program wrote it after record %d.", v.lastLink.Seq))
	case isFirstLine && fields.Seq > 1 && (!v.mayLackOlderFiles || v.LinesBeforeChain > 0):
		v.report(v.file, v.line, describeMissingRecords(1, fields.Seq-1)+" before this line.")
	case !isFirstLine && fields.Seq <= v.lastLink.Seq:
		v.report(v.file, v.line, fmt.Sprintf("This line is record %d, but it follows record %d.", fields.Seq, v.lastLink.Seq))
	case !isFirstLine && fields.Seq > v.lastLink.Seq+1:
		v.report(v.file, v.line, describeMissingRecords(v.lastLink.Seq+1, fields.Seq-1)+" before this line.")
	case !isFirstLine && fields.Prev != v.lastLink.Hash:
		v.report(v.lastFile, v.lastLineNumber, fmt.Sprintf("Record %d was changed after it was written.", v.lastLink.Seq))
	}
	if v.Problem != nil {
		return
	}
	if isFirstLine {
		v.FirstTime = fields.Time
	}
	v.Lines++
	v.lastLink, v.lastFile, v.lastLineNumber = chainLink{fields.Seq, hashLine(line)}, v.file, v.line
	if v.lastLink.Seq == v.newestLink.Seq && v.lastLink.Hash != v.newestLink.Hash {
		v.report(v.file, v.line, fmt.Sprintf("Record %d was changed after it was written.", v.lastLink.Seq))
	}
}
