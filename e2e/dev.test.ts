/** Promise: an author who saves a file has the new code in the page, without a reload, and sees what it logs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Author, developPlugin } from './harness/author.ts';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/wait.ts';

let stack: Stack;
let author: Author;
let client: McpClient;

before(async () => {
  stack = await startStack();
  author = await developPlugin(stack, 'tickets');
  client = await stack.client();
});
after(async () => {
  await author?.end();
  await stack?.close();
});

const source = 'src/tools/describe-page.ts';

async function describe(): Promise<unknown> {
  return (await client.call('tickets__describe_page')).structured;
}

/** locked are the functions on the page's window that can't be removed and are not listed; the host must leave none. */
async function locked(): Promise<string[]> {
  return await stack.page.evaluate(() =>
    Object.getOwnPropertyNames(window).filter((name) => {
      const property = Object.getOwnPropertyDescriptor(window, name);
      return property?.configurable === false && property.enumerable === false && typeof property.value === 'function';
    }),
  );
}

test('a change is in the page without a reload, and again', async () => {
  await stack.page.evaluate(() => {
    document.documentElement.dataset.mark = 'not reloaded';
  });
  for (const [old, fresh] of [
    ['title: document.title', "title: 'one'"],
    ["title: 'one'", "title: 'two'"],
  ] as const) {
    author.edit(source, old, fresh);
    await until(`an answer of ${fresh}`, async () => JSON.stringify(await describe()).includes(fresh.slice(8, -1)));
  }
  assert.equal(await stack.page.evaluate(() => document.documentElement.dataset.mark), 'not reloaded');
  await until('dev to tell the tab', () => author.dev.stderr().includes('live in 1 tab'));
});

test('an error is told with its place, and the code that works stays', async () => {
  author.edit(source, "title: 'two'", "title: 'two");
  await until('the error', () => /error: src\/tools\/describe-page\.ts:\d+:\d+/.test(author.dev.stderr()));
  assert.match(JSON.stringify(await describe()), /"title":"two"/);
  author.edit(source, "title: 'two", "title: 'three'");
  await until('the new code', async () => JSON.stringify(await describe()).includes('three'));
});

test('a build that does not start is reported at once, without a reload, until one does', async () => {
  const first = "import { defineTool } from '@opentabs/sdk';";
  const bad = "if (document.documentElement.dataset.mark === 'not reloaded') throw new Error('a typo');";
  author.edit(source, first, `${first}\n${bad}`);
  const refused = await until('the refusal', async () => {
    const out = await client.call('tickets__describe_page');
    return out.code === 'plugin_broken' && out;
  });
  const says = /the adapter threw while it started: .*a typo/;
  assert.match(refused.text, says);
  for (const command of ['status', 'doctor']) assert.match((await stack.cli(command)).stdout, says, command);
  assert.match((await stack.cli('plugin', 'list')).stdout, /^tickets .*failed/m);
  author.edit(source, `${first}\n${bad}`, first);
  await until('the build that starts', async () => JSON.stringify((await describe()) ?? '').includes('three'));
  assert.doesNotMatch((await stack.cli('plugin', 'list')).stdout, /^tickets .*failed/m);
  assert.equal(await stack.page.evaluate(() => document.documentElement.dataset.mark), 'not reloaded');
});

test('what the plugin logs is in the terminal', async () => {
  author.edit(
    source,
    "import { defineTool } from '@opentabs/sdk';",
    "import { defineTool, log } from '@opentabs/sdk';",
  );
  author.edit(
    source,
    'const headings: string[] = [];',
    "log.warn('looked', { at: maxHeadings });\n    const headings: string[] = [];",
  );
  await until('the log', async () => {
    await describe();
    return author.dev.stdout().includes('warning looked [{"at":20}]');
  });
});

test('afterwards the last build stays, and the page has found nothing of the host on its window', async () => {
  assert.deepEqual(await locked(), []);
  const { code, stderr } = await author.end();
  assert.equal(code, 0);
  assert.match(stderr, /the last build of tickets stays in use/);
  assert.match(JSON.stringify(await describe()), /"title":"three"/);
  // A page that begins while the browser takes one adapter out and the other in may have none, and is not loaded anew for a call
  // once a script has looked at it.
  await until('the plugin in a page that was reloaded', async () => {
    await stack.page.reload();
    return JSON.stringify((await describe()) ?? '').includes('three');
  });
});
