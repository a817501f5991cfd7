package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Verification is the result of [Verify].
type Verification struct {
	// Lines is the number of lines of the chain, Files the number of files.
	Lines int `json:"records"`
	Files int `json:"files"`
	// EarlierLines is the number of lines that were written before the chain began, and
	// cannot be verified.
	EarlierLines int `json:"records_before_chain"`
	// Problem is the first problem; nil if the chain is intact.
	Problem *Problem `json:"problem,omitempty"`
}

// Problem is a line that does not fit its chain.
type Problem struct {
	// File and Line are the place of the problem. Line is 0 if a whole file is missing.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Text is what is wrong: a sentence.
	Text string `json:"text"`
}

// verifier reads the lines of a chain from the oldest on.
type verifier struct {
	Verification
	files int // the number of files that the log keeps
	path  string
	head  chainLink

	end     chainLink // the end of the chain so far
	endFile string    // the file and the line of end
	endLine int
	file    string // the file and the number of the present line
	line    int
	// isOldestSet is set if the oldest possible file exists, so that older files may have
	// been removed.
	isOldestSet bool
}

// Verify checks the chain of the log at path, which keeps the given number of files. Verify
// waits for other processes that append lines.
func Verify(path string, files int) (Verification, error) {
	unlock, err := lockChain(path)
	if err != nil {
		return Verification{}, err
	}
	defer unlock()
	v := verifier{files: files, path: path}
	head, hasHead, err := readHead(path)
	if err != nil {
		v.report(path+headSuffix, 0, "This file is damaged, so lines that are missing at the end of the log cannot be noticed.")
		return v.Verification, nil
	}
	v.head = head
	for n := files - 1; n >= 0 && v.Problem == nil; n-- {
		if err := v.readFile(rotatedPath(path, n), n == files-1); err != nil {
			return Verification{}, err
		}
	}
	switch {
	case v.Problem != nil:
	case !hasHead && v.Lines > 0:
		v.report(path+headSuffix, 0, "This file is missing, so lines that are missing at the end of the log cannot be noticed.")
	case v.end.Seq < head.Seq:
		v.report(v.endFile, v.endLine, missingText(v.end.Seq+1, head.Seq)+" after this line.")
	}
	return v.Verification, nil
}

// missingText returns the beginning of a sentence about the missing lines from first to
// last.
func missingText(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("Record %d is missing", first)
	}
	return fmt.Sprintf("Records %d to %d are missing", first, last)
}

// report stores the first problem.
func (v *verifier) report(file string, line int, text string) {
	if v.Problem == nil {
		v.Problem = &Problem{file, line, text}
	}
}

// readFile checks the lines of one file. A missing file has no lines.
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
	v.isOldestSet = v.isOldestSet || isOldest
	v.file, v.line = path, 0
	r := bufio.NewReaderSize(f, maxLineBytes)
	for v.Problem == nil {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			v.line++
			v.report(path, v.line, "This line is too long to be a record.")
		case errors.Is(err, io.EOF): // a crash has left an incomplete line, which the next start removes
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

// checkLine checks the next line.
func (v *verifier) checkLine(line []byte) {
	fields, isChained, err := parseLink(line)
	isFirst := v.end.Seq == 0
	switch {
	case isFirst && !isChained:
		v.EarlierLines++
		return
	case err != nil:
		v.report(v.file, v.line, "This line is not a record.")
	case !isChained:
		v.report(v.file, v.line, fmt.Sprintf("This line is not part of the chain: an older version of opentabs or another program wrote it after record %d.", v.end.Seq))
	case isFirst && fields.Seq > 1 && (!v.isOldestSet || v.EarlierLines > 0):
		v.report(v.file, v.line, missingText(1, fields.Seq-1)+" before this line.")
	case !isFirst && fields.Seq <= v.end.Seq:
		v.report(v.file, v.line, fmt.Sprintf("This line is record %d, but it follows record %d.", fields.Seq, v.end.Seq))
	case !isFirst && fields.Seq > v.end.Seq+1:
		v.report(v.file, v.line, missingText(v.end.Seq+1, fields.Seq-1)+" before this line.")
	case !isFirst && fields.Prev != v.end.Hash:
		v.report(v.endFile, v.endLine, fmt.Sprintf("Record %d was changed after it was written.", v.end.Seq))
	}
	if v.Problem != nil {
		return
	}
	v.Lines++
	v.end, v.endFile, v.endLine = chainLink{fields.Seq, hashLine(line)}, v.file, v.line
	if v.end.Seq == v.head.Seq && v.end.Hash != v.head.Hash {
		v.report(v.file, v.line, fmt.Sprintf("Record %d was changed after it was written.", v.end.Seq))
	}
}
