/** Threat: a page leads an agent to a forbidden site with popups, later steps of a batch, or debugger tools. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type AgentFixture, listSteps, startAgentFixture } from '../browser/agent-fixture.ts';
import { waitFor } from '../harness/wait.ts';

let fixture: AgentFixture;

/** privateText is in each forbidden page, and must be in no tool result. */
const privateText = 'Balance-91846';
const privatePage = `<title>Accounts ${privateText}</title><h1>${privateText}</h1>
  <button style="position:fixed;left:0;top:0;width:300px;height:300px" onclick="acts++">Pay ${privateText}</button>
  <input aria-label="Amount" oninput="acts++">
  <script>
    window.acts = 0;
    // Chrome itself sends a pointermove event with no movement to a new page under the pointer.
    const count = (event) => { if (event.type !== 'pointermove' || event.movementX || event.movementY) acts++ };
    for (const type of ['keydown', 'pointermove', 'wheel', 'drop']) addEventListener(type, count);
    localStorage.setItem('k', '${privateText}');
    console.log('${privateText}');
    fetch('/api?${privateText}').catch(() => undefined);
  </script>`;

/**
 * Of forbiddenSites, the first has the rule "off", the second no rule, and the third, sensitive site a wildcard rule.
 */
const forbiddenSites = ['bank', 'other', 'login'] as const;
type Site = (typeof forbiddenSites)[number];

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'], serveFlags: ['--log-level', 'trace'] });
  const { stack, setPage } = fixture;
  setPage('/accounts', privatePage);
  const dangerousUrls = [
    'browser_evaluate',
    'browser_route',
    'browser_storage',
    'browser_cookies',
    'browser_clear_site_data',
  ];
  const toolGroups = ['devtools', 'network', 'storage', 'vision', 'emulation', 'browser'];
  const { code, stderr } = await stack.runCli('browser', 'tools', 'on', ...toolGroups, ...dangerousUrls);
  assert.equal(code, 0, stderr);
});
after(() => fixture?.close());
beforeEach(() => {
  fixture.onApprovalForm = () => false;
  fixture.approvalForms.length = 0;
});

const makeOrigin = (site: Site) => (site === 'login' ? fixture.shop.replace('shop', 'login') : fixture[site]);
const makeTargetUrl = (site: Site) => `${makeOrigin(site)}/accounts?${privateText}`;

async function setSiteRules(site: Site): Promise<void> {
  const { code, stderr } = await fixture.stack.runCli('browser', 'site', '*', site === 'login' ? 'auto' : 'default');
  assert.equal(code, 0, stderr);
}

function assertTextHidden(stepName: string, answerText: string): void {
  assert.doesNotMatch(answerText, /Balance-9|Accounts/, stepName);
}

const restrictedSteps = listSteps([
  ['browser_snapshot', {}],
  ['browser_find', { role: 'button' }],
  ['browser_read_page', { format: 'html' }],
  ['browser_wait_for', { text: 'Balance', timeout: 1 }],
  ['browser_scroll', { direction: 'bottom' }],
  ['browser_take_screenshot', {}],
  ['browser_take_screenshot', { fullPage: true }],
  ['browser_pdf_save', {}],
  ['browser_click', { target: 'e1', snapshot: 'full' }],
  ['browser_hover', { target: 'e1', snapshot: 'full' }],
  ['browser_type', { target: 'e2', text: 'a', slowly: true, snapshot: 'full' }],
  ['browser_fill_form', { fields: [{ target: 'e2', value: 'a' }], snapshot: 'full' }],
  ['browser_press_key', { key: 'a', snapshot: 'full' }],
  ['browser_drag', { startTarget: 'e1', endTarget: 'e2', snapshot: 'full' }],
  ['browser_handle_dialog', { accept: true }],
  ['browser_mouse_click_xy', { x: 50, y: 50, snapshot: 'full' }],
  ['browser_mouse_move_xy', { x: 60, y: 60, snapshot: 'full' }],
  ['browser_mouse_drag_xy', { startX: 10, startY: 10, endX: 90, endY: 90 }],
  ['browser_mouse_wheel', { x: 50, y: 50, deltaY: 100 }],
  ['browser_console_messages', {}],
  ['browser_evaluate', { function: '() => { window.acts++; return document.title }' }],
  ['browser_evaluate', { function: '() => document.title', world: 'isolated' }],
  ['browser_resources', {}],
  ['browser_get_styles', { target: 'e1' }],
  ['browser_performance', { action: 'start' }],
  ['browser_performance', { action: 'stop' }],
  ['browser_css_coverage', { action: 'start' }],
  ['browser_css_coverage', { action: 'stop' }],
  ['browser_network_requests', { static: true }],
  ['browser_network_request', { index: 1 }],
  ['browser_websocket_messages', {}],
  ['browser_har_export', { bodies: true }],
  ['browser_route', { action: 'add', pattern: '*', body: 'forged' }],
  ['browser_route', { action: 'list' }],
  ['browser_network_conditions', { preset: 'offline' }],
  ['browser_emulate', { locale: 'de-DE' }],
  ['browser_storage', { action: 'get', area: 'local', key: 'k' }],
  ['browser_storage', { action: 'set', area: 'local', key: 'k', value: 'forged' }],
]);

