/** Runs the built binary as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** root is the repository's folder. binary is the program under test. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
export const binary = process.env.OPENTABS_BIN ?? `${root}bin/opentabs`;

/** CommandResult is the output and the exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Running is a command that was started; ended resolves when it exits. */
export interface Running {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<CommandResult>;
}

/** start starts the binary with additional environment variables. */
export function start(args: readonly string[], env: Readonly<Record<string, string>>, input?: string): Running {
  const child = spawn(binary, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  // A command may end without reading its input, which breaks the pipe. That is not a failure.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** run runs the binary and waits until it exits. */
export function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<CommandResult> {
  return start(args, env, input).ended;
}

/** must runs the binary and fails unless it exits with 0. */
export async function must(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const ran = await run(args, env);
  if (ran.code !== 0) {
    throw new Error(`opentabs ${args.join(' ')} exited with ${ran.code}\n${ran.stdout}\n${ran.stderr}`);
  }
  return ran.stdout;
}

/** stop sends a signal to a process of this test and waits until it exits. */
export async function stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (running.child.exitCode === null && running.child.signalCode === null) running.child.kill(signal);
  await running.ended;
}
