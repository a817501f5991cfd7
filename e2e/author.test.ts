/** A plugin from `plugin create` compiles offline with the author's version of TypeScript. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryRoot, runOpentabs, runOrThrow } from './harness/process.ts';

const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
const env = { OPENTABS_HOME: join(homeFolder, 'home'), NO_COLOR: '1' };
const pluginFolder = join(homeFolder, 'tickets');
after(() => rmSync(homeFolder, { recursive: true, force: true }));

test('a new plugin compiles without a change', async () => {
  await runOrThrow(['plugin', 'create', 'tickets', '--dir', homeFolder], env);
  mkdirSync(join(pluginFolder, 'node_modules'));
  symlinkSync(join(repositoryRoot, 'node_modules/typescript'), join(pluginFolder, 'node_modules/typescript'));
  const { code, stdout, stderr } = await runOpentabs(['plugin', 'check', pluginFolder, '--strict'], env);
  assert.equal(code, 0);
  assert.match(stdout, /^suggestion world-isolated {2}package\.json\n {4}.*\n$/);
  assert.doesNotMatch(stderr, /not checked/);
});

test('a compiler error is reported with file and line, and no package is built', async () => {
  const file = join(pluginFolder, 'src/tools/describe-page.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('title: document.title', 'title: document.titel'));
  for (const command of ['check', 'pack']) {
    const { code, stdout } = await runOpentabs(
      ['plugin', command, pluginFolder, ...(command === 'pack' ? ['--out', homeFolder] : [])],
      env,
    );
    assert.equal(code, 1);
    assert.match(stdout, /^error types {2}src\/tools\/describe-page\.ts:\d+:\d+\n {4}TS2551: .*titel/m);
  }
  const { stdout } = await runOpentabs(['plugin', 'check', pluginFolder, '--no-types', '--json'], env);
  assert.equal(JSON.parse(stdout).errors, 0);
});

test('the compiler and the build both use the zod that the author installed', async () => {
  cpSync(join(repositoryRoot, 'node_modules/zod'), join(pluginFolder, 'node_modules/zod'), { recursive: true });
  rmSync(join(pluginFolder, '.opentabs/types/zod'), { recursive: true });
  const { stdout } = await runOpentabs(['plugin', 'check', pluginFolder, '--json'], env);
  const lintFindings: { rule: string; text: string }[] = JSON.parse(stdout).findings;
  assert.deepEqual(
    lintFindings
      .filter(({ rule: ruleName }) => ruleName === 'types' || ruleName === 'build')
      .map(({ text: findingText }) => findingText.slice(0, 7)),
    ['TS2551:'], // the previous test added this type error
  );
});
