package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const raceEnvVariable = "OPENTABS_TEST_RACE"

// runTests ends the process, like [testscript.Main]. The program is built without -race, because the tests would need
// three times the CPU time with -race.
func runTests(m *testing.M, commands map[string]func()) {
	if os.Getenv(raceEnvVariable) != "" {
		commands["opentabs"] = main
		testscript.Main(m, commands)
	}
	testscript.Main(programTests{m}, commands)
}

type programTests struct{ tests *testing.M }

func (w programTests) Run() int {
	if err := buildProgram("fakebrowser"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return w.tests.Run()
}

// The build options are those of `make build`, so that the test shares Go's build cache.
func buildProgram(siblingProgram string) error {
	path, err := exec.LookPath(siblingProgram)
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(filepath.Dir(path), "opentabs"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if cmdOutput, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build opentabs for the tests: %w\n%s", err, cmdOutput)
	}
	return nil
}
