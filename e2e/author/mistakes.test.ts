/** The log and `plugin dev` explain each common mistake of a plugin's author, with the source line. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { runOrThrow, type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly stack?: readonly string[];
}

/** pluginSource is the code of a plugin with one tool for each common mistake. */
const pluginSource = `import { definePlugin, defineTool, fetchJSON } from '@opentabs/sdk';
import { z } from 'zod';

class Track {
  #title = 'a';
  get title() {
    return this.#title;
  }
}
const circular: Record<string, unknown> = { name: 'a' };
circular.parts = [{ whole: circular }];
const missing: string[] | undefined = undefined;

const mistakes: Record<string, () => unknown> = {
  async throws() {
    await Promise.resolve();
    return countParts(missing);
  },
  cors: async () => await (await fetch('OTHER_ORIGIN/api')).json(),
  sdk_cors: async () => await fetchJSON('OTHER_ORIGIN/api'),
  html: async () => await (await fetch('/page')).json(),
  sdk_html: async () => await fetchJSON('/page'),
  bigint_json: () => JSON.stringify({ id: 10n }),
  bigint: () => ({ id: 12345678901234567890n }),
  dom_node: () => ({ items: [{}, { el: document.body }] }),
  class_instance: () => ({ track: new Track() }),
  map: () => ({ byName: new Map([['a', 1]]) }),
  no_return: () => undefined,
  no_await: () => ({ items: [{ text: Promise.resolve('a') }] }),
  circular: () => circular,
  function: () => ({ count: 1, next: () => 2 }),
  text: () => {
    throw 'no luck';
  },
};

function countParts(parts: string[] | undefined) {
  return (parts as string[]).length;
}

export default definePlugin({
  tools: Object.entries(mistakes).map(([name, handle]) =>
    defineTool({
      name,
      description: 'Makes the mistake ' + name,
      input: z.object({}),
      output: name === 'no_return' ? z.object({ count: z.number() }) : z.any(),
      handle: async () => await handle(),
    }),
  ),
  isReady: () => true,
});
`;

let stack: Stack;
let client: McpClient;
let devCommand: StartedCommand;
let pluginFolder: string;
let page: Page;

before(async () => {
  stack = await startStack();
  page = await stack.chrome.openPage(`${readSiteOrigin()}/`);
  await runOrThrow(
    ['plugin', 'create', 'mistakes', '--domain', 'shop.localhost', '--dir', stack.homeFolder],
    stack.env,
  );
  pluginFolder = join(stack.homeFolder, 'mistakes');
  writeSource(pluginSource);
  devCommand = startOpentabs(['plugin', 'dev', pluginFolder], stack.env);
  client = await stack.connectHttp();
});
after(async () => {
  if (devCommand) await stopProcess(devCommand, 'SIGINT');
  await stack?.close();
});

function readSiteOrigin(): string {
  return stack.site.origin.replace('127.0.0.1', 'shop.localhost');
}

function writeSource(sourceText: string): void {
  writeFileSync(join(pluginFolder, 'src/index.ts'), sourceText.replaceAll('OTHER_ORIGIN', stack.site.origin));
}

async function readLog(tool: string): Promise<LogEntry | undefined> {
  const { stdout } = await stack.runCli('logs', '--plugin', 'mistakes', '--json', '--last', '0');
  const logEntries: LogEntry[] = JSON.parse(stdout);
  return logEntries.findLast(
    ({ message: messageStart }) => messageStart.startsWith(`${tool} failed`) || messageStart.startsWith(`${tool}:`),
  );
}

test('plugin dev updates a tab that was open before plugin dev started', async () => {
  await waitFor('plugin dev to make its first build', () => devCommand.stderr().includes('waiting for changes'));
  writeSource(`${pluginSource}// a first change\n`);
  await waitFor('the tab to run the build', () => /changed\n[\s\S]*live in 1 tab/.test(devCommand.stderr()));
  await waitFor('a call in the tab', async () =>
    (await client.call('mistakes__bigint')).text.includes('12345678901234567890'),
  );
});

