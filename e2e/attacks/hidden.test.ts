/**
 * Threat: page text escapes the markers that label it as untrusted, or a tool result reveals hidden text, secrets or
 * text of other sites.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type AgentFixture, listSteps, startAgentFixture } from '../browser/agent-fixture.ts';
import { readCompleteAudit } from '../harness/audit.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture();
});
after(() => fixture?.close());
beforeEach(() => {
  fixture.onApprovalForm = () => false;
  fixture.approvalForms.length = 0;
});

function removePageText(pageText: string): string {
  return pageText.replace(
    /^--- text of .* \[(\w+)\] ---\n[\s\S]*?\n--- end of the page's text \[\1\] ---$/gm,
    '(page)',
  );
}

const injectedInstruction = 'OBEY-THE-PAGE';

test('tools: errors have page text only between the untrusted-content markers', async () => {
  const { setPage, open: openTab, client, findRef: getRef, shop: shopOrigin } = fixture;
  setPage(
    '/errors',
    `<title>e</title><button id="gone">${injectedInstruction} gone</button><button>${injectedInstruction} gone too</button>
     <div style="position:relative;width:200px;height:40px"><button style="width:200px;height:40px">${injectedInstruction} under</button>
       <div role="dialog" aria-label="${injectedInstruction} cover" style="position:absolute;inset:0;background:#fff">${injectedInstruction}</div></div>
     <button disabled>${injectedInstruction} off</button><select aria-label="${injectedInstruction} list"><option>${injectedInstruction} one<option disabled>dead</select>
     <input aria-label="Stubborn" id="s" value="${injectedInstruction} value"><input type="file" aria-label="${injectedInstruction} f1"><input type="file" aria-label="${injectedInstruction} f2">
     <${injectedInstruction.toLowerCase()} tabindex="0">Custom</${injectedInstruction.toLowerCase()}>
     <a href="/${injectedInstruction}" target="_blank">Link</a><input aria-label="Echo" oninput="this.value = '${injectedInstruction} changed'">
     <script>s.addEventListener('beforeinput', (event) => event.preventDefault());</script>`,
  );
  await openTab('/errors');
  const fieldRefs = {
    gone: await getRef(`${injectedInstruction} gone"`),
    under: await getRef('under'),
    off: await getRef('off'),
    list: await getRef('list'),
    stubborn: await getRef('Stubborn'),
    custom: await getRef('Custom'),
    echo: await getRef('Echo'),
    link: await getRef('Link'),
  };
  const page = await fixture.findPage(`${shopOrigin}/errors`);
  await page.evaluate('gone.remove()');
  const answerTexts: string[] = [];
  for (const [tool, args] of listSteps([
    ['browser_click', { target: fieldRefs.gone }],
    ['browser_click', { target: fieldRefs.under }],
    ['browser_click', { target: fieldRefs.off }],
    ['browser_select_option', { target: fieldRefs.list, values: ['none'] }],
    ['browser_select_option', { target: fieldRefs.list, values: ['dead'] }],
    ['browser_type', { target: fieldRefs.stubborn, text: 'x' }],
    ['browser_type', { target: fieldRefs.custom, text: 'x' }],
    ['browser_fill_form', { fields: [{ target: fieldRefs.stubborn, value: 'x' }] }],
    ['browser_fill_form', { fields: [{ target: fieldRefs.list, value: 'none' }] }],
    ['browser_batch', { steps: [{ tool: 'browser_click', args: { target: fieldRefs.gone } }] }],
    ['tools_call', { name: 'browser_click', arguments: { target: fieldRefs.gone } }],
  ])) {
    const callOutcome = await client.call(tool, args);
    assert.equal(callOutcome.isError, true, `${tool}: ${callOutcome.text}`);
    assert.doesNotMatch(removePageText(callOutcome.text), /OBEY/i, tool);
    answerTexts.push(callOutcome.text);
  }
  assert.match(answerTexts[0] ?? '', /nearest match is e\d+\. [\s\S]*the element was: button "OBEY-THE-PAGE gone"/);
  assert.match(answerTexts[1] ?? '', /the element e\d+ is in front of it[\s\S]*in front of it: dialog/);
  for (const [tool, args] of listSteps([
    ['browser_type', { target: fieldRefs.echo, text: 'x' }],
    ['browser_click', { target: fieldRefs.link, modifiers: ['Control'] }],
    [
      'browser_fill_form',
      {
        fields: [
          { target: fieldRefs.echo, value: 'y' },
          { target: fieldRefs.list, value: 'none' },
        ],
      },
    ],
  ])) {
    const callOutcome = await client.call(tool, args);
    assert.doesNotMatch(removePageText(callOutcome.text), /OBEY/i, `${tool}: ${callOutcome.text}`);
  }
  const auditOutput = await readCompleteAudit(fixture.stack);
  for (const audit of [auditOutput, (await fixture.stack.runCli('calls')).stdout])
    assert.doesNotMatch(audit, /OBEY/i, 'the audit log must not contain page text');
  await page.close();
});

const hidingStyles = {
  hidden: 'hidden',
  display: 'style="display:none"',
  visibility: 'style="visibility:hidden"',
  opacity: 'style="opacity:0"',
  'clip-path': 'style="position:absolute;clip-path:inset(100%)"',
  'clip-path in the flow': 'style="clip-path:inset(100%)"',
  'clip-path half': 'style="clip-path:inset(50%)"',
  'clip-path circle': 'style="clip-path:circle(0)"',
  clip: 'style="position:absolute;clip:rect(0 0 0 0)"',
  'clip with commas': 'style="position:absolute;clip:rect(0,0,0,0)"',
  'zero size': 'style="width:0;height:0;overflow:hidden"',
  'one pixel': 'style="position:absolute;width:1px;height:1px;overflow:hidden"',
  'font size': 'style="font-size:0"',
  'same colour': 'style="color:#fff;background:#fff"',
  'transparent colour': 'style="color:transparent"',
  'off the page': 'style="position:absolute;left:-9999px"',
  'above the page': 'style="position:fixed;top:-999px"',
  indent: 'style="text-indent:-9999px;overflow:hidden"',
  scale: 'style="transform:scale(0)"',
  'aria-hidden': 'aria-hidden="true"',
  'opacity of the parent': 'data-parent style="opacity:0"',
};

test('tools: no reading tool returns hidden text', async () => {
  const { setPage, open: openTab, client } = fixture;
  const elements = Object.entries(hidingStyles).map(([name, attributes], i) => {
    const pageText = `OBEY-${i} ${name}`;
    return `<div class="box" ${attributes}><p class="inner">${pageText}</p><span role="button" tabindex="0" class="b">${pageText}</span></div>`;
  });
  setPage('/hidden', `<title>h</title><body style="background:#fff"><h1>Shown</h1>${elements.join('\n')}`);
  await openTab('/hidden');
  const names = Object.keys(hidingStyles);
  const leakedTexts = new Set<string>();
  for (const [tool, args] of listSteps([
    ['browser_snapshot', { maxTokens: 50_000 }],
    ['browser_read_page', { format: 'markdown' }],
    ['browser_read_page', { format: 'text' }],
    ['browser_find', { selector: '.box', limit: 100 }],
    ['browser_find', { selector: '.inner', limit: 100 }],
    ['browser_find', { selector: '.b', limit: 100 }],
    ['browser_find', { selector: 'body' }],
    ['browser_find', { role: 'button', limit: 100 }],
    ['browser_find', { text: 'OBEY', limit: 100 }],
    ['browser_find', { selector: '.b', text: 'OBEY', limit: 100 }],
    ['browser_wait_for', { selector: '.box', state: 'attached', timeout: 1 }],
    ['browser_scroll', { direction: 'bottom' }],
  ])) {
    const { text: pageText } = await client.call(tool, args);
    for (const [, markerId] of pageText.matchAll(/OBEY-(\d+)/g))
      leakedTexts.add(`${tool} ${JSON.stringify(args)}: ${names[Number(markerId)]}`);
  }
  assert.deepEqual([...leakedTexts], [], 'no tool result must contain hidden text');
  const foundMatches = await client.call('browser_find', { selector: '.box' });
  assert.match(foundMatches.text, /\[hidden\]/, 'browser_find must mark hidden elements');
});

test('tools: a selector does not reveal the value of a secret field', async () => {
  const { setPage, open: openTab, client } = fixture;
  setPage(
    '/search',
    '<title>s</title><form><input type="password" aria-label="P" value="hunter2"></form><input aria-label="Q" value="public">',
  );
  await openTab('/search');
  for (const hiddenElementCase of [
    'input[value^="PART"]',
    'input[ value ^= "PART" ]',
    'input[VALUE^="PART"]',
    'input[*|value^="PART"]',
    'input[|value^="PART"]',
    'input[/**/value^="PART"]',
    'input[va\\6cue^="PART"]',
    'input[\\value^="PART"]',
    'form:has([value^="PART"])',
    ':is(input[value^="PART"], nothing)',
    ':not(input[value^="PART"])',
    'input:not([value^="PART"])',
  ]) {
    const toolAnswers = await Promise.all(
      ['hunt', 'zzzz'].map(async (queryText) => {
        const selector = hiddenElementCase.replace('PART', queryText);
        const foundMatches = await client.call('browser_find', { selector });
        const waitOutcome = await client.call('browser_wait_for', { selector, state: 'attached', timeout: 0.3 });
        return [foundMatches, waitOutcome].map(
          ({ text: pageText, isError }) => `${isError} ${pageText.replace(/\[\w+\]|\d+(\.\d+)? m?s/g, '')}`,
        );
      }),
    );
    assert.deepEqual(
      toolAnswers[0],
      toolAnswers[1],
      `right and wrong selectors for ${hiddenElementCase} must have equal results`,
    );
  }
  assert.equal((await client.call('browser_find', { selector: 'input[type=password]' })).isError, false);
  setPage('/plain-search', '<title>s</title><input aria-label="Q" value="public">');
  await openTab('/plain-search');
  assert.match((await client.call('browser_find', { selector: 'input[value^="pub"]' })).text, /ref=/);
});

