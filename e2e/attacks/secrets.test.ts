/**
 * Threat: an agent types into secret fields, or a tool's result contains secrets such as passwords, card numbers and
 * one-time codes.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type AgentFixture, listSteps, startAgentFixture } from '../browser/agent-fixture.ts';
import { readCompleteAudit } from '../harness/audit.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ serveFlags: ['--log-level', 'trace'] });
});
after(() => fixture?.close());
beforeEach(() => {
  fixture.onApprovalForm = () => false;
  fixture.approvalForms.length = 0;
});

const secretFields = [
  ['Password', 'type="password"', 'a password field'],
  ['Card', 'autocomplete="section-a cc-number"', 'a card field'],
  ['Holder', 'autocomplete="cc-name"', 'a card field'],
  ['Once', 'autocomplete="one-time-code"', 'a field for a one-time code'],
  ['Dots', 'style="-webkit-text-security:disc"', 'a password field'],
] as const;

const formPage = `<title>form</title>
  ${secretFields.map(([name, attributes]) => `<input aria-label="${name}" ${attributes}>`).join('\n')}
  <input aria-label="Plain"><label>Labelled <input type="password"></label><button>Send</button>
  <div id="host"></div><script>
    const root = host.attachShadow({ mode: 'closed' });
    root.innerHTML = '<input aria-label="Closed" type="password">';
  </script>`;

test('tools: typing into a secret field needs an approval on every site, and a denied call types nothing', async () => {
  const { setPage, open: openTab, client, findRef: getRef, approvalForms: forms, shop: shopOrigin } = fixture;
  setPage('/form', formPage);
  await openTab('/form');
  const plainFieldRef = await getRef('"Plain"');
  await fixture.callTool('browser_type', { target: plainFieldRef, text: 'lamp' });
  assert.deepEqual(forms, [], 'on a site with the rule auto, an ordinary field needs no approval');
  const page = await fixture.findPage(`${shopOrigin}/form`);
  const formFields = [
    ...secretFields,
    ['Labelled', '', 'a password field'],
    ['Closed', '', 'a password field'],
  ] as const;
  for (const [name, , labelText] of formFields) {
    const target = await getRef(`"${name}"`);
    for (const [tool, args] of listSteps([
      ['browser_type', { target, text: 'typed-Secret-5' }],
      ['browser_type', { target, text: 'typed-Secret-5', slowly: true }],
      [
        'browser_fill_form',
        {
          fields: [
            { target: plainFieldRef, value: 'x' },
            { target, value: 'typed-Secret-5' },
          ],
        },
      ],
      ['browser_press_key', { target, key: 'a' }],
      ['browser_batch', { steps: [{ tool: 'browser_type', args: { target, text: 'typed-Secret-5' } }] }],
    ])) {
      forms.length = 0;
      const callOutcome = await client.call(tool, args);
      assert.equal(callOutcome.code, 'denied', `${tool} ${name}: ${callOutcome.text}`);
      assert.equal(forms.length, 1, `${tool} into ${name} must request one approval`);
      assert.match(forms[0] ?? '', new RegExp(`wants to type into ${labelText} on http://shop`), `${tool} ${name}`);
      assert.doesNotMatch(forms[0] ?? '', /typed-Secret-5/, `${tool} ${name}`);
    }
  }
  const fieldValues = await page.evaluate('[...document.querySelectorAll("input")].map((field) => field.value).join()');
  assert.equal(fieldValues, ',,,,,lamp,', 'denied calls must not change the fields');
  fixture.onApprovalForm = () => true;
  await fixture.callTool('browser_type', { target: await getRef('"Password"'), text: 'typed-Secret-5' });
  assert.equal(await page.evaluate('document.querySelector("[type=password]").value'), 'typed-Secret-5');
  await page.close();
});

test('tools: a key press reaches a focused password field only after an approval', async () => {
  const { setPage, open: openTab, client, findRef: getRef, approvalForms: forms, shop: shopOrigin } = fixture;
  setPage('/focused', '<title>f</title><input type="password" aria-label="Pass"><button>B</button>');
  await openTab('/focused');
  await fixture.callTool('browser_click', { target: await getRef('"Pass"') });
  const callOutcome = await client.call('browser_press_key', { key: 'x' });
  assert.equal(callOutcome.code, 'denied', callOutcome.text);
  assert.match(forms.join(), /type into a password field/);
  const page = await fixture.findPage(`${shopOrigin}/focused`);
  assert.equal(await page.evaluate('document.querySelector("input").value'), '');
  await page.close();
});

test('tools: a page that swaps the field between check and input gets no text', async () => {
  const { setPage, open: openTab, client, findRef: getRef, approvalForms: forms, shop: shopOrigin } = fixture;
  const tokenReplacements = {
    'type at focus': "field.onfocus = () => { field.type = 'password'; }",
    'type at beforeinput': "field.addEventListener('beforeinput', () => { field.type = 'password'; })",
    'focus at beforeinput': "field.addEventListener('beforeinput', () => other.focus())",
    'focus at keydown': "field.addEventListener('keydown', () => other.focus())",
    'autocomplete at focus': "field.onfocus = () => { field.autocomplete = 'one-time-code'; }",
  };
  for (const [name, script] of Object.entries(tokenReplacements)) {
    setPage(
      '/swap',
      `<title>swap</title><input id="field" aria-label="Name"><input id="other" type="password" aria-label="Other"><script>${script}</script>`,
    );
    await openTab('/swap');
    const target = await getRef('"Name"');
    const page = await fixture.findPage(`${shopOrigin}/swap`);
    for (const [tool, args] of listSteps([
      ['browser_type', { target, text: 'typed', slowly: name.includes('keydown') }],
      ['browser_press_key', { target, key: 'k' }],
    ])) {
      await page.evaluate(
        'document.activeElement.blur(); field.type = "text"; field.autocomplete = ""; other.value = field.value = ""',
      );
      forms.length = 0;
      const callOutcome = await client.call(tool, args);
      const fieldValues = await page.evaluate('field.value + other.value');
      const hasPageSwappedFields = await page.evaluate(
        'field.matches("[type=password],[autocomplete=one-time-code]") || document.activeElement === other',
      );
      if (hasPageSwappedFields !== true) continue; // without an input event, the page has not swapped its fields
      assert.equal(callOutcome.isError, true, `${tool}, ${name}: ${callOutcome.text}`);
      assert.match(callOutcome.text, /needs_approval|denied/, `${tool}, ${name}`);
      assert.equal(fieldValues, '', `${tool}, ${name}: the swapped field must stay empty`);
    }
    await page.close();
  }
});

test('tools: a wildcard rule does not change how the rule "auto" of a host treats a page with a secret field', async () => {
  const { setPage, client, findRef: getRef, approvalForms: forms, stack, callTool: runTool } = fixture;
  // The test sites are on localhost, where a site rule with a wildcard never allows an action.
  const { code } = await stack.runCli('browser', 'site', '*', 'auto');
  assert.equal(code, 0);
  setPage('/hidden-login', '<title>h</title><input type="password" hidden><button>B</button>');
  await fixture.open('/hidden-login');
  await runTool('browser_click', { target: await getRef('"B"') });
  setPage('/login', '<title>l</title><input type="password"><button>B</button>');
  await fixture.open('/login');
  await runTool('browser_click', { target: await getRef('"B"') });
  assert.deepEqual(forms, [], 'the rule auto of the host must also allow a page with a password field');
  await stack.runCli('browser', 'site', '*', 'default');
  assert.equal((await client.call('browser_snapshot', {})).isError, false);
});

test('tools: no result, form, record or log contains passwords, codes or card numbers', async () => {
  const {
    setPage,
    open: openTab,
    callTool: runTool,
    findRef: getRef,
    stack,
    approvalForms: forms,
    client,
    other: otherOrigin,
  } = fixture;
  const secretValues = ['Tr0ub4dor&3', '4111111111111111', '737737', '918273', 'typed-Secret-5', 'shown-Secret-9'];
  const [password, cardNumber, cardSecurityCode, code, typedSecret, shownSecret] = secretValues;
  setPage(
    '/secrets',
    `<title>s</title><label>Password <input id="p" type="password" value="${password}"></label>
     <input aria-label="Card" autocomplete="cc-number" value="${cardNumber}"><input aria-label="Check" autocomplete="cc-csc" value="${cardSecurityCode}">
     <input aria-label="One" autocomplete="one-time-code" value="${code}"><input aria-label="New" type="password" id="n">
     <input aria-label="Shown" type="password" id="s" value="${shownSecret}"><button onclick="s.type = 'text'">Show</button>
     <p id="echo"></p><script>n.oninput = () => { echo.textContent = 'You typed ' + n.value }</script>`,
  );
  fixture.onApprovalForm = () => true;
  const toolAnswers: string[] = [];
  const recordAnswer = async (tool: string, args: Record<string, unknown> = {}) => {
    toolAnswers.push((await client.call(tool, args)).text);
  };
  await runTool('browser_tabs', { action: 'new', url: `${otherOrigin}/secrets` });
  await recordAnswer('browser_snapshot');
  await recordAnswer('browser_type', { target: await getRef('"New"'), text: typedSecret });
  await recordAnswer('browser_fill_form', { fields: [{ target: await getRef('"New"'), value: typedSecret }] });
  await recordAnswer('browser_fill_form', { fields: [{ target: await getRef('"Check"'), value: cardSecurityCode }] });
  await recordAnswer('browser_batch', {
    steps: [{ tool: 'browser_type', args: { target: await getRef('"New"'), text: typedSecret } }],
  });
  await recordAnswer('browser_click', { target: await getRef('"Show"') });
  await recordAnswer('browser_click', { target: await getRef('"Show"'), snapshot: 'full' });
  for (const format of ['markdown', 'text', 'html']) await recordAnswer('browser_read_page', { format });
  for (const selector of ['input', '#p', 'body']) await recordAnswer('browser_find', { selector });
  await recordAnswer('browser_find', { role: 'textbox' });
  await recordAnswer('browser_tabs', { action: 'list' });
  await recordAnswer('browser_tabs', { action: 'select' });
  await recordAnswer('browser_snapshot', { mode: 'interactive' });
  await openTab('/plain');
  const calls = await stack.runCli('calls', '--json');
  const auditOutput = await readCompleteAudit(stack);
  const status = await stack.runCli('status');
  const answerTexts = [
    ...toolAnswers,
    ...forms,
    calls.stdout,
    calls.stderr,
    auditOutput,
    status.stdout,
    stack.daemon.stdout(),
    stack.daemon.stderr(),
  ];
  for (const name of readdirSync(stack.homeFolder)) {
    const path = join(stack.homeFolder, name);
    if (name.endsWith('.tmp')) continue; // the daemon renames a .tmp file soon after it has written the file
    if (statSync(path).isFile()) answerTexts.push(readFileSync(path, 'utf8'));
  }
  for (const answerText of answerTexts)
    for (const secret of secretValues)
      assert.ok(!answerText.includes(secret), `${secret} is in: ${answerText.slice(0, 1500)}`);
});
