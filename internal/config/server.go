package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"opentabs/internal/statefile"
)

// Server is the record that a running server writes to server.json for other processes. A
// process that reads server.json must check that a server answers on Port, because the
// record of a killed server remains.
type Server struct {
	PID     int       `json:"pid"`
	Port    int       `json:"port"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// WriteServer writes the record of this server process to server.json.
func (d Dirs) WriteServer(s Server) error {
	encodedJSON, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the server's record: %w", err)
	}
	return statefile.Write(d.serverFile(), append(encodedJSON, '\n'))
}

// ReadServer reads the record that the running server wrote to server.json. If
// server.json is missing or malformed, ReadServer returns ok = false.
func (d Dirs) ReadServer() (s Server, ok bool) {
	fileContent, err := os.ReadFile(d.serverFile())
	if err != nil || json.Unmarshal(fileContent, &s) != nil || s.PID <= 0 || s.Port <= 0 || s.Port > 65535 {
		return Server{}, false
	}
	return s, true
}

// RemoveServer removes server.json if the process pid wrote it.
func (d Dirs) RemoveServer(pid int) error {
	if s, ok := d.ReadServer(); !ok || s.PID != pid {
		return nil
	}
	if err := os.Remove(d.serverFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the server's record: %w", err)
	}
	return nil
}
