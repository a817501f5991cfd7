/** If a plugin does not start in pages, every surface shows the reason at once, until the plugin is repaired. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AttackerSite, addPlugin, type HandwrittenPlugin, startAttackerSite } from './attacks/attacker.ts';
import type { McpClient } from './harness/client.ts';
import { runOpentabs } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
let attackerSite: AttackerSite;

before(async () => {
  attackerSite = await startAttackerSite({});
  stack = await startStack({});
  client = await stack.connectHttp();
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

/** The host refuses to start the adapter if registeredName differs from name, or if isFrozen is false. */
function makeAdapterCode(name: string, registeredName = name, isFrozen = true): string {
  const value = `{ name: '${name}', isReady: () => true, tools: [{ name: 'who', handle: () => '${name}' }] }`;
  return `globalThis.__openTabs.adapters = { '${registeredName}': ${isFrozen ? `Object.freeze(${value})` : value} };`;
}

const waitForPlugin = (name: string, isReviewed: boolean) =>
  waitFor(`the server to ${isReviewed ? 'use' : 'stop'} the plugin ${name}`, async () => {
    const plugin = (await stack.readStatus()).plugins?.find((pluginStatus) => pluginStatus.name === name);
    return (plugin !== undefined && plugin.changed !== true) === isReviewed;
  });

const brokenAdapterCases: readonly (readonly [
  name: string,
  code: string,
  error: RegExp,
  otherFields?: Partial<HandwrittenPlugin>,
])[] = [
  ['throws', 'throw new TypeError("no such thing");', /threw while it started: .*no such thing/],
  ['silent', 'globalThis.nothing = 1;', /register/],
  ['misnamed', makeAdapterCode('misnamed', 'other'), /register/],
  ['unlocked', makeAdapterCode('unlocked', 'unlocked', false), /lock|frozen/],
  // The daemon's JavaScript parser accepts adapters with duplicate capture groups, but V8 rejects them.
  ['unparsable', `// 1\n${makeAdapterCode('unparsable')}\nvar x = /(?<a>.)(?<a>.)/;`, matchParseError(3)],
  ['unparsable-apart', `var x = /(?<a>.)(?<a>.)/;`, matchParseError(1), { world: 'isolated' }],
  ['unparsable-early', `// 1\nvar x = /(?<a>.)(?<a>.)/;`, matchParseError(2), { start: 'document_start' }],
];

function matchParseError(line: number): RegExp {
  const expectedMessage =
    /the browser can't parse the adapter: SyntaxError: Invalid regular expression: .*Duplicate capture group name/;
  return new RegExp(`${expectedMessage.source} \\(line ${line}\\)`);
}

for (const [name, code, errorPattern, manifestFields] of brokenAdapterCases) {
  test(`every surface reports why the adapter "${name}" did not start, and the plugin works after its repair`, async () => {
    await addPlugin(stack, {
      name,
      urlPatterns: [`*://127.0.0.1/${name}*`],
      toolNames: ['who'],
      adapterCode: code,
      ...manifestFields,
    });
    const page = await stack.chrome.openPage(`${attackerSite.origin}/${name}`);
    const refusedCall = await waitFor(`the error of ${name}`, async () => {
      const beganMs = performance.now();
      const callOutcome = await client.call(`${name}__who`, {});
      return callOutcome.code === 'plugin_broken' ? { ...callOutcome, tookMs: performance.now() - beganMs } : undefined;
    });
    assert.match(refusedCall.text, errorPattern);
    assert.match(refusedCall.text, /did not start in its page: .*Do not call tools of the plugin again; ask the user/s);
    // After the page has reported why the adapter did not start, a call of the plugin fails at once.
    const beganMs = performance.now();
    assert.equal((await client.call(`${name}__who`, {})).code, 'plugin_broken');
    assert.ok(performance.now() - beganMs < 5_000, 'the call must fail within 5 s');
    for (const command of [['plugin', 'list'], ['status'], ['doctor']]) {
      // `plugin list`, `status` and `doctor` read a file that the daemon writes after a page has reported a failed
      // plugin.
      await waitFor(`the error in ${command.join(' ')}`, async () => {
        const { stdout } = await runOpentabs(command, stack.env);
        return errorPattern.test(stdout) && stdout.includes(`did not start in a page of ${attackerSite.origin}`);
      });
    }
    const reviewResult = await runOpentabs(['plugin', 'review', name, '--yes', '--permission', 'auto'], stack.env);
    assert.match(reviewResult.stdout, /failed {4}did not start in a page of/);

    writeFileSync(join(stack.homeFolder, `plugin-${name}`, 'dist/adapter.iife.js'), makeAdapterCode(name));
    await waitForPlugin(name, false);
    await runOpentabs(['plugin', 'review', name, '--yes', '--permission', 'auto'], stack.env);
    const secondPage = await stack.chrome.openPage(`${attackerSite.origin}/${name}?again`);
    await waitFor('the repaired plugin to work', async () => !(await client.call(`${name}__who`, {})).isError);
    const { stdout } = await runOpentabs(['plugin', 'list'], stack.env);
    assert.doesNotMatch(stdout, new RegExp(`^${name} .*failed`, 'm'));
    await secondPage.close();
    await page.close();
  });
}

