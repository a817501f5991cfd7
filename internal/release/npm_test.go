package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const pluginSource = `import { definePlugin, defineTool } from '@opentabs/sdk';
import { makeContext } from '@opentabs/sdk/testing';
import { z } from 'zod';

const read = defineTool({
  name: 'read', displayName: 'Read', description: 'Reads.', icon: 'book-open',
  input: z.object({ id: z.string() }), output: z.object({ text: z.string() }),
  async handle({ id }, context) {
    context?.reportCount(1, 1, id);
    return { text: id };
  },
});
export default definePlugin({
  tools: [read],
  isReady() {
    return true;
  },
});
export const context = makeContext();
`

const invalidSource = `import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';
defineTool({
  name: 'read', displayName: 'Read', description: 'Reads.', icon: 'book-open',
  input: z.object({ id: z.string() }), output: z.object({}),
  async handle({ missing }) { return {}; },
});
`

// TestNPMPackages installs the npm packages of a release from a local registry into empty
// folders, and runs them.
func TestNPMPackages(t *testing.T) {
	t.Chdir("../..")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	currentTarget := target{runtime.GOOS, runtime.GOARCH}
	targets := []target{currentTarget, {"windows", "amd64"}}
	r := newRelease(t, targets)
	if err := r.writeNPM(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	env := startRegistry(t, r)
	t.Run("program", func(t *testing.T) { checkLauncher(t, env, currentTarget) })
	t.Run("SDK", func(t *testing.T) { checkInstalledSDK(t, env, root) })
}

func checkLauncher(t *testing.T, env []string, currentTarget target) {
	dir := t.TempDir()
	if output, err := runInFolder(t, dir, env, "npx", "--yes", "opentabs", "--version"); err != nil || !strings.HasSuffix(output, "opentabs 0.1.0\n") {
		t.Fatalf("npx opentabs --version in an empty folder printed %q, error %v; want opentabs 0.1.0", output, err)
	}
	if output, err := runInFolder(t, dir, env, "npm", "install", "--silent", "opentabs"); err != nil {
		t.Fatalf("npm install ended with the error %v, want none: %s", err, output)
	}
	program := filepath.Join(dir, "node_modules", ".bin", "opentabs")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@opentabs", "cli-win32-x64")); err == nil {
		t.Error("npm installed the package of another operating system, want only the package of this one")
	}
	var exitErr *exec.ExitError
	if _, err := runInFolder(t, dir, env, program, "exit", "7"); !toExitError(err, &exitErr) || exitErr.ExitCode() != 7 {
		t.Errorf("the launcher ended with %v, want the exit code 7", err)
	}
	if output, err := runInFolder(t, dir, env, program, "echo"); err != nil || output != "input\nerror\n" {
		t.Errorf("the launcher printed %q, error %v; want the input and the error text", output, err)
	}
	if _, err := runInFolder(t, dir, env, program, "kill"); !toExitError(err, &exitErr) || exitErr.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the launcher of a killed program ended with %v, want SIGKILL", err)
	}
	checkLauncherForwardsSignal(t, env, program)
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@opentabs")); err != nil {
		t.Fatal(err)
	}
	want := "the npm package " + npmName(currentTarget) + ", which has the program for this system, is not installed"
	if output, err := runInFolder(t, dir, env, program, "--version"); err == nil || !strings.Contains(output, want) {
		t.Errorf("without the package of the operating system, the launcher printed %q, error %v; want %q", output, err, want)
	}
}

func toExitError(err error, target **exec.ExitError) bool {
	exitErr, ok := err.(*exec.ExitError)
	if ok {
		*target = exitErr
	}
	return ok
}

// The npm package's launcher must pass SIGTERM on to the opentabs program, and must exit with the program's exit code.
func checkLauncherForwardsSignal(t *testing.T, env []string, program string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "wait")
	cmd.Env, cmd.WaitDelay = env, time.Second // a program that does not exit keeps its stdout open, so Wait needs a limit
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = stdout.Close() })()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the program printed %q, want ready", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "stopped" {
		t.Errorf("after SIGTERM the program printed %q, want stopped", lines.Text())
	}
	var exitErr *exec.ExitError
	if err := cmd.Wait(); !toExitError(err, &exitErr) || exitErr.ExitCode() != 9 {
		t.Errorf("after SIGTERM the launcher exited with %v, want the exit code 9", err)
	}
}

func checkInstalledSDK(t *testing.T, env []string, root string) {
	dir := t.TempDir()
	if output, err := runInFolder(t, dir, env, "npm", "install", "--silent", "@opentabs/sdk", "zod"); err != nil {
		t.Fatalf("npm install ended with the error %v, want none: %s", err, output)
	}
	for name, fileContent := range map[string]string{
		"plugin.ts": pluginSource, "wrong.ts": invalidSource,
		"package.json": `{"type": "module", "dependencies": {"@opentabs/sdk": "0.1.0", "zod": "4"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compiler := filepath.Join(root, "node_modules", ".bin", "tsc")
	for _, resolution := range []string{"nodenext", "bundler"} {
		module := strings.Replace(resolution, "bundler", "esnext", 1)
		options := []string{"--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom,dom.iterable", "--types", "", "--module", module, "--moduleResolution", resolution}
		if output, err := runInFolder(t, dir, env, compiler, append(options, "plugin.ts")...); err != nil {
			t.Errorf("a plugin with the types of the SDK (%s): compiler error %v, want none\n%s", resolution, err, output)
		}
		if resolution == "bundler" {
			continue
		}
		if output, err := runInFolder(t, dir, env, compiler, append(options, "wrong.ts")...); err == nil || !strings.Contains(output, "missing") {
			t.Errorf("a plugin with a wrong argument (%s): compiler error %v, want an error\n%s", resolution, err, output)
		}
	}
	script := `const sdk = await import('@opentabs/sdk'); const { makeContext } = await import('@opentabs/sdk/testing');
await import('@opentabs/sdk/pre-script'); console.log(sdk.buildQueryString({ a: 1 }), typeof makeContext());`
	if output, err := runInFolder(t, dir, env, "node", "--input-type=module", "--eval", script); err != nil || output != "a=1 object\n" {
		t.Errorf("Node printed %q, error %v; want the query and the type", output, err)
	}
}
