package upgrade

import (
	"archive/zip"
	"errors"
)

func extractProgram(archive, path string) error {
	files, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer files.Close()
	for _, file := range files.File {
		if !file.Mode().IsRegular() || !isProgram(file.Name) {
			continue
		}
		content, err := file.Open()
		if err != nil {
			return err
		}
		return errors.Join(writeProgram(path, content), content.Close())
	}
	return errNoProgram
}
