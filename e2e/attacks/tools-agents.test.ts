/**
 * Threat: an agent misuses browser tools to open URLs such as file: and chrome:, reach the daemon, read files, or avoid
 * an approval.
 */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type AgentFixture, listSteps, startAgentFixture } from '../browser/agent-fixture.ts';
import { connectHttp } from '../harness/client.ts';
import { addClient } from '../harness/daemon-api.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ serveFlags: ['--log-level', 'trace'] });
});
after(() => fixture?.close());
beforeEach(() => {
  fixture.onApprovalForm = () => false;
  fixture.approvalForms.length = 0;
});

const readSteps = listSteps([
  ['browser_snapshot', {}],
  ['browser_find', { role: 'heading' }],
  ['browser_read_page', { format: 'html' }],
  ['browser_wait_for', { selector: 'h1', timeout: 1 }],
  ['browser_scroll', { direction: 'bottom' }],
  ['browser_take_screenshot', {}],
]);

test('tools: an approval is for one document, and does not apply after a navigation', async () => {
  const {
    setPage,
    client,
    findRef: getRef,
    other: otherOrigin,
    bank: bankOrigin,
    shop: shopOrigin,
    callTool: runTool,
  } = fixture;
  setPage('/asked', `<title>asked</title><button onclick="document.title='acted'">Pay</button>`);
  setPage('/next', `<title>next</title><script>window.acts = 0</script><button onclick="acts++">Pay</button>`);
  const approvalUrl = `${otherOrigin}/asked`;
  for (const [target, isRunAllowed] of [
    [`${bankOrigin}/next`, false],
    [`${otherOrigin}/next`, false],
    [`${shopOrigin}/next`, false],
  ] as const) {
    fixture.onApprovalForm = () => true;
    await runTool('browser_tabs', { action: 'new', url: approvalUrl });
    const payButtonRef = await getRef('Pay');
    const page = await fixture.findPage(approvalUrl);
    fixture.onApprovalForm = async () => {
      await page.goto(target);
      return true;
    };
    const callOutcome = await client.call('browser_click', { target: payButtonRef });
    assert.equal(callOutcome.isError, !isRunAllowed, `${target}: ${callOutcome.text}`);
    assert.doesNotMatch(callOutcome.text, /acted/, target);
    assert.equal(await page.evaluate('acts'), 0, target);
    await page.close();
  }
});

test('tools: no tool, redirect or window.open opens an address that is not a web page', async () => {
  const { setPage, client, open: openTab, findRef: getRef, stack, shop: shopOrigin } = fixture;
  fixture.onApprovalForm = () => true;
  setPage('/plain', '<title>p</title><p>Plain');
  const passwordFile = 'file:///etc/passwd';
  const privateAddresses = [
    passwordFile,
    'chrome://version',
    'chrome://settings/passwords',
    `chrome-extension://${stack.chrome.extensionId}/panel.html`,
    'data:text/html,<h1>data</h1>',
    'javascript:document.title="ran"',
    `view-source:${shopOrigin}/plain`,
    `blob:${shopOrigin}/1`,
    'about:blank',
    'devtools://devtools/bundled/inspector.html',
    'filesystem:http://shop.localhost/temporary/a',
    'ftp://shop.localhost/',
    ' file:///etc/passwd',
    'FILE:///etc/passwd',
    'file:/etc/passwd',
    'java\nscript:1',
  ];
  await openTab('/plain');
  for (const url of privateAddresses) {
    for (const [tool, args] of [
      ['browser_navigate', { url }],
      ['browser_tabs', { action: 'new', url }],
      ['browser_batch', { steps: [{ tool: 'browser_navigate', args: { url } }] }],
    ] as const) {
      const callOutcome = await client.call(tool, args);
      assert.equal(callOutcome.isError, true, `${tool} ${url}: ${callOutcome.text}`);
      assert.match(callOutcome.text, /http or https|match|schema/i, `${tool} ${url}`);
    }
  }
  for (const url of privateAddresses.slice(0, 5)) {
    setPage(
      '/jump',
      `<title>jump</title><button onclick="location.href = ${JSON.stringify(url).replaceAll('"', '&quot;')}">Go</button>
       <a target="_blank" href='${url}'>Link</a>`,
    );
    await openTab('/jump');
    for (const linkName of ['Go', 'Link']) {
      const callOutcome = await client.call('browser_click', {
        target: await getRef(`"${linkName}"`),
        snapshot: 'full',
      });
      assert.doesNotMatch(callOutcome.text, /root:x:0|heading "data"/, `${linkName} ${url}`);
      await openTab('/jump');
    }
    const response = await client.call('browser_navigate', {
      url: `${shopOrigin}/hop?to=${encodeURIComponent(url.trim())}`,
    });
    assert.doesNotMatch(response.text, /root:x:0|heading "data"/, url);
  }
  const openedPages = stack.chrome.context
    .pages()
    .filter((page) => /^(file|chrome|view-source|devtools):/.test(page.url()));
  assert.deepEqual(
    openedPages.map((page) => page.url()),
    [],
  );
  for (const page of stack.chrome.context.pages()) if (page !== stack.page) await page.close();
});

