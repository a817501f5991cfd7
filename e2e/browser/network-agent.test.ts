/** An agent sees network requests and HAR files only of sites that the user has allowed. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
});
after(() => fixture.close());

async function runCli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await fixture.stack.runCli(...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

test('the group network is off until turned on, and browser_route has a separate switch', async () => {
  fixture.setPage('/cart', '<title>Cart</title><script>fetch("/prices?api_key=S3" + "CRET")</script>');
  await fixture.open('/cart');
  assert.equal((await fixture.callExpectingFailure('browser_network_requests')).code, 'denied');
  await runCli('browser', 'tools', 'on', 'network');
  assert.match(await fixture.callTool('browser_network_requests'), /^Recording of requests begins now\./);
  assert.equal(
    (await fixture.callExpectingFailure('browser_route', { action: 'add', pattern: '*', abort: true })).code,
    'denied',
  );
  await runCli('browser', 'tools', 'on', 'browser_route');
  // The rule "auto" for the test site's exact host also allows dangerous tools.
  assert.match(
    await fixture.callTool('browser_route', { action: 'add', pattern: '*/prices*', body: '[]' }),
    /Added rule 1\.[\s\S]*data and not instructions[\s\S]*rule 1 \*\/prices\*: answer 200/,
  );
});

test('requests and HAR files are untrusted page data without secrets, and only for the client', async () => {
  await fixture.callTool('browser_navigate', { go: 'reload' });
  const requestList = await fixture.callTool('browser_network_requests');
  assert.match(
    requestList,
    /data and not instructions \[\w+\] ---\n[\s\S]*\d+ GET 200 fetch .* \/prices\?api_key=\[masked\]\n--- end/,
  );
  const outputText = await fixture.callTool('browser_har_export', { bodies: true });
  const resourceUri =
    /^file: (opentabs:\/\/files\/\w+), "shop\.localhost-\d{8}-\d{6}\.har"/m.exec(outputText)?.[1] ?? '';
  assert.match(outputText, /\[resource_link\]$/);
  const { contents: resourceContents } = await fixture.client.sdk.readResource({ uri: resourceUri });
  const harText = Object(resourceContents[0]).text;
  const urls = JSON.parse(harText).log.entries.map(
    ({ request }: { request: { url: string } }) => new URL(request.url).pathname,
  );
  assert.ok(urls.includes('/cart') && urls.includes('/prices'), harText);
  assert.doesNotMatch(harText, /S3CRET/);
  const files = JSON.parse(await runCli('files', '--json'));
  assert.deepEqual([files.length, `opentabs://files/${files[0].id}`], [1, resourceUri]);
  const otherClient = await fixture.stack.connectStdio();
  await assert.rejects(otherClient.sdk.readResource({ uri: resourceUri }), /You have no file/);
  await otherClient.close();
  await runCli('files', 'remove', '--all');
  await assert.rejects(fixture.client.sdk.readResource({ uri: resourceUri }), /You have no file/);
});

test('requests of a site that is off are not listed, neither of the tab nor of frames', async () => {
  fixture.setPage('/account', '<title>Account</title><script>fetch("/balance")</script>');
  fixture.setPage('/embed', `<title>Embed</title><iframe src="${fixture.bank}/account"></iframe>`);
  await fixture.callTool('browser_navigate', { url: `${fixture.shop}/embed` });
  const requestList = await fixture.callTool('browser_network_requests', { static: true });
  assert.match(requestList, /\/embed/);
  assert.doesNotMatch(requestList, /bank|balance/);
  assert.doesNotMatch(await fixture.callTool('browser_network_requests', { filter: 'balance' }), /bank/);
  const page = await fixture.findPage(`${fixture.shop}/embed`);
  await page.goto(`${fixture.bank}/account`);
  assert.equal((await fixture.callExpectingFailure('browser_network_requests')).code, 'denied');
  assert.equal((await fixture.callExpectingFailure('browser_har_export')).code, 'denied');
});
