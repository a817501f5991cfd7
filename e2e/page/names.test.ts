/** The page script computes the same accessible names as Chrome's accessibility tree. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { compareNames } from './test/chrome-names.ts';
import { type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

/** For the element with the ID "x" in each page, the tests compare the page script's accessible name with Chrome's. */
const nameTestHtml = `<button id=x>Plain</button>
<button id=x><span>Two</span> <b>parts</b></button>
<button id=x>a<br>b</button>
<button id=x><div>One</div><div>Two</div></button>
<button id=x><svg><title>Gear</title></svg></button>
<button id=x><img src="" alt="Save"></button>
<button id=x><i aria-hidden=true>x</i>Close</button>
<button id=x aria-label="Label wins">Text</button>
<button id=x title="Tip"></button>
<button id=x title="Tip">Text</button>
<button id=x style="text-transform:uppercase">send</button>
<style>#x::before{content:"Note: "}</style><button id=x>this</button>
<style>#x::after{content:" *"}</style><label id=x for=f>Name</label><input id=f>
<button id=x>Visible<span style="display:none">hidden</span></button>
<button id=x>Visible<span style="visibility:hidden">hidden</span></button>
<button id=x><span aria-label="inner label">text</span></button>
<span id=l>By id</span><button id=x aria-labelledby=l>Text</button>
<span id=l>First</span><span id=m>Second</span><button id=x aria-labelledby="l m">Text</button>
<button id=x aria-label="Delete" aria-labelledby="x f">t</button><a id=f href=#>File.pdf</a>
<span id=l hidden>Hidden label</span><button id=x aria-labelledby=l>Text</button>
<label>Age <input id=x type=number></label>
<label for=x>Name</label><input id=x>
<label for=x>First</label><label for=x>Second</label><input id=x>
<input id=x placeholder="Place">
<input id=x title="Tip" placeholder="Place">
<input id=x type=submit>
<input id=x type=reset>
<input id=x type=submit value=Go>
<input id=x type=image alt="Search">
<input id=x type=checkbox aria-label="Check">
<label><input id=x type=checkbox> Remember <b>me</b></label>
<label><input id=x type=radio name=r>Small</label>
<label>Flash <input id=x type=checkbox> the screen <input value=3> times</label>
<select id=x aria-label="Pick"><option>a</option></select>
<label>Size<select id=x><option>S</option><option>M</option></select></label>
<textarea id=x aria-label="Text"></textarea>
<fieldset id=x><legend>Address</legend></fieldset>
<table id=x><caption>Figures</caption><tr><th>a</th></tr></table>
<a id=x href=#>Go <span>there</span></a>
<a id=x href=#><img src="" alt="Logo"> Home</a>
<a id=x href=#><h2>Title</h2><p>Text</p></a>
<h2 id=x>Heading <em>two</em></h2>
<img id=x src="" alt="Picture">
<img id=x src="" title="Tip">
<div id=x role=button tabindex=0>Div button</div>
<div id=x role=checkbox aria-checked=true tabindex=0>Custom</div>
<div id=x role=tab tabindex=0>Tab <span>one</span></div>
<div id=x role=menuitem tabindex=0>Copy<span style="display:block">Ctrl C</span></div>
<nav id=x aria-label="Main"></nav>
<div id=x role=dialog aria-labelledby=t><h2 id=t>Confirm</h2></div>
<details><summary id=x>More</summary></details>
<div id=x role=slider tabindex=0 aria-label="Volume" aria-valuenow=5></div>
<label>Volume<input id=x type=range></label>
<progress id=x aria-label="Upload" value=.5></progress>
<button id=x>Two   spaces
 and lines</button>
<button id=x>\u200bZero\u200b width</button>
<button id=x><input aria-label="field" value="7"> items</button>
<div id=x role=switch tabindex=0 aria-checked=false>Dark <span aria-hidden=true>(beta)</span></div>
<label for=x><span style="position:absolute;clip-path:inset(50%)">Hidden words</span></label><input id=x>
<div id=x contenteditable aria-label="Editor">text</div>`
  .split(
    /\n(?=<(?:style|button|span id=l|label|input|select|textarea|fieldset|table|a|h2|img|div|nav|details|progress))/,
  )
  .filter((line) => line !== '');

test("accessible names equal Chrome's names", async (t) => {
  const page = await pageLab.openPage('<main></main>');
  const { equalNameCount, differentNames } = await compareNames(page, nameTestHtml);
  t.diagnostic(`${equalNameCount} of ${nameTestHtml.length} names equal`);
  assert.ok(
    equalNameCount / nameTestHtml.length >= 0.95,
    `only ${equalNameCount} of ${nameTestHtml.length} names equal:\n${differentNames.join('\n')}`,
  );
  if (differentNames.length > 0) t.diagnostic(differentNames.join('\n'));
});
