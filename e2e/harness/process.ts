/** Runs the built opentabs binary as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withOperationTimeout } from './wait.ts';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));
export const opentabsBinary = process.env.OPENTABS_BIN ?? `${repositoryRoot}bin/opentabs`;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartedCommand {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  commandResult: Promise<CommandResult>;
}

/** If input is undefined, the standard input of the started command stays open. */
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
  // A command that exits without reading its stdin breaks the pipe, which must not fail the test.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const commandResult = new Promise<CommandResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, commandResult };
}

export function runOpentabs(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<CommandResult> {
  return waitForExit(startOpentabs(args, env, input));
}

/** After a timeout, waitForExit kills the command and throws an error with the stacks of its goroutines. */
async function waitForExit(command: StartedCommand): Promise<CommandResult> {
  try {
    return await withOperationTimeout(command.child.spawnargs.join(' '), command.commandResult);
  } catch (error) {
    command.child.kill('SIGQUIT'); // a Go program prints all goroutine stacks and exits
    const { stdout, stderr } = await withOperationTimeout('the process after SIGQUIT', command.commandResult);
    throw new Error(`${String(error)}\n${stdout}\n${stderr}`);
  }
}

export async function runOrThrow(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const commandResult = await runOpentabs(args, env);
  if (commandResult.code !== 0) {
    throw new Error(
      `opentabs ${args.join(' ')} exited with ${commandResult.code}\n${commandResult.stdout}\n${commandResult.stderr}`,
    );
  }
  return commandResult.stdout;
}

export async function stopProcess(command: StartedCommand, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (command.child.exitCode === null && command.child.signalCode === null) command.child.kill(signal);
  await waitForExit(command);
}
