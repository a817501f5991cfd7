package browser

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// maxUploadBytes limits the total size of the files in one upload, because their base64
// text must fit into a frame.
const maxUploadBytes = 40 << 20

// uploadedFile is one file that the extension puts into a file field.
type uploadedFile struct {
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

// readUploads rejects files outside the allowed folders, hidden files, and links that lead out of the allowed folders.
func readUploads(args json.RawMessage, folders []string) (json.RawMessage, *wire.CallError) {
	var paths []string
	if err := json.Unmarshal(rawjson.Get(args, "paths"), &paths); err != nil {
		return nil, &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the paths can't be read: " + err.Error()}
	}
	uploads, totalBytes := []uploadedFile{}, 0
	for _, path := range paths {
		content, err := readUpload(path, folders, maxUploadBytes-totalBytes)
		if err != nil {
			return nil, newUploadError(err)
		}
		totalBytes += len(content)
		name := filepath.Base(path)
		uploads = append(uploads, uploadedFile{Name: name, MimeType: mime.TypeByExtension(filepath.Ext(name)), Data: base64.StdEncoding.EncodeToString(content)})
	}
	return setMember(removeMembers(args, "paths", "files"), "files", rawjson.Encode(uploads)), nil
}

func newUploadError(err error) *wire.CallError {
	callErr := &wire.CallError{Code: wire.ErrDenied, Message: err.Error(), UserText: "The upload was refused: " + err.Error() + ". Upload another file."}
	if refusedFolderError := (*folderError)(nil); errors.As(err, &refusedFolderError) {
		callErr.UserText = refusedFolderError.userText()
	}
	return callErr
}

// folderError is the error of an upload of a file outside the folders that the user allows.
type folderError struct {
	path    string
	folders []string
}

func (e *folderError) Error() string {
	if len(e.folders) == 0 {
		return "no folder is allowed for uploads; the user can allow one with the setting uploadFolders"
	}
	return fmt.Sprintf("%q is in no folder that the user allows for uploads; allowed: %s", e.path, strings.Join(e.folders, ", "))
}

func (e *folderError) userText() string {
	errorSentence := fmt.Sprintf("%q is in no folder that you allow for uploads (%s)", e.path, strings.Join(e.folders, ", "))
	if len(e.folders) == 0 {
		errorSentence = "No folder is allowed for uploads"
	}
	return errorSentence + ". To allow a folder, run `opentabs config set uploadFolders FOLDERS`."
}

// A request for approval of an upload lists the full paths of all files. The approval covers only the listed files.
func newUploadRequest(callInfo dispatch.CallInfo, site, noteText string) dispatch.Verdict {
	var paths []string
	for _, path := range siteArgsOf(callInfo).Paths {
		paths = append(paths, strconv.Quote(path))
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: site,
		Reason: fmt.Sprintf("%s wants to upload to %s: %s%s", policy.RequesterText(callInfo), site, strings.Join(paths, ", "), noteText),
	}}
}

func readUpload(path string, folders []string, limit int) ([]byte, error) {
	folder, relativePath, err := findUpload(path, folders)
	if err != nil {
		return nil, err
	}
	content, err := readFileInFolder(folder, relativePath, limit)
	if err != nil {
		return nil, fmt.Errorf("%q can't be uploaded: %w", path, err)
	}
	return content, nil
}

// findUpload splits the path of an upload into an allowed folder and the rest, without access to
// the disk.
func findUpload(path string, folders []string) (folder, relativePath string, err error) {
	if len(folders) == 0 {
		return "", "", &folderError{path, folders}
	}
	for _, folder := range folders {
		relativePath, err := filepath.Rel(folder, path)
		if err != nil || !filepath.IsLocal(relativePath) || !filepath.IsAbs(path) {
			continue
		}
		if hasHiddenPathElement(relativePath) {
			return "", "", fmt.Errorf("%q is hidden, and hidden files are never uploaded", path)
		}
		return folder, relativePath, nil
	}
	return "", "", &folderError{path, folders}
}

func hasHiddenPathElement(relativePath string) bool {
	for textPart := range strings.SplitSeq(filepath.ToSlash(relativePath), "/") {
		if strings.HasPrefix(textPart, ".") {
			return true
		}
	}
	return false
}

// Links that lead out of the folder are not followed, because os.Root rejects them.
func readFileInFolder(folder, relativePath string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	// Check the kind of the file before opening it, because opening a named pipe without
	// a writer blocks.
	if fileInfo, err := root.Stat(relativePath); err != nil {
		return nil, err
	} else if !fileInfo.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := root.Open(relativePath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, fmt.Errorf("the files are larger than %s together", humanize.Bytes(maxUploadBytes))
	}
	return content, nil
}
