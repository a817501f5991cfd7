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

interface AttackResult {
  readonly threatName: string;
  readonly attackName: string;
  readonly isBlocked: boolean;
}

const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));
const attackResults: AttackResult[] = [];
const startedMs = Date.now();

async function runAndReadLines(
  command: string,
  args: readonly string[],
  workingFolder: string,
  onLine: (outputLine: string) => void,
): Promise<number> {
  const child = spawn(command, args, { cwd: workingFolder, stdio: ['ignore', 'pipe', 'pipe'] });
  let errorOutput = '';
  child.stderr.on('data', (chunk) => {
    errorOutput = `${errorOutput}${chunk}`.slice(-4000);
  });
  const exitCode = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
  for await (const outputLine of createInterface({ input: child.stdout })) onLine(outputLine);
  const code = await exitCode;
  if (code !== 0) process.stderr.write(errorOutput);
  return code;
}

function reportAttack(threatName: string, attackName: string, isBlocked: boolean): void {
  attackResults.push({ threatName, attackName, isBlocked });
  process.stdout.write(`${threatName.padEnd(8)}  ${isBlocked ? 'repelled ' : 'SUCCEEDED'}  ${attackName}\n`);
}

/** Each subtest of a test TestAttackBy... simulates one attack. */
function runGoAttacks(): Promise<number> {
  const output: string[] = [];
  return runAndReadLines(
    'go',
    ['test', '-json', '-count=1', '-run', '^TestAttackBy', './...'],
    repositoryRoot,
    (outputLine) => {
      const event: unknown = JSON.parse(outputLine);
      if (typeof event !== 'object' || event === null || !('Action' in event)) return;
      if ('Output' in event) output.push(String(event.Output));
      if (event.Action !== 'pass' && event.Action !== 'fail') return;
      const [, threatName = '', attackName = ''] =
        /^TestAttackBy(\w+)\/([^/]+)$/.exec('Test' in event ? String(event.Test) : '') ?? [];
      if (attackName !== '')
        reportAttack(threatName.toLowerCase(), attackName.replaceAll('_', ' '), event.Action === 'pass');
      if (event.Action === 'fail') process.stderr.write(output.splice(0).slice(-60).join(''));
    },
  );
}

function runNodeAttacks(testFiles: readonly string[], workingFolder: string): Promise<number> {
  const tsxPath = `${repositoryRoot}node_modules/.bin/tsx`;
  const args = ['--test', '--test-concurrency=1', '--test-timeout=300000', '--test-reporter=tap', ...testFiles];
  let lastTestFailed = false;
  return runAndReadLines(tsxPath, args, workingFolder, (outputLine) => {
    const [, failurePrefix, name = ''] = /^(?: {4})?(not )?ok \d+ - (.*)$/.exec(outputLine) ?? [];
    const [, threatName, attackName = ''] = /^(\w+): (.*)$/.exec(name) ?? [];
    if (threatName !== undefined) {
      lastTestFailed = failurePrefix !== undefined;
      reportAttack(threatName, attackName.replaceAll('\\#', '#'), !lastTestFailed);
    } else if (lastTestFailed && /^\s/.test(outputLine)) process.stderr.write(`${outputLine}\n`);
  });
}

const attacksFolder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(attacksFolder).filter((name) => name.endsWith('.test.ts'));
const exitCodes = [
  await runGoAttacks(),
  await runNodeAttacks(['src/host/attack.test.ts'], `${repositoryRoot}extension`),
  await runNodeAttacks(files, attacksFolder),
];

const untriedThreats = threatNames.filter(
  (threatName) => !attackResults.some((attackResult) => attackResult.threatName === threatName),
);
const succeededAttacks = attackResults.filter((attackResult) => !attackResult.isBlocked);
const unlistedAttacks = attackResults.filter(
  (attackResult) => !threatNames.some((threatName) => threatName === attackResult.threatName),
);
process.stdout.write(
  `${attackResults.length} attacks, ${attackResults.length - succeededAttacks.length} repelled, in ${Math.round((Date.now() - startedMs) / 1000)} s\n`,
);
for (const threatName of untriedThreats) process.stdout.write(`the threat ${threatName} has no attack test\n`);
for (const attackResult of unlistedAttacks)
  process.stdout.write(`the threat ${attackResult.threatName} is in no group of docs/security.md\n`);
process.exitCode =
  succeededAttacks.length + untriedThreats.length + unlistedAttacks.length > 0 || exitCodes.some((code) => code !== 0)
    ? 1
    : 0;
