/**
 * Pages of real sites read as what a user sees: tables with spans, links around cards, prices and formulas that are
 * written twice, drawings, and code.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type PageLab, startPageLab } from './test/page-lab.ts';

let lab: PageLab;
before(async () => {
  lab = await startPageLab();
});
after(() => lab?.close());

async function readMarkdown(body: string): Promise<string> {
  const page = await lab.openPage(body);
  const { text } = await page.callOrThrow('read');
  return String(text).replaceAll(page.origin, '');
}

const hiddenStyle = 'position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)';

test('cells that span columns or rows keep the columns of a table aligned, and the caption is read', async () => {
  const table = `<table><caption>Sizes</caption><tr><th rowspan=2>Name<th colspan=2>Values<tr><th>Min<th>Max
    <tr><td rowspan=2>width<td>2<td>8<tr><td>3<td>7<tr><td>all<td colspan=9>any</table>`;
  assert.equal(
    await readMarkdown(table),
    `Sizes

| Name | Values |  |
| --- | --- | --- |
| Name | Min | Max |
| width | 2 | 8 |
| width | 3 | 7 |
| all | any |  |`,
  );
});

test('a grid that is defined only by ARIA roles is read as a table', async () => {
  const rows = ['AB', 'CD'].map(
    (row) => `<div role=row>${[...row].map((c) => `<div role=gridcell>${c}</div>`).join('')}</div>`,
  );
  assert.equal(await readMarkdown(`<div role=grid>${rows.join('')}</div>`), '| A | B |\n| --- | --- |\n| C | D |');
});

test('links around cards and icons keep their addresses', async () => {
  const page = `<ul><li><a href="/p(1)"><div><h3>Lamp</h3><p>A lamp</p></div></a></ul>
    <div><a href="/x"><div>Whole block</div></a></div><a href="/icon" aria-label="Home"><svg></svg></a>`;
  assert.equal(
    await readMarkdown(page),
    `- ### [Lamp](/p%281%29)

  A lamp

[Whole block](/x)

[Home](/icon)`,
  );
});

test('numbers of lists, code and exponents are read as the page shows them', async () => {
  const page = `<ol reversed><li>b<li>a</ol><ol><li value=5>e<li>f</ol><pre class="language-ts"><code>a\`\`\`b</code></pre>
    <code style="display:block;white-space:pre">if x:\n  y</code><p>10<sup>6</sup> m, 1<sup>st</sup></p><code>a\`b</code>
    <div style="white-space:pre-wrap">one\ntwo</div>`;
  assert.equal(
    await readMarkdown(page),
    `2. b
1. a

5. e
6. f

\`\`\`\`ts
a\`\`\`b
\`\`\`\`

\`\`\`
if x:
  y
\`\`\`

10^6 m, 1st

\`\` a\`b \`\`

one

two`,
  );
});

const duplicatedPriceHtml = `<p>Price <span><span style="${hiddenStyle}">$19.99</span><span aria-hidden=true>$<b>19</b>.99</span></span></p>
  <p>Formula <span><span style="${hiddenStyle}"><math><mi>E</mi><annotation encoding="application/x-tex">mc^2</annotation></math></span><span
    aria-hidden=true>mc2</span></span></p><p>Half <math><mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac></math></p>
  <p>icon <span aria-hidden=true>decoration</span></p>`;

test('texts and formulas that a page writes twice are read once, and decoration is not read', async () => {
  const page = await lab.openPage(duplicatedPriceHtml);
  const text = 'Price $19.99\nFormula mc^2\nHalf 1/(a + b)\nicon';
  assert.equal(await page.snapshot(), text);
  const textReadResult = await page.callOrThrow('read', { format: 'text' });
  assert.equal(textReadResult.text, text);
  const [priceMatch] = (await page.callOrThrow('find', { selector: 'p', text: '19.99' })).matches;
  assert.match(priceMatch.line, /Price \$19\.99/);
});

test('texts of drawings are read', async () => {
  const chartSvg = `<svg width=90 height=90 role=img aria-label="Sales"><rect width=9 height=9></rect><text y=20>Jan</text>
    <text y=40>Feb</text></svg> <canvas aria-label="Profit"></canvas><div role=img aria-label="Logo"></div>`;
  assert.equal(await readMarkdown(chartSvg), '![Sales] Jan Feb ![Profit]\n\n![Logo]');
});

test('elements with display: contents have names and refs, and can be clicked', async () => {
  const page = await lab.openPage(
    `<h2 style="display:contents">Head</h2><div><button style="display:contents" onclick="document.title='hit'">Go</button></div>
     <div style="opacity:0"><button style="display:contents">Hidden</button></div>`,
  );
  assert.equal(await page.snapshot(), 'heading "Head" [level=2]\nbutton "Go" [ref=e1]\nbutton [ref=e2]');
  await page.callOrThrow('click', { target: 'e1' });
  assert.equal(await page.evaluateInPage('document.title'), 'hit');
});

test('line breaks and ruby keep words apart, and text can overflow a box without height', async () => {
  const page = await lab.openPage(
    `<p>one<br>two</p><p>最<ruby>高<rt>こう</rt></ruby>です</p><p style="height:0">over</p>`,
  );
  assert.equal(await page.snapshot(), 'one two\n最高こうです\nover');
  assert.equal((await page.callOrThrow('read', { format: 'text' })).text, 'one\ntwo\n最高こうです\nover');
});

test('the newest messages of a long log are in the snapshot', async () => {
  const messages = Array.from({ length: 60 }, (_, i) => `<div>Message number ${i} of the log</div>`).join('');
  const page = await lab.openPage(`<div role=log>${messages}</div>`);
  assert.match(await page.snapshot({ maxTokens: 0 }), /Message number 59/);
});

test('a search covers the end of long texts, and a snapshot reports that it truncated a text', async () => {
  const page = await lab.openPage(`<p>${'word '.repeat(800)}needle</p>${'<li>row</li>'.repeat(1_200)}<li>last</li>`);
  assert.equal((await page.callOrThrow('find', { text: 'needle' })).total, 1);
  assert.equal((await page.callOrThrow('find', { selector: 'li', text: 'last' })).total, 1);
  assert.equal((await page.callOrThrow('snapshot')).shortened, 1);
  const shortPage = await lab.openPage('<p>short</p>');
  assert.equal((await shortPage.callOrThrow('snapshot')).shortened, undefined);
});

test('a page that is too long to be read completely is marked as truncated', async () => {
  const page = await lab.openPage('<main></main>');
  await page.evaluateInPage(`document.querySelector('main').append(...Array.from({ length: 45 }, () => {
    const p = document.createElement('p'); p.textContent = 'word '.repeat(20_000); return p }))`);
  for (const format of ['markdown', 'html']) {
    const firstPart = await page.callOrThrow('read', { format, maxTokens: 1_000 });
    assert.equal(firstPart.cut, true, format);
  }
  assert.equal((await (await lab.openPage('<p>short')).callOrThrow('read')).cut, undefined);
});

test('words and links in a text are never folded, and containers show how much is left out', async () => {
  const links = Array.from({ length: 60 }, (_, i) => `text ${i} <a href="/${i}">link ${i}</a> `).join('');
  const spansHtml = Array.from({ length: 60 }, (_, i) => `<span>w${i}</span>`).join(' ');
  const rows = Array.from({ length: 100 }, (_, i) => `<div>row ${i}</div>`).join('');
  const listItemsHtml = Array.from({ length: 100 }, (_, i) => `<li>item ${i}</li>`).join('');
  const page = await lab.openPage(
    `<p>${links}</p><p>${spansHtml}</p><div style="height:2000px"></div><div>${rows}</div><ul>${listItemsHtml}</ul>`,
  );
  const text = await page.snapshot();
  assert.match(text, /text 30\n ?link "link 30"/);
  assert.match(text, /w19 w20 w21/);
  assert.match(text, /row 19\n… 80 more elements\nlist 100 rows, 20 shown/);
  assert.match(await page.snapshot({ maxTokens: 12_000 }), /list 100 rows, 40 shown/);
});
