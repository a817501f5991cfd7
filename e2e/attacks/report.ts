/**
 * Runs every attack test, Go's and those in a real browser, and prints one line for each: the threat, what was tried, and
 * whether it held. It fails if one did not, or if a threat was not tried at all.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Threats are the groups of docs/security.md; each attack names its own. */
const Threats = ['page', 'origin', 'user', 'plugin', 'browser', 'agent', 'text'] as const;

interface Attack {
  readonly threat: string;
  readonly tried: string;
  readonly held: boolean;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const attacks: Attack[] = [];
const began = Date.now();

/** lines runs a program and hands each line of its output on; it returns the exit code. */
async function lines(
  command: string,
  args: readonly string[],
  cwd: string,
  take: (line: string) => void,
): Promise<number> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4000);
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
  for await (const line of createInterface({ input: child.stdout })) take(line);
  const code = await ended;
  if (code !== 0) process.stderr.write(said);
  return code;
}

function tell(threat: string, tried: string, held: boolean): void {
  attacks.push({ threat, tried, held });
  process.stdout.write(`${threat.padEnd(8)}  ${held ? 'held    ' : 'NOT HELD'}  ${tried}\n`);
}

/** goAttacks runs the tests named TestAttackBy and a threat; each of their subtests is one attack. */
function goAttacks(): Promise<number> {
  const output: string[] = [];
  return lines('go', ['test', '-json', '-count=1', '-run', '^TestAttackBy', './...'], root, (line) => {
    const event: unknown = JSON.parse(line);
    if (typeof event !== 'object' || event === null || !('Action' in event)) return;
    if ('Output' in event) output.push(String(event.Output));
    if (event.Action !== 'pass' && event.Action !== 'fail') return;
    const [, threat = '', tried = ''] =
      /^TestAttackBy(\w+)\/([^/]+)$/.exec('Test' in event ? String(event.Test) : '') ?? [];
    if (tried !== '') tell(threat.toLowerCase(), tried.replaceAll('_', ' '), event.Action === 'pass');
    if (event.Action === 'fail') process.stderr.write(output.splice(0).slice(-60).join(''));
  });
}

/** nodeAttacks runs files of tests, whose names begin with their threat. */
function nodeAttacks(files: readonly string[], cwd: string): Promise<number> {
  const tsx = `${root}node_modules/.bin/tsx`;
  const args = ['--test', '--test-concurrency=1', '--test-timeout=300000', '--test-reporter=tap', ...files];
  let failed = false;
  return lines(tsx, args, cwd, (line) => {
    const [, not, name = ''] = /^(?: {4})?(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    const [, threat, tried = ''] = /^(\w+): (.*)$/.exec(name) ?? [];
    if (threat !== undefined) {
      failed = not !== undefined;
      tell(threat, tried.replaceAll('\\#', '#'), !failed);
    } else if (failed && /^\s/.test(line)) process.stderr.write(`${line}\n`);
  });
}

const here = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
const codes = [
  await goAttacks(),
  await nodeAttacks(['src/host/attack.test.ts'], `${root}extension`),
  await nodeAttacks(files, here),
];

const missing = Threats.filter((threat) => !attacks.some((attack) => attack.threat === threat));
const fallen = attacks.filter((attack) => !attack.held);
const strange = attacks.filter((attack) => !Threats.some((threat) => threat === attack.threat));
process.stdout.write(
  `${attacks.length} attacks, ${attacks.length - fallen.length} held, in ${Math.round((Date.now() - began) / 1000)} s\n`,
);
for (const threat of missing) process.stdout.write(`nobody tried the threat ${threat}\n`);
for (const attack of strange) process.stdout.write(`the threat ${attack.threat} is in no group of docs/security.md\n`);
process.exitCode = fallen.length + missing.length + strange.length > 0 || codes.some((code) => code !== 0) ? 1 : 0;