for (const [tool, logLevel, messageStart, action] of [
  ['throws', 'error', /Cannot read properties of undefined \(reading 'length'\)$/, undefined],
  ['cors', 'error', /Failed to fetch\n.*\(CORS\)/, /Network panel/],
  [
    'sdk_cors',
    'error',
    /no connection to http:\/\/127.*another origin, whose server must allow this page: CORS/,
    /Network panel/,
  ],
  [
    'html',
    'error',
    /Unexpected token '<'.*\n.*is a web page \(HTML\), not JSON/,
    /Check the address and response\.ok, or use fetchJSON/,
  ],
  ['sdk_html', 'debug', /is a web page \(HTML\), not JSON; the user may be logged out/, undefined],
  [
    'bigint_json',
    'error',
    /serialize a BigInt\n.*cannot write a bigint/,
    /Convert it with String\(value\), or return it/,
  ],
  ['dom_node', 'warning', /items\[1\]\.el is a DOM node \(BODY\)/, /Return its text or attributes/],
  ['class_instance', 'warning', /track is an instance of Track: .* its getters \(title\)/, /Return a plain object/],
  ['map', 'warning', /byName is a Map/, /Object\.fromEntries/],
  ['no_return', 'warning', /the handler returned undefined, but the tool has an output schema/, /Is a return missing/],
  ['no_await', 'warning', /items\[0\]\.text is a promise/, /Add an await/],
  ['function', 'warning', /next is a function, which JSON leaves out/, /Call it, or leave it out/],
  ['text', 'error', /no luck\nThe tool threw a text/, /Throw new ToolError/],
] as const) {
  test(`the log explains the mistake ${tool}`, async () => {
    await client.call(`mistakes__${tool}`);
    const logEntry = await waitFor(`an entry about ${tool}`, () => readLog(tool));
    assert.equal(logEntry.level, logLevel);
    assert.match(logEntry.message, messageStart);
    if (action) assert.match(logEntry.message, action);
  });
}

test('a result with a circular reference fails with its path, and a bigint becomes a number', async () => {
  const { text: sourceText } = await client.call('mistakes__circular');
  assert.match(
    sourceText,
    /returned a value that JSON cannot represent: parts\[0\]\.whole is circular: it refers back to an object that contains it/,
  );
  assert.match((await client.call('mistakes__bigint')).text, /12345678901234567890/);
});

test('the log and plugin dev show a thrown error with its source lines', async () => {
  const findLineNumber = (linePart: string) =>
    pluginSource.split('\n').findIndex((line) => line.includes(linePart)) + 1;
  const logEntry = await waitFor('the entry of the error', () => readLog('throws'));
  const frames = logEntry.stack ?? [];
  assert.match(frames[0] ?? '', new RegExp(`^countParts \\(src/index\\.ts:${findLineNumber('.length')}:\\d+\\)$`));
  assert.match(frames[1] ?? '', new RegExp(`src/index\\.ts:${findLineNumber('return countParts')}:\\d+`));
  await waitFor('plugin dev to print the error', () =>
    new RegExp(`error +throws failed: .*\\n +at countParts \\(src/index\\.ts:${findLineNumber('.length')}:`).test(
      devCommand.stdout(),
    ),
  );
  assert.match(devCommand.stdout(), /call {4}throws {2}running, requested by client e2e/);
  assert.match(devCommand.stdout(), /call {4}throws {2}failed \(tool_error\) after [\d.]+ m?s: Cannot read/);
  const { stdout } = await stack.runCli('logs', '--plugin', 'mistakes', '--level', 'error');
  assert.match(stdout, /^ {4}at countParts \(src\/index\.ts:/m);
});

test("a page's Error.prepareStackTrace function receives no error of a plugin", async () => {
  // The script is a string, because the TypeScript compiler would insert a call to a helper that the page lacks.
  await page.evaluate('window.formatted = 0; Error.prepareStackTrace = () => { window.formatted++; return "x"; }');
  await client.call('mistakes__throws');
  assert.equal(await page.evaluate(() => Reflect.get(window, 'formatted')), 0);
  assert.equal(await page.evaluate(() => typeof Reflect.get(Error, 'prepareStackTrace')), 'function');
});
