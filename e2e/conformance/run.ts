/**
 * Runs the official MCP conformance suites against opentabs with a real browser. The run fails if a check fails that
 * expected.json does not list, or if a listed check passes.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '../harness/process.ts';
import { startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { startProxy } from './proxy.ts';
import { addVerdicts, compareVerdicts, type ExpectedFailures, readExpected, type Verdicts } from './verdicts.ts';

const runnerFolder = fileURLToPath(new URL('./', import.meta.url));

interface ConformanceRun {
  readonly name: string;
  readonly suite: string;
  readonly version: string;
}

const conformanceRuns: readonly ConformanceRun[] = [
  { name: '0.1.16 at 2025-11-25', suite: 'conformance-0.1', version: '2025-11-25' },
  { name: '0.2.0-alpha.12 at 2025-11-25', suite: 'conformance-0.2', version: '2025-11-25' },
  { name: '0.2.0-alpha.12 at 2026-07-28', suite: 'conformance-0.2', version: '2026-07-28' },
];

function findNode22(): string {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const packagedNodePath = join(runnerFolder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (existsSync(packagedNodePath)) return packagedNodePath;
  throw new Error(`the suites need Node 22, this is ${process.version}; install Node 22 or newer`);
}

async function runSuite(conformanceRun: ConformanceRun, url: string): Promise<Verdicts> {
  const outputFolder = mkdtempSync(join(tmpdir(), 'opentabs-conformance-'));
  const script = join(runnerFolder, 'node_modules', conformanceRun.suite, 'dist/index.js');
  const args = [
    script,
    'server',
    '--url',
    url,
    '--suite',
    'all',
    '--spec-version',
    conformanceRun.version,
    '-o',
    outputFolder,
  ];
  const child = spawn(findNode22(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  await new Promise((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', reject);
  });
  const suiteVerdicts: Verdicts = new Map();
  for (const file of readdirSync(outputFolder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('checks.json')) continue;
    const scenario = /server-(.*)-\d{4}-\d\d-\d\dT/.exec(file)?.[1] ?? file;
    addVerdicts(scenario, JSON.parse(readFileSync(join(outputFolder, file), 'utf8')), suiteVerdicts);
  }
  rmSync(outputFolder, { recursive: true, force: true });
  if (suiteVerdicts.size === 0) throw new Error(`${conformanceRun.name} ran no checks:\n${output}`);
  return suiteVerdicts;
}

async function main(): Promise<boolean> {
  const stack = await startStack();
  const runCli = (...args: string[]) => runOrThrow(args, stack.env);
  try {
    const plugin = join(stack.homeFolder, 'conformance-plugin');
    cpSync(join(runnerFolder, 'plugin'), plugin, { recursive: true });
    await runCli('plugin', 'build', plugin);
    setToolSchema(join(plugin, 'dist/tools.json'));
    await runCli('plugin', 'add', plugin, '--permission', 'auto');
    const client = await stack.connectHttp();
    await waitFor('the conformance plugin', async () => {
      await stack.page.reload(); // a plugin does not run in pages that were open before the plugin was added
      return !(await client.call('conformance__test_simple_text')).isError;
    });

    let isPluginAdded = true;
    const proxy = await startProxy({
      port: stack.port,
      token: stack.clientToken,
      async changeToolLists() {
        isPluginAdded = !isPluginAdded;
        await runCli(
          'plugin',
          ...(isPluginAdded ? ['add', stack.pluginFolder, '--permission', 'auto'] : ['remove', 'messages']),
        );
      },
    });
    const expectedFailures = readExpected(JSON.parse(readFileSync(join(runnerFolder, 'expected.json'), 'utf8')));
    let allVerdictsMatch = true;
    for (const conformanceRun of conformanceRuns) {
      const suiteVerdicts = await runSuite(conformanceRun, proxy.url);
      if (process.argv.includes('--list')) printFailures(conformanceRun, suiteVerdicts);
      allVerdictsMatch = printReport(conformanceRun, expectedFailures, suiteVerdicts) && allVerdictsMatch;
    }
    await proxy.close();
    return allVerdictsMatch;
  } finally {
    await stack.close();
  }
}

/**
 * The conformance suite expects an input schema that zod cannot express, so the schema is written into the manifest.
 */
function setToolSchema(file: string): void {
  const schema: unknown = JSON.parse(readFileSync(join(runnerFolder, 'schema-2020-12.json'), 'utf8'));
  const fileText = readFileSync(file, 'utf8');
  const manifest: unknown = JSON.parse(fileText, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'name' in value && value.name === 'json_schema_2020_12_tool'
      ? { ...value, input_schema: schema }
      : value,
  );
  writeFileSync(file, JSON.stringify(manifest));
}

function printFailures(conformanceRun: ConformanceRun, suiteVerdicts: Verdicts): void {
  for (const [checkName, { status, message: checkMessage }] of suiteVerdicts) {
    if (status === 'FAILURE' || status === 'WARNING')
      console.log(`${conformanceRun.name}\t${status}\t${checkName}\t${checkMessage}`);
  }
}

function printReport(
  conformanceRun: ConformanceRun,
  expectedFailures: ExpectedFailures,
  suiteVerdicts: Verdicts,
): boolean {
  const { unexpectedFailures, staleChecks, verdictCounts } = compareVerdicts(
    expectedFailures,
    conformanceRun.name,
    suiteVerdicts,
  );
  for (const line of unexpectedFailures) console.log(`unexpected: ${line}`);
  for (const line of staleChecks) console.log(`passes: ${line}: take it out of e2e/conformance/expected.json`);
  console.log(
    `conformance ${conformanceRun.name}: ${verdictCounts.passed} passed, ${verdictCounts.expected} fail as expected, ${unexpectedFailures.length} unexpected, ${staleChecks.length} to take off the list`,
  );
  return unexpectedFailures.length === 0 && staleChecks.length === 0;
}

process.exitCode = (await main()) ? 0 : 1;