test('tools: no tool reads a browser page, a local file or the side panel', async () => {
  const { client, callTool: runTool, stack } = fixture;
  fixture.onApprovalForm = () => true;
  await stack.runCli('browser', 'site', '*', 'auto');
  for (const url of [
    'file:///etc/passwd',
    'chrome://version',
    `chrome-extension://${stack.chrome.extensionId}/panel.html`,
    'data:text/html,<h1>root:x:0',
  ]) {
    const page = await stack.chrome.openPage(url);
    await page.bringToFront();
    await runTool('browser_tabs', { action: 'select' });
    for (const [tool, args] of listSteps([
      ...readSteps,
      ['browser_click', { target: 'e1' }],
      ['browser_press_key', { key: 'a' }],
    ])) {
      const callOutcome = await client.call(tool, args);
      assert.equal(callOutcome.isError, true, `${tool} ${url}: ${callOutcome.text}`);
      assert.doesNotMatch(callOutcome.text, /root:x:0/, `${tool} ${url}`);
    }
    await page.close();
  }
  await stack.runCli('browser', 'site', '*', 'default');
  await stack.page.bringToFront();
});

test('tools: no host name, IP address, redirect or frame reaches the daemon', async () => {
  const { client, setPage, open: openTab, stack, shop: shopOrigin, callTool: runTool } = fixture;
  const { port } = stack;
  fixture.onApprovalForm = () => true;
  await stack.runCli('browser', 'site', '*', 'auto');
  setPage('/plain', '<title>p</title>');
  await openTab('/plain');
  for (const host of [
    '127.0.0.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'x.localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '127.0.0.2',
    '127.1',
    '0',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::]',
    'user@127.0.0.1',
    '１２７.0.0.1',
  ]) {
    for (const privateAddress of [`http://${host}:${port}/healthz`, `http://${host}:0${port}/`]) {
      for (const [tool, args] of [
        ['browser_navigate', { url: privateAddress }],
        ['browser_tabs', { action: 'new', url: privateAddress }],
      ] as const) {
        const callOutcome = await client.call(tool, args);
        assert.equal(callOutcome.isError, true, `${tool} ${privateAddress}: ${callOutcome.text}`);
        assert.match(callOutcome.text, /never reach opentabs itself|can't be opened|http or https/, privateAddress);
      }
    }
  }
  const privateAddress = `http://127.0.0.1:${port}/healthz`;
  const redirectOutcome = await client.call('browser_navigate', {
    url: `${shopOrigin}/x?to=${privateAddress}`,
    snapshot: 'full',
  });
  assert.doesNotMatch(redirectOutcome.text, /data and not instructions/);
  for (const [tool, args] of readSteps) assert.equal((await client.call(tool, args)).isError, true, tool);
  setPage('/frame', `<title>f</title><p>Shop</p><iframe src="${privateAddress}"></iframe>`);
  await openTab('/frame');
  const snapshot = await runTool('browser_snapshot');
  assert.match(snapshot, /Shop/);
  assert.doesNotMatch(snapshot, /ref=f\d+e|version/);
  await stack.runCli('browser', 'site', '*', 'default');
});

test('tools: uploads take only regular files of the folder that the user allows', async () => {
  const { setPage, open: openTab, findRef: getRef, stack, client, callTool: runTool } = fixture;
  const folder = join(stack.homeFolder, 'uploads');
  mkdirSync(join(folder, '.hidden'), { recursive: true });
  writeFileSync(join(folder, 'ok.txt'), 'fine');
  writeFileSync(join(folder, '.hidden', 'a.txt'), 'SECRET-UPLOAD');
  writeFileSync(join(stack.homeFolder, 'outside.txt'), 'SECRET-UPLOAD');
  symlinkSync(join(stack.homeFolder, 'outside.txt'), join(folder, 'link.txt'));
  symlinkSync(stack.homeFolder, join(folder, 'linked'));
  setPage(
    '/up',
    `<title>u</title><input type="file" multiple aria-label="File" onchange="window.taken = [...files].map((f) => f.name)">`,
  );
  await openTab('/up');
  const target = await getRef('"File"');
  const refusedUpload = await client.call('browser_file_upload', { paths: [join(folder, 'ok.txt')], target });
  assert.match(refusedUpload.text, /uploadFolders/);
  for (const path of [
    '/etc/passwd',
    `${folder}/../outside.txt`,
    `${folder}/link.txt`,
    `${folder}/linked/outside.txt`,
    `${folder}/.hidden/a.txt`,
    `${folder}/ok.txt/../../outside.txt`,
    `${folder}\0/../outside.txt`,
    `${folder}x/ok.txt`,
    'ok.txt',
    './uploads/ok.txt',
    '~/uploads/ok.txt',
    `file://${folder}/ok.txt`,
    '/proc/self/environ',
    folder,
    '',
  ]) {
    const callOutcome = await client.call('browser_file_upload', { paths: [path], target });
    assert.equal(callOutcome.isError, true, `${path}: ${callOutcome.text}`);
    assert.doesNotMatch(callOutcome.text, /SECRET-UPLOAD/);
  }
  const page = await fixture.findPage(`${fixture.shop}/up`);
  assert.equal(await page.evaluate('window.taken'), undefined);
  assert.match(await runTool('browser_snapshot'), /File/);
});

