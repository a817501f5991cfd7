#!/usr/bin/env node
// Runs the program in the npm package for this system, with the same arguments, streams, signals and exit code.
const { spawn } = require('node:child_process');

const name = `@opentabs/cli-${process.platform}-${process.arch}`;

function findProgram() {
  const file = process.platform === 'win32' ? 'opentabs.exe' : 'opentabs';
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    const isSupported = Object.hasOwn(require('./package.json').optionalDependencies, name);
    console.error(
      isSupported
        ? `opentabs: the npm package ${name}, which has the program for this system, is not installed. Install opentabs again, with optional dependencies: npm install --include=optional opentabs`
        : `opentabs: there is no npm package ${name}: opentabs does not support ${process.platform} on ${process.arch}.`,
    );
    process.exit(1);
  }
}

// The handlers of signals are installed before the program starts, because a signal that ends only the launcher would
// leave the program running. Node calls a signal handler only after all code below has run.
//
// A terminal sends the signal of Ctrl-C to the launcher and the program, so the launcher passes the signal on only
// without a terminal.
const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
  const isFromTerminal = signal === 'SIGINT' || signal === 'SIGQUIT';
  process.on(signal, () => {
    if (!(isFromTerminal && hasTerminal)) program.kill(signal);
  });
}

const program = spawn(findProgram(), process.argv.slice(2), { stdio: 'inherit' });
program.on('error', (error) => {
  console.error(`opentabs: ${program.spawnfile} does not start: ${error.message}`);
  process.exit(1);
});
program.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
