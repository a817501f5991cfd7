/** When a plugin's author saves a file, the new code runs in the page without a reload. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PluginAuthor, startPluginDevelopment } from './harness/author.ts';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let author: PluginAuthor;
let client: McpClient;

before(async () => {
  stack = await startStack();
  author = await startPluginDevelopment(stack, 'tickets');
  client = await stack.connectHttp();
});
after(async () => {
  await author?.end();
  await stack?.close();
});

const sourceFile = 'src/tools/describe-page.ts';

async function describePage(): Promise<unknown> {
  return (await client.call('tickets__describe_page')).structured;
}

/** The extension must leave no non-configurable function on the page's window. */
async function listPermanentWindowFunctions(): Promise<string[]> {
  return await stack.page.evaluate(() =>
    Object.getOwnPropertyNames(window).filter((name) => {
      const property = Object.getOwnPropertyDescriptor(window, name);
      return property?.configurable === false && property.enumerable === false && typeof property.value === 'function';
    }),
  );
}

test('each of two changes reaches the page without a reload', async () => {
  await stack.page.evaluate(() => {
    document.documentElement.dataset.mark = 'not reloaded';
  });
  for (const [oldText, replacementText] of [
    ['title: document.title', "title: 'one'"],
    ["title: 'one'", "title: 'two'"],
  ] as const) {
    author.replaceText(sourceFile, oldText, replacementText);
    await waitFor(`a result with ${replacementText}`, async () =>
      JSON.stringify(await describePage()).includes(replacementText.slice(8, -1)),
    );
  }
  assert.equal(await stack.page.evaluate(() => document.documentElement.dataset.mark), 'not reloaded');
  await waitFor('plugin dev to report the tab', () => author.devCommand.stderr().includes('live in 1 tab'));
});

test('a build error is reported with file and line, and the last working code stays in the page', async () => {
  author.replaceText(sourceFile, "title: 'two'", "title: 'two");
  await waitFor('plugin dev to print the build error', () =>
    /error: src\/tools\/describe-page\.ts:\d+:\d+/.test(author.devCommand.stderr()),
  );
  assert.match(JSON.stringify(await describePage()), /"title":"two"/);
  author.replaceText(sourceFile, "title: 'two", "title: 'three'");
  await waitFor('a result of the new code', async () => JSON.stringify(await describePage()).includes('three'));
});

test('a build that does not start is reported at once, and the next working build replaces it without a reload', async () => {
  const importLine = "import { defineTool } from '@opentabs/sdk';";
  const throwStatement = "if (document.documentElement.dataset.mark === 'not reloaded') throw new Error('a typo');";
  author.replaceText(sourceFile, importLine, `${importLine}\n${throwStatement}`);
  const refusedCall = await waitFor('a call to fail with the error of the build', async () => {
    const callOutcome = await client.call('tickets__describe_page');
    return callOutcome.code === 'plugin_broken' && callOutcome;
  });
  const startError = /the adapter threw while it started: .*a typo/;
  assert.match(refusedCall.text, startError);
  for (const [args, expectedText] of [
    [['status'], startError],
    [['doctor'], startError],
    [['plugin', 'list'], /^tickets .*failed/m],
  ] as const) {
    await waitFor(`the error in ${args.join(' ')}`, async () =>
      expectedText.test((await stack.runCli(...args)).stdout),
    );
  }
  author.replaceText(sourceFile, `${importLine}\n${throwStatement}`, importLine);
  await waitFor('a result of the build that starts', async () =>
    JSON.stringify((await describePage()) ?? '').includes('three'),
  );
  assert.doesNotMatch((await stack.runCli('plugin', 'list')).stdout, /^tickets .*failed/m);
  assert.equal(await stack.page.evaluate(() => document.documentElement.dataset.mark), 'not reloaded');
});

test("plugin dev prints the plugin's log", async () => {
  author.replaceText(
    sourceFile,
    "import { defineTool } from '@opentabs/sdk';",
    "import { defineTool, log } from '@opentabs/sdk';",
  );
  author.replaceText(
    sourceFile,
    'const headings: string[] = [];',
    "log.warn('looked', { at: maxHeadings });\n    const headings: string[] = [];",
  );
  await waitFor('plugin dev to print the log of the tool', async () => {
    await describePage();
    return author.devCommand.stdout().includes('warning looked  {"at":20}');
  });
});

test('after plugin dev ends, the last build stays in the page, and the page finds no trace of the extension on its window', async () => {
  assert.deepEqual(await listPermanentWindowFunctions(), []);
  const { code, stderr } = await author.end();
  assert.equal(code, 0);
  assert.match(stderr, /the last build of tickets stays in use/);
  assert.match(JSON.stringify(await describePage()), /"title":"three"/);
  // While Chrome replaces the plugin's script, a loading page may get neither the old nor the new script.
  await waitFor('a result of the last build after a reload of the page', async () => {
    await stack.page.reload();
    return JSON.stringify((await describePage()) ?? '').includes('three');
  });
});
