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

// lockTimeout limits how long a log waits for another process that is appending lines.
const lockTimeout = 5 * time.Second

// chainLink is the end of a hash chain: the number and the hexadecimal SHA-256 hash of
// the last line. The zero chainLink is the beginning of a hash chain.
type chainLink struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// lineChainFields are the members of each JSON line that Verify needs: the number of the line,
// the hash of the previous line, and the time.
type lineChainFields struct {
	Seq  uint64    `json:"seq"`
	Prev string    `json:"prev"`
	Time time.Time `json:"time"`
}

// appendChainedLines drops an incomplete line at the end of newLines.
func appendChainedLines(buffer, newLines []byte, lastLink *chainLink) []byte {
	for line := range bytes.Lines(newLines) {
		body, isComplete := bytes.CutSuffix(line, []byte("\n"))
		if !isComplete || len(body) < 2 || body[0] != '{' {
			continue
		}
		startIndex := len(buffer)
		lastLink.Seq++
		buffer = strconv.AppendUint(append(buffer, `{"seq":`...), lastLink.Seq, 10)
		if lastLink.Hash != "" {
			buffer = append(append(append(buffer, `,"prev":"`...), lastLink.Hash...), '"')
		}
		if len(body) > 2 {
			buffer = append(buffer, ',')
		}
		buffer = append(buffer, body[1:]...)
		lastLink.Hash = hashLine(buffer[startIndex:])
		buffer = append(buffer, '\n')
	}
	return buffer
}

// hashLine expects a line without its line feed.
func hashLine(line []byte) string {
	checksum := sha256.Sum256(line)
	return hex.EncodeToString(checksum[:])
}

// isChained is false if the line has no number, because only lines in a hash chain have numbers.
func parseLink(line []byte) (fields lineChainFields, isChained bool, err error) {
	err = json.Unmarshal(line, &fields)
	return fields, fields.Seq > 0, err
}

// headFileSuffix is the suffix of the head file, which stores the number and hash of the
// log's last line. The head file lets Verify detect that lines at the end of the log were
// removed. The head file has a fixed length, so a single write replaces its content.
const headFileSuffix = ".head"

// If the head file does not exist, ok is false.
func readFirstLink(path string) (newestLink chainLink, ok bool, err error) {
	newLines, err := os.ReadFile(path + headFileSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return chainLink{}, false, nil
	}
	if err != nil {
		return chainLink{}, false, err
	}
	if err := json.Unmarshal(newLines, &newestLink); err != nil || newestLink.Seq == 0 || len(newestLink.Hash) != 2*sha256.Size {
		return chainLink{}, true, fmt.Errorf("%s is damaged", path+headFileSuffix)
	}
	return newestLink, true, nil
}

// A crash during the write leaves either the old or the new content of the head file.
func writeHeadFile(path string, newestLink chainLink) error {
	file, err := os.OpenFile(path+headFileSuffix, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "{\"seq\":%20d,\"hash\":%q}\n", newestLink.Seq, newestLink.Hash), 0)
	return errors.Join(err, file.Close())
}

func (l *Log) writeChainedLines(newLines []byte) error {
	unlock, err := lockChain(l.path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.refreshChain(); err != nil {
		return err
	}
	lastLink := l.chain
	newLines = appendChainedLines(make([]byte, 0, len(newLines)+len(newLines)/2), newLines, &lastLink)
	if err := l.prepareFile(int64(len(newLines))); err != nil {
		return err
	}
	n, err := l.file.Write(newLines)
	l.size += int64(n)
	if err != nil {
		l.file.Close()
		l.file = nil
		return err
	}
	l.chain = lastLink
	if err := writeHeadFile(l.path, lastLink); err != nil { // the lines are already in the log file, so this error is only logged
		l.opts.Log.Error().Err(err).Msg("the end of the chain of " + l.opts.Subject + " cannot be stored")
	}
	return nil
}

func lockChain(path string) (unlock func(), err error) {
	return statefile.Lock(path+".lock", lockTimeout)
}

// The caller of refreshChain must have locked the chain with lockChain.
func (l *Log) refreshChain() error {
	if l.file != nil {
		fileInfo, err := l.file.Stat()
		if err != nil {
			return err
		}
		if currentInfo, err := os.Stat(l.path); err == nil && os.SameFile(fileInfo, currentInfo) && fileInfo.Size() == l.size {
			return nil
		}
		l.file.Close()
		l.file = nil
	}
	if err := removeIncompleteLine(l.path); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	lastChainLink, err := readLastLink(l.path)
	if err != nil {
		return err
	}
	// After lines were removed from the log, the next line's number follows the head file, so that Verify finds the
	// gap.
	newestLink, hasHeadFile, err := readFirstLink(l.path)
	if err == nil && hasHeadFile && newestLink.Seq >= lastChainLink.Seq {
		lastChainLink = newestLink
	}
	l.chain = lastChainLink
	return nil
}

func removeIncompleteLine(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lastBytes, err := readFileEnd(file)
	if err != nil {
		return err
	}
	incompleteBytes := len(lastBytes) - 1 - bytes.LastIndexByte(lastBytes, '\n')
	if incompleteBytes == 0 {
		return nil
	}
	fileInfo, err := file.Stat()
	if err != nil {
		return err
	}
	return file.Truncate(fileInfo.Size() - int64(incompleteBytes))
}

func readLastLink(path string) (chainLink, error) {
	file, err := os.Open(path)
	if err != nil {
		return chainLink{}, err
	}
	defer file.Close()
	lastBytes, err := readFileEnd(file)
	if err != nil {
		return chainLink{}, err
	}
	line := bytes.TrimSuffix(lastBytes, []byte("\n"))
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	fields, isChained, err := parseLink(line)
	if err != nil || !isChained {
		return chainLink{}, nil //nolint:nilerr // a damaged line is not part of the chain
	}
	return chainLink{fields.Seq, hashLine(line)}, nil
}

// readFileEnd returns the complete last line of the file, unless this line is longer than maxLineBytes.
func readFileEnd(file *os.File) ([]byte, error) {
	fileInfo, err := file.Stat()
	if err != nil {
		return nil, err
	}
	lastBytes := make([]byte, min(fileInfo.Size(), maxLineBytes+1))
	_, err = file.ReadAt(lastBytes, fileInfo.Size()-int64(len(lastBytes)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return lastBytes, err
}
