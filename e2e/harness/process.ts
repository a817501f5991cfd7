/** Runs the built opentabs binary as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withLimit } from './wait.ts';

/**
 * repositoryRoot is the repository's root folder, with a trailing slash. binary is the path of the opentabs binary
 * under test.
 */
export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));
export const opentabsBinary = process.env.OPENTABS_BIN ?? `${repositoryRoot}bin/opentabs`;

/** CommandResult is the output and the exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * StartedCommand is a running opentabs command. The promise `ended` resolves with the command's result when the process
 * exits.
 */
export interface StartedCommand {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<CommandResult>;
}

/**
 * startOpentabs starts the opentabs binary with additional environment variables. input is written to standard input,
 * which is then closed. If input is undefined, the command's standard input stays open.
 */
export function startOpentabs(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): StartedCommand {
  const child = spawn(opentabsBinary, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  // A command that exits without reading its stdin breaks the pipe, and a later write to this pipe must not fail the
  // test.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** runOpentabs runs the opentabs binary and waits until the process exits. */
export function runOpentabs(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<CommandResult> {
  return waitForExit(startOpentabs(args, env, input));
}

/**
 * waitForExit waits until a command exits. After a timeout, waitForExit kills the command and throws an error with the
 * stacks of its goroutines.
 */
async function waitForExit(command: StartedCommand): Promise<CommandResult> {
  try {
    return await withLimit(command.child.spawnargs.join(' '), command.ended);
  } catch (error) {
    command.child.kill('SIGQUIT'); // a Go program prints all goroutine stacks and exits
    const { stdout, stderr } = await withLimit('the process after SIGQUIT', command.ended);
    throw new Error(`${String(error)}\n${stdout}\n${stderr}`);
  }
}

/** runChecked runs the opentabs binary and returns its standard output. runChecked throws if the exit code is not 0. */
export async function runChecked(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const result = await runOpentabs(args, env);
  if (result.code !== 0) {
    throw new Error(`opentabs ${args.join(' ')} exited with ${result.code}\n${result.stdout}\n${result.stderr}`);
  }
  return result.stdout;
}

/** stopProcess sends a signal to a command that the test started, and waits until the process exits. */
export async function stopProcess(command: StartedCommand, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (command.child.exitCode === null && command.child.signalCode === null) command.child.kill(signal);
  await waitForExit(command);
}