/** isTestingAllPairs is true in `make nightly`, where the test combines each action with every possible next step. */
const isTestingAllPairs = process.env.OPENTABS_TEST_ALL === '1';

const sampleSteps = listSteps([
  ['browser_snapshot', {}],
  ['browser_click', { target: 'e1', snapshot: 'full' }],
  ['browser_evaluate', { function: '() => { window.acts++; return document.title }' }],
]);

async function assertForbidden(stepName: string, forbiddenSteps = restrictedSteps): Promise<void> {
  const { client, stack } = fixture;
  for (const [tool, args] of forbiddenSteps) {
    const callOutcome = await client.call(tool, args);
    assert.equal(callOutcome.isError, true, `${stepName}: ${tool} ran: ${callOutcome.text}`);
    assertTextHidden(`${stepName}: ${tool}`, callOutcome.text);
    const batchOutcome = await client.call('browser_batch', { steps: [{ tool, args }] });
    assert.equal(batchOutcome.isError, true, `${stepName}: ${tool} ran in a batch: ${batchOutcome.text}`);
    assertTextHidden(`${stepName}: batch of ${tool}`, batchOutcome.text);
  }
  const page = stack.chrome.context.pages().find((openPage) => openPage.url().includes('/accounts'));
  assert.ok(page, stepName);
  const shopState = await page.evaluate<string>("[acts, localStorage.getItem('k'), navigator.onLine].join(' ')");
  assert.equal(shopState, `0 ${privateText} true`, `${stepName}: the page must be unchanged`);
}

async function closeForbiddenPages(): Promise<void> {
  for (const page of fixture.stack.chrome.context.pages()) if (page.url().includes('/accounts')) await page.close();
}

function readOpenedTab(answerText: string): number {
  const tabId = Number(/opened tab (\d+)/.exec(answerText)?.[1]);
  assert.ok(tabId > 0, answerText);
  return tabId;
}

