/**
 * An agent can read the content of a page in parts, and find lines by text, pattern, role and CSS selector.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

const articleHtml = `<h1>Guide</h1>
<p>Read <b>this</b> <i>first</i>, then the <a href="/next?a=1">next page</a>.<br>New line</p>
<ul><li>One</li><li>Two<ol><li>Two a</li><li>Two b</li></ol></li></ul>
<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody><tr><td>Tea | black</td><td><a href="/t">3 €</a></td></tr></tbody></table>
<pre>line 1
  line 2</pre><blockquote>Quoted<p>twice</p></blockquote><img src="/x.png" alt="Chart"><hr>
<p style="display:none">hidden</p><p style="color:#fff">white</p><code>x = 1</code>
<label>Name <input value="Ada"></label><input type=password value="hunter2222" aria-label="Password">
<div>Block one</div><div>Block two</div>`;

test('a page can be read as Markdown', async () => {
  const page = await pageLab.openPage(articleHtml);
  const { text: readText, cursor } = await page.callOrThrow('read');
  assert.equal(
    readText,
    `# Guide

Read **this** _first_, then the [next page](${page.origin}/next?a=1).

New line

- One
- Two
  1. Two a
  2. Two b

| Name | Price |
| --- | --- |
| Tea \\| black | [3 €](${page.origin}/t) |

\`\`\`
line 1
  line 2
\`\`\`

> Quoted
>
> twice

![Chart](${page.origin}/x.png)

---

\`x = 1\` Name [Name: Ada] [Password: •••]

Block one

Block two`,
  );
  assert.equal(cursor, undefined);
});

test('a page can be read as text or HTML, and a target limits the reading to one element', async () => {
  const page = await pageLab.openPage(articleHtml);
  const { text: readText } = await page.callOrThrow('read', { format: 'text' });
  assert.match(readText, /^Guide\n\nRead this first, then the next page\.\nNew line\n- One\n- Two\n {2}1\. Two a/);
  assert.match(readText, /Name\tPrice\nTea \| black\t3 €/);
  const html = await page.callOrThrow('read', { format: 'html' });
  assert.match(html.text, /<a href="\/next\?a=1">next page<\/a>/);
  for (const hidden of ['hunter2222', 'hidden', 'white']) assert.ok(!html.text.includes(hidden), hidden);
  const foundMatches = await page.callOrThrow('find', { selector: 'table' });
  const table = await page.callOrThrow('read', { target: foundMatches.matches[0].ref, format: 'text' });
  assert.equal(table.text, 'Name\tPrice\nTea | black\t3 €');
});

test('a long page comes in parts that join to the whole text', async () => {
  const page = await pageLab.openPage(
    Array.from({ length: 400 }, (_, i) => `<p>Paragraph ${i} with words — “ä”.</p>`).join(''),
  );
  const readParts: string[] = [];
  let cursor: string | undefined;
  let totalTokens = 0;
  do {
    const pagePart = await page.callOrThrow('read', { maxTokens: 500, ...(cursor ? { cursor } : {}) });
    assert.ok(pagePart.tokens <= 500);
    readParts.push(pagePart.text);
    ({ cursor, total: totalTokens } = pagePart);
  } while (cursor);
  assert.ok(readParts.length > 5 && totalTokens > 2_500);
  const paragraphNumbers = [...readParts.join('\n\n').matchAll(/Paragraph (\d+) with words — “ä”\./g)].map((m) =>
    Number(m[1]),
  );
  assert.deepEqual(
    paragraphNumbers,
    Array.from({ length: 400 }, (_, i) => i),
  );
  assert.equal((await page.callOperation('read', { cursor: 'r99:0' })).error.code, 'invalid_arguments');
});

test('the operation find returns lines with refs and paths', async () => {
  const rowsHtml = Array.from(
    { length: 60 },
    (_, i) => `<tr><td>#${i}</td><td><button>Edit ${i}</button></td></tr>`,
  ).join('');
  const page = await pageLab.openPage(`<main><h1>All orders</h1><table aria-label="Orders">${rowsHtml}</table>
    <p>Call <b>555</b>-1234 now</p><p style="display:none">Edit hidden</p></main>`);
  const textResult = await page.callOrThrow('find', { text: 'edit 42' });
  assert.equal(textResult.total, 1);
  assert.match(textResult.matches[0].line, /^button "Edit 42" \[ref=e\d+\]$/);
  assert.deepEqual(
    textResult.matches[0].path.map((line: string) => line.replace(/ \[ref=\w+\]/, '')),
    ['main', 'table "Orders"', 'row'],
  );
  const roleResult = await page.callOrThrow('find', { role: 'button', limit: 5 });
  assert.deepEqual([roleResult.matches.length, roleResult.total], [5, 60]);
  const regexResult = await page.callOrThrow('find', { regex: '^edit 1\\d$' });
  assert.equal(regexResult.total, 10);
  const splitTextResult = await page.callOrThrow('find', { text: '555-1234' });
  assert.match(splitTextResult.matches[0].line, /^Call 555-1234 now \[ref=e\d+\]$/);
  const selectorResult = await page.callOrThrow('find', { selector: 'tr:nth-child(3) button' });
  assert.match(selectorResult.matches[0].line, /^button "Edit 2"/);
  assert.equal((await page.callOrThrow('find', { text: 'Edit hidden' })).total, 0);
  for (const [args, reason] of [
    [{}, /at least one/],
    [{ selector: '!!' }, /CSS selector/],
    [{ regex: '(a+)\\1' }, /back-references/],
    [{ text: 'x', limit: 0 }, /limit/],
  ] as const) {
    const { error } = await page.callOperation('find', args);
    assert.equal(error.code, 'invalid_arguments');
    assert.match(error.message, reason);
  }
});