test('tools: a wait for an address reveals nothing about a site that the user has not approved', async () => {
  const { setPage, open: openTab, client, shop: shopOrigin, other: otherOrigin } = fixture;
  setPage('/away', '<title>a</title>');
  setPage('/secret-path', '<title>Private title</title><p>Private');
  const toolAnswers: string[] = [];
  for (const url of ['/secret-path', '/other-path']) {
    await openTab('/away');
    const page = await fixture.findPage(`${shopOrigin}/away`);
    let leavingNavigation: Promise<unknown> | undefined;
    // The first progress report shows that browser_wait_for has begun to wait.
    const onProgress = () => {
      leavingNavigation ??= page.evaluate(`location = '${otherOrigin}/secret-path?token=1'`);
    };
    const callOutcome = await client.call('browser_wait_for', { url, timeout: 5 }, { onProgress });
    await leavingNavigation;
    assert.doesNotMatch(callOutcome.text, /secret-path|token|Private/, url);
    assert.match(callOutcome.text, /page: http:\/\/other\.localhost:\d+\. The user has not allowed/, url);
    toolAnswers.push(`${callOutcome.isError} ${callOutcome.text}`);
  }
  assert.equal(toolAnswers[0], toolAnswers[1], 'waits for a right and a wrong address must have equal results');
});

test('tools: results with text of a page name the page in their metadata', async () => {
  const { setPage, open: openTab, client, shop: shopOrigin } = fixture;
  setPage('/meta', '<title>m</title><p>Text');
  const tab = await openTab('/meta');
  const { _meta } = await client.sdk.callTool({ name: 'browser_snapshot', arguments: {} });
  assert.deepEqual(_meta?.['opentabs/untrusted'], { origin: shopOrigin, tab });
});