test('a new build that V8 cannot parse is reported in an open page, and the next build replaces it without a reload', async () => {
  const name = 'rebuilt';
  await addPlugin(stack, {
    name,
    urlPatterns: [`*://127.0.0.1/${name}*`],
    toolNames: ['who'],
    adapterCode: makeAdapterCode(name),
  });
  const file = join(stack.homeFolder, `plugin-${name}`, 'dist/adapter.iife.js');
  const page = await stack.chrome.openPage(`${attackerSite.origin}/${name}`);
  await waitFor('a successful call of the plugin', async () => !(await client.call(`${name}__who`, {})).isError);
  await page.evaluate(() => Object.assign(globalThis, { kept: 'kept' }));
  const installBuild = async (code: string) => {
    writeFileSync(file, code);
    await waitForPlugin(name, false);
    await runOpentabs(['plugin', 'review', name, '--yes', '--permission', 'auto'], stack.env);
  };
  await installBuild(`${makeAdapterCode(name)}\nvar x = /(?<a>.)(?<a>.)/;`);
  const refusedCall = await waitFor('a call to fail with the parse error of the new build', async () => {
    const callOutcome = await client.call(`${name}__who`, {});
    return callOutcome.code === 'plugin_broken' && callOutcome;
  });
  assert.match(refusedCall.text, matchParseError(2));
  await waitFor('plugin list to show the parse error', async () =>
    matchParseError(2).test((await runOpentabs(['plugin', 'list'], stack.env)).stdout),
  );
  await installBuild(`${makeAdapterCode(name)}\n// repaired`);
  await waitFor('a successful call of the next build', async () => !(await client.call(`${name}__who`, {})).isError);
  assert.doesNotMatch((await runOpentabs(['plugin', 'list'], stack.env)).stdout, new RegExp(`^${name} .*failed`, 'm'));
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'kept')), 'kept', 'the page was reloaded');
  await page.close();
});

test('a plugin works again in the open page after its folder was changed, broken, removed or renamed and then restored', async () => {
  const name = 'returns';
  const code = makeAdapterCode(name);
  await addPlugin(stack, { name, urlPatterns: [`*://127.0.0.1/${name}*`], toolNames: ['who'], adapterCode: code });
  const pluginFolder = join(stack.homeFolder, `plugin-${name}`);
  const file = join(pluginFolder, 'dist/adapter.iife.js');
  const packageJson = readFileSync(join(pluginFolder, 'package.json'), 'utf8');
  const page = await stack.chrome.openPage(`${attackerSite.origin}/${name}`);
  await waitFor('a successful call of the plugin', async () => !(await client.call(`${name}__who`, {})).isError);
  await page.evaluate(() => Object.assign(globalThis, { kept: 'kept' }));
  await page.bringToFront();
  const waitForStatusText = (statusText: string) =>
    waitFor(
      statusText,
      async () => (await runOpentabs(['status'], stack.env)).stdout.includes(statusText) || undefined,
    );
  const pluginChanges: readonly (readonly [
    what: string,
    breakPlugin: () => void,
    restore: () => void,
    statusText: string,
  ])[] = [
    [
      'another content',
      () => writeFileSync(file, makeAdapterCode(name, name, false)),
      () => writeFileSync(file, code),
      `${name} 1.0.0, 1 tool, changed since it was reviewed`,
    ],
    ['no script', () => writeFileSync(file, 'if ('), () => writeFileSync(file, code), 'is not one complete script'],
    ['no adapter', () => rmSync(file), () => writeFileSync(file, code), 'adapter.iife.js: is missing'],
    [
      'no folder',
      () => renameSync(pluginFolder, `${pluginFolder}.away`),
      () => renameSync(`${pluginFolder}.away`, pluginFolder),
      'the folder does not exist',
    ],
    [
      'another name',
      () => writeFileSync(join(pluginFolder, 'package.json'), packageJson.replace(`plugin-${name}`, 'plugin-other')),
      () => writeFileSync(join(pluginFolder, 'package.json'), packageJson),
      'names the plugin "other"',
    ],
  ];
  for (const [changeName, makePluginInvalid, restorePlugin, statusText] of pluginChanges) {
    makePluginInvalid();
    await waitForPlugin(name, false);
    await waitForStatusText(statusText);
    const refusedCall = await client.call(`${name}__who`, {});
    assert.match(String(refusedCall.code), /plugin_broken|not_reviewed/, `${changeName}: ${refusedCall.text}`);
    restorePlugin();
    await waitForPlugin(name, true);
    await waitForStatusText(`${name} 1.0.0, 1 tool, auto`);
    await waitFor(`the plugin after ${changeName}`, async () => !(await client.call(`${name}__who`, {})).isError);
    const preservedValue = await page.evaluate(() => Reflect.get(globalThis, 'kept'));
    assert.equal(preservedValue, 'kept', `${changeName}: the page must not be reloaded`);
  }
  await page.close();
});
