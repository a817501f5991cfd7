package linefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"opentabs/internal/statefile"
)

// lockTimeout is how long the writer of a log waits for another process that appends
// lines.
const lockTimeout = 5 * time.Second

// chainLink is the end of a chain of lines: the number of the last line, and the hash of
// the last line in hexadecimal digits. The zero value is the beginning of a chain.
type chainLink struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// linkFields are the first members of each JSON line in a chain.
type linkFields struct {
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
}

// appendChained appends each line of text to dst as the next line of the chain, with its
// number and the hash of the line before. The lines are JSON objects. appendChained drops
// an incomplete line at the end of text.
func appendChained(dst, text []byte, end *chainLink) []byte {
	for line := range bytes.Lines(text) {
		body, isWhole := bytes.CutSuffix(line, []byte("\n"))
		if !isWhole || len(body) < 2 || body[0] != '{' {
			continue
		}
		start := len(dst)
		end.Seq++
		dst = strconv.AppendUint(append(dst, `{"seq":`...), end.Seq, 10)
		if end.Hash != "" {
			dst = append(append(append(dst, `,"prev":"`...), end.Hash...), '"')
		}
		if len(body) > 2 {
			dst = append(dst, ',')
		}
		dst = append(dst, body[1:]...)
		end.Hash = hashLine(dst[start:])
		dst = append(dst, '\n')
	}
	return dst
}

// hashLine returns the hash of a line, without its line feed.
func hashLine(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// parseLink returns the number of a line, and the hash of the line before. isChained is
// false if the line is not part of a chain.
func parseLink(line []byte) (fields linkFields, isChained bool, err error) {
	err = json.Unmarshal(line, &fields)
	return fields, fields.Seq > 0, err
}

// headSuffix is the suffix of the file that stores the end of the chain. With this file,
// the verification finds lines that are missing at the end of the log. The file has a
// fixed length, so one write replaces its content.
const headSuffix = ".head"

// readHead reads the end of the chain from its file. ok is false if the file does not
// exist.
func readHead(path string) (head chainLink, ok bool, err error) {
	text, err := os.ReadFile(path + headSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return chainLink{}, false, nil
	}
	if err != nil {
		return chainLink{}, false, err
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Seq == 0 || len(head.Hash) != 2*sha256.Size {
		return chainLink{}, true, fmt.Errorf("%s is damaged", path+headSuffix)
	}
	return head, true, nil
}

// writeHead stores the end of the chain in its file. One write replaces the whole
// content, so a crash leaves either the old or the new content.
func writeHead(path string, head chainLink) error {
	file, err := os.OpenFile(path+headSuffix, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "{\"seq\":%20d,\"hash\":%q}\n", head.Seq, head.Hash), 0)
	return errors.Join(err, file.Close())
}

// writeChained writes whole lines to the log file as the next lines of the chain.
func (l *Log) writeChained(text []byte) error {
	unlock, err := lockChain(l.path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.refreshChain(); err != nil {
		return err
	}
	end := l.chain
	text = appendChained(make([]byte, 0, len(text)+len(text)/2), text, &end)
	if err := l.prepareFile(int64(len(text))); err != nil {
		return err
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	if err != nil { // the next write reads the end of the log file again
		l.file.Close()
		l.file = nil
		return err
	}
	l.chain = end
	if err := writeHead(l.path, end); err != nil { // the lines are in the log file before the head is stored
		l.opts.Log.Error().Err(err).Msg("the end of the chain of " + l.opts.Subject + " cannot be stored")
	}
	return nil
}

// lockChain locks the chain. lockChain waits until no other process appends lines.
func lockChain(path string) (unlock func(), err error) {
	return statefile.Lock(path+".lock", lockTimeout)
}

// refreshChain updates l.file and l.chain to the current file and the current end of the
// chain, because another process may have changed both. The caller must lock the chain.
func (l *Log) refreshChain() error {
	if l.file != nil {
		info, err := l.file.Stat()
		if err != nil {
			return err
		}
		if present, err := os.Stat(l.path); err == nil && os.SameFile(info, present) && info.Size() == l.size {
			return nil
		}
		l.file.Close()
		l.file = nil
	}
	if err := repairEnd(l.path); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	last, err := lastLink(l.path)
	if err != nil {
		return err
	}
	// If the file ends before the stored head, lines were removed from the file. The next
	// line then continues from the head, so that the verification finds the gap.
	head, hasHead, err := readHead(l.path)
	if err == nil && hasHead && head.Seq >= last.Seq {
		last = head
	}
	l.chain = last
	return nil
}

// repairEnd removes an incomplete last line that a crash has left in a log file.
func repairEnd(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := readEnd(file)
	if err != nil {
		return err
	}
	incomplete := len(end) - 1 - bytes.LastIndexByte(end, '\n')
	if incomplete == 0 {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return file.Truncate(info.Size() - int64(incomplete))
}

// lastLink returns the end of the chain in a log file. lastLink returns the zero value if
// the last line is not part of a chain.
func lastLink(path string) (chainLink, error) {
	file, err := os.Open(path)
	if err != nil {
		return chainLink{}, err
	}
	defer file.Close()
	end, err := readEnd(file)
	if err != nil {
		return chainLink{}, err
	}
	line := bytes.TrimSuffix(end, []byte("\n"))
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	fields, isChained, err := parseLink(line)
	if err != nil || !isChained {
		return chainLink{}, nil //nolint:nilerr // a damaged line is not part of the chain
	}
	return chainLink{fields.Seq, hashLine(line)}, nil
}

// readEnd returns the last bytes of a log file. These bytes contain at least one whole
// line, unless the line is longer than maxLineBytes.
func readEnd(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	end := make([]byte, min(info.Size(), maxLineBytes+1))
	_, err = file.ReadAt(end, info.Size()-int64(len(end)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return end, err
}