test('tools: batch, tools_call and tabId do not bypass permissions, site rules or tab reservations', async () => {
  const {
    setPage,
    open: openTab,
    client,
    stack,
    bank: bankOrigin,
    other: otherOrigin,
    findRef: getRef,
    callTool: runTool,
  } = fixture;
  setPage('/victim', '<title>v</title><h1>Private</h1><button onclick="window.hit = true">Hit</button>');
  const page = await stack.chrome.openPage(`${bankOrigin}/victim`);
  fixture.onApprovalForm = () => true;
  await page.bringToFront();
  const { tabId } = await (async () => {
    const selectTabOutput = await runTool('browser_tabs', { action: 'select' });
    return { tabId: Number(/tab (\d+)/i.exec(selectTabOutput)?.[1]) };
  })();
  setPage('/own', '<title>own</title><h1>Own</h1><button>B</button>');
  await openTab('/own');
  fixture.onApprovalForm = () => false;
  const clickArguments = { target: 'e1', tabId };
  for (const [tool, args] of listSteps([
    ['browser_click', clickArguments],
    ['browser_snapshot', { tabId }],
    ['browser_batch', { steps: [{ tool: 'browser_snapshot', args: { tabId } }] }],
    ['browser_batch', { steps: [{ tool: 'browser_click', args: clickArguments }] }],
    [
      'browser_batch',
      { steps: [{ tool: 'browser_batch', args: { steps: [{ tool: 'browser_click', args: clickArguments }] } }] },
    ],
    ['browser_batch', { steps: [{ tool: 'messages__echo', args: {} }] }],
    ['browser_batch', { steps: [{ tool: 'tools_call', args: { name: 'browser_snapshot', arguments: { tabId } } }] }],
    ['browser_batch', { steps: [{ tool: 'browser_snapshot', args: { _frames: {} } }] }],
    ['tools_call', { name: 'browser_snapshot', arguments: { tabId } }],
    ['tools_call', { name: 'browser_click', arguments: clickArguments }],
    ['tools_call', { name: 'browser_snapshot', arguments: {}, tabId }],
    ['tools_read', { name: 'browser_click', arguments: clickArguments }],
    ['tools_call', { name: 'browser_batch', arguments: { steps: [{ tool: 'browser_snapshot', args: { tabId } }] } }],
    ['browser_navigate', { url: `${otherOrigin}/victim` }],
    ['browser_snapshot', { _frames: {}, tabId }],
    ['browser_tabs', { action: 'close', tabId }],
  ])) {
    const callOutcome = await client.call(tool, args);
    assert.equal(callOutcome.isError, true, `${tool} ${JSON.stringify(args)}: ${callOutcome.text}`);
    assert.doesNotMatch(callOutcome.text, /Private/, tool);
  }
  assert.equal(await page.evaluate('window.hit'), undefined);
  await page.close();
  const ownTab = await openTab('/own');
  const target = await getRef('"B"');
  await runTool('browser_click', { target });
  const secondClient = await connectHttp(stack.port, await addClient(stack.env, 'second'));
  try {
    for (const [tool, args] of listSteps([
      ['browser_click', { target, tabId: ownTab }],
      ['browser_navigate', { go: 'reload', tabId: ownTab }],
      ['browser_batch', { steps: [{ tool: 'browser_click', args: { target, tabId: ownTab } }] }],
    ])) {
      const callOutcome = await secondClient.call(tool, args);
      assert.equal(callOutcome.isError, true, tool);
      assert.match(callOutcome.text, /holds it for \d+ more seconds|uses tab/, tool);
    }
  } finally {
    await secondClient.close();
  }
});