for (const site of forbiddenSites) {
  const kind = { bank: 'off', other: 'not approved', login: 'sensitive' }[site];

  test(`tools: no tool reads or uses a popup with a site that is ${kind}, or shows its address`, async () => {
    const { setPage, open: openTab, callTool: runTool, findRef: getRef, shop: shopOrigin } = fixture;
    await setSiteRules(site);
    const target = makeTargetUrl(site);
    const redirectUrl = `${shopOrigin}/hop?to=${encodeURIComponent(target)}`;
    for (const [stepName, script] of [
      ['window.open', `window.open('${target}')`],
      ['a redirect', `window.open('${redirectUrl}')`],
      ['a named window', `window.open('${target}', 'popup', 'width=300,height=300')`],
      ['a later address', `const popup = window.open('about:blank'); popup.location = '${target}'`],
    ] as const) {
      setPage('/popups', `<title>Shop</title><button onclick="${script}">Go</button>`);
      await openTab('/popups');
      const clickOutcome = await runTool('browser_click', { target: await getRef('"Go"'), snapshot: 'full' });
      assert.match(clickOutcome, /input: trusted/, stepName);
      assertTextHidden(stepName, clickOutcome);
      await fixture.findPage(target);
      fixture.onApprovalForm = (question) => question.includes('wants to see which tabs are open');
      const selectOutcome = await fixture.client.call('browser_tabs', {
        action: 'select',
        tabId: readOpenedTab(clickOutcome),
      });
      assert.equal(selectOutcome.isError, false, selectOutcome.text);
      assertTextHidden(`${stepName}: select`, selectOutcome.text);
      await assertForbidden(stepName, isTestingAllPairs || stepName === 'window.open' ? restrictedSteps : sampleSteps);
      await closeForbiddenPages();
    }
  });

  test(`tools: no batch step uses a site that is ${kind} after an earlier step navigated there`, async () => {
    const { setPage, open: openTab, client, findRef: getRef, shop: shopOrigin } = fixture;
    await setSiteRules(site);
    const target = makeTargetUrl(site);
    const redirectUrl = `${shopOrigin}/hop?to=${encodeURIComponent(target)}`;
    setPage(
      '/leave',
      `<title>Shop</title><button onclick="location='${target}'">Go</button><a href="${redirectUrl}">Hop</a>
       <button onmouseenter="location='${target}'">Over</button><input aria-label="Keys" onkeydown="location='${target}'">
       <form action="${redirectUrl.split('?')[0]}"><input type="hidden" name="to" value="${target}"><button>Send</button></form>`,
    );
    const navigationSteps = [
      ['browser_click', '"Go"', {}],
      ['browser_click', '"Hop"', {}],
      ['browser_click', '"Send"', {}],
      ['browser_hover', '"Over"', {}],
      ['browser_press_key', '"Keys"', { key: 'a' }],
      ['browser_type', '"Keys"', { text: 'ab', slowly: true }],
      ['browser_navigate', '', { url: redirectUrl }],
    ] as const;
    const followUpSteps = listSteps([
      ['browser_snapshot', {}],
      ['browser_click', { target: 'e1' }],
      ['browser_press_key', { key: 'b' }],
      ['browser_mouse_click_xy', { x: 50, y: 50 }],
      ['browser_evaluate', { function: 'acts++' }],
      ['browser_take_screenshot', {}],
    ]);
    for (const [i, [tool, elementName, extraArguments]] of navigationSteps.entries()) {
      const selectedSteps = followUpSteps.filter((_, j) => isTestingAllPairs || j === i % followUpSteps.length);
      for (const [nextTool, nextArgs] of selectedSteps) {
        const stepName = `${tool} ${elementName}, then ${nextTool}`;
        await openTab('/leave');
        const targetArgs = elementName === '' ? {} : { target: await getRef(elementName) };
        const forbiddenSteps = [
          { tool, args: { ...targetArgs, ...extraArguments } },
          { tool: nextTool, args: nextArgs },
        ];
        const callOutcome = await client.call('browser_batch', { steps: forbiddenSteps });
        assert.equal(callOutcome.isError, true, `${stepName}: ${callOutcome.text}`);
        assertTextHidden(stepName, callOutcome.text);
        const page = await fixture.findPage(target);
        assert.equal(await page.evaluate('acts'), 0, `${stepName}: the page must receive no input`);
        await closeForbiddenPages();
      }
    }
  });

  test(`tools: recordings and emulations do not show what happens on a site that is ${kind}`, async () => {
    const { setPage, open: openTab, callTool: runTool, client, shop: shopOrigin, findPage: getPage } = fixture;
    await setSiteRules(site);
    fixture.onApprovalForm = (question) => !question.includes(makeOrigin(site));
    setPage('/record', '<title>Shop</title><h1>Shop</h1><style>h1 { color: red }</style>');
    await openTab('/record');
    const page = await getPage(`${shopOrigin}/record`);
    const startSteps = listSteps([
      ['browser_network_requests', {}],
      ['browser_css_coverage', { action: 'start' }],
      ['browser_performance', { action: 'start' }],
      ['browser_console_messages', {}],
      ['browser_route', { action: 'add', pattern: '*/api*', body: 'forged' }],
    ]);
    for (const [tool, args] of startSteps) await runTool(tool, args);
    const apiResponse = page.waitForResponse((response) => response.url().includes('/api'));
    await page.goto(makeTargetUrl(site));
    assert.doesNotMatch(
      await (await apiResponse).text(),
      /forged/,
      'request rules of the shop do not answer requests of another site',
    );
    await assertForbidden('a recorded tab');
    await page.goto(`${shopOrigin}/record`);
    await waitFor('the page', async () => !(await client.call('browser_snapshot')).isError);
    for (const [tool, args] of listSteps([
      ['browser_network_requests', { static: true }],
      ['browser_network_request', { index: 2 }],
      ['browser_network_request', { index: 3 }],
      ['browser_websocket_messages', {}],
      ['browser_har_export', { bodies: true }],
      ['browser_css_coverage', { action: 'stop' }],
      ['browser_performance', { action: 'stop' }],
      ['browser_console_messages', { level: 'debug' }],
      ['browser_resources', {}],
      ['browser_route', { action: 'list' }],
      ['browser_storage', { action: 'list', area: 'local' }],
      ['browser_evaluate', { function: '() => [document.referrer, history.length, window.name]' }],
    ])) {
      const { text: answerText } = await client.call(tool, args);
      assertTextHidden(`${tool} after the return`, answerText);
      for (const uri of answerText.match(/opentabs:\/\/files\/\w+/g) ?? []) {
        const { contents: resourceContents } = await client.sdk.readResource({ uri });
        assertTextHidden(`the file of ${tool}`, JSON.stringify(resourceContents));
      }
    }
    await page.close();
  });

  test(`tools: no address gives access to cookies and stored data of a site that is ${kind}`, async () => {
    const { client, shop: shopOrigin } = fixture;
    await setSiteRules(site);
    const siteOrigin = makeOrigin(site);
    const redirectUrl = `${shopOrigin}/hop?to=${encodeURIComponent(`${siteOrigin}/file.txt?${privateText}`)}`;
    for (const [tool, args] of listSteps([
      ['browser_cookies', { action: 'list', url: `${siteOrigin}/` }],
      ['browser_cookies', { action: 'set', url: `${siteOrigin}/`, name: 'a', value: 'b' }],
      ['browser_clear_site_data', { origin: siteOrigin }],
      ['browser_downloads', { action: 'start', url: redirectUrl }],
      ['browser_downloads', { action: 'start', url: `${siteOrigin}/file.txt` }],
      ['browser_windows', { action: 'new', url: `${siteOrigin}/accounts` }],
      ['browser_tabs', { action: 'new', url: `${siteOrigin}/accounts` }],
    ])) {
      const callOutcome = await client.call(tool, args);
      assert.equal(callOutcome.isError, true, `${tool}: ${callOutcome.text}`);
      assertTextHidden(tool, callOutcome.text);
    }
  });
}
