/**
 * Runs every attack test, in Go and in a real browser. The process exits with code 1 if an attack succeeded or a threat
 * has no attack test.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The name of each attack test contains its threat. */
const threatNames = ['page', 'origin', 'user', 'plugin', 'browser', 'client', 'agent', 'tools', 'text'] as const;

interface Attack {
  readonly threatName: string;
  readonly attackName: string;
  readonly isRepelled: boolean;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const attacks: Attack[] = [];
const startedMs = Date.now();

async function runAndReadLines(
  command: string,
  args: readonly string[],
  cwd: string,
  onLine: (line: string) => void,
): Promise<number> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let errorOutput = '';
  child.stderr.on('data', (chunk) => {
    errorOutput = `${errorOutput}${chunk}`.slice(-4000);
  });
  const exitCode = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  const code = await exitCode;
  if (code !== 0) process.stderr.write(errorOutput);
  return code;
}

function reportAttack(threatName: string, attackName: string, isRepelled: boolean): void {
  attacks.push({ threatName, attackName, isRepelled });
  process.stdout.write(`${threatName.padEnd(8)}  ${isRepelled ? 'repelled ' : 'SUCCEEDED'}  ${attackName}\n`);
}

/** Each subtest of a test TestAttackBy... simulates one attack. */
function runGoAttacks(): Promise<number> {
  const output: string[] = [];
  return runAndReadLines('go', ['test', '-json', '-count=1', '-run', '^TestAttackBy', './...'], root, (line) => {
    const event: unknown = JSON.parse(line);
    if (typeof event !== 'object' || event === null || !('Action' in event)) return;
    if ('Output' in event) output.push(String(event.Output));
    if (event.Action !== 'pass' && event.Action !== 'fail') return;
    const [, threatName = '', attempt = ''] =
      /^TestAttackBy(\w+)\/([^/]+)$/.exec('Test' in event ? String(event.Test) : '') ?? [];
    if (attempt !== '') reportAttack(threatName.toLowerCase(), attempt.replaceAll('_', ' '), event.Action === 'pass');
    if (event.Action === 'fail') process.stderr.write(output.splice(0).slice(-60).join(''));
  });
}

function runNodeAttacks(testFiles: readonly string[], cwd: string): Promise<number> {
  const tsx = `${root}node_modules/.bin/tsx`;
  const args = ['--test', '--test-concurrency=1', '--test-timeout=300000', '--test-reporter=tap', ...testFiles];
  let lastTestFailed = false;
  return runAndReadLines(tsx, args, cwd, (line) => {
    const [, failureMark, name = ''] = /^(?: {4})?(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    const [, threatName, attempt = ''] = /^(\w+): (.*)$/.exec(name) ?? [];
    if (threatName !== undefined) {
      lastTestFailed = failureMark !== undefined;
      reportAttack(threatName, attempt.replaceAll('\\#', '#'), !lastTestFailed);
    } else if (lastTestFailed && /^\s/.test(line)) process.stderr.write(`${line}\n`);
  });
}

const attacksFolder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(attacksFolder).filter((name) => name.endsWith('.test.ts'));
const exitCodes = [
  await runGoAttacks(),
  await runNodeAttacks(['src/host/attack.test.ts'], `${root}extension`),
  await runNodeAttacks(files, attacksFolder),
];

const untriedThreats = threatNames.filter((threatName) => !attacks.some((attack) => attack.threatName === threatName));
const succeeded = attacks.filter((attack) => !attack.isRepelled);
const unlisted = attacks.filter((attack) => !threatNames.some((threatName) => threatName === attack.threatName));
process.stdout.write(
  `${attacks.length} attacks, ${attacks.length - succeeded.length} repelled, in ${Math.round((Date.now() - startedMs) / 1000)} s\n`,
);
for (const threatName of untriedThreats) process.stdout.write(`the threat ${threatName} has no attack\n`);
for (const attack of unlisted)
  process.stdout.write(`the threat ${attack.threatName} is in no group of docs/security.md\n`);
process.exitCode =
  succeeded.length + untriedThreats.length + unlisted.length > 0 || exitCodes.some((code) => code !== 0) ? 1 : 0;
