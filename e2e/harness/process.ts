/** The built binary as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** root is the repository's folder, binary the program under test. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
export const binary = process.env.OPENTABS_BIN ?? `${root}bin/opentabs`;

/** Ran is what a command printed and how it ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Running is a command that has not ended. */
export interface Running {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<Ran>;
}

/** start starts the binary with its own environment. */
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
  // A command that ends without reading its input breaks the pipe; that is no fault.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** run runs the binary to its end. */
export function run(args: readonly string[], env: Readonly<Record<string, string>>, input = ''): Promise<Ran> {
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

/** stop ends a process that this test started, by its pid, and waits for it. */
export async function stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (running.child.exitCode === null && running.child.signalCode === null) running.child.kill(signal);
  await running.ended;
}
