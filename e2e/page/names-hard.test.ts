/**
 * Even in difficult cases, the page script computes the same accessible names as Chrome's accessibility tree.
 */
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
const nameTestHtml = [
  // These pages test accessible names from aria-labelledby: chains, order, missing, hidden and circular references.
  '<span id=a aria-labelledby=b>A</span><span id=b>B</span><button id=x aria-labelledby=a>t</button>',
  '<span id=a aria-label="Label of A">A</span><button id=x aria-labelledby=a>t</button>',
  '<span id=a>One</span><span id=b>Two</span><button id=x aria-labelledby="b gone a b">t</button>',
  '<button id=x aria-labelledby="gone">Own text</button>',
  '<button id=x aria-labelledby="" aria-label="Label">t</button>',
  '<button id=x aria-label="  ">Text</button>',
  '<div id=a>Shown <span style="display:none">not shown</span></div><button id=x aria-labelledby=a></button>',
  '<div id=a><img alt="Logo" src=""> of <b>us</b></div><button id=x aria-labelledby=a></button>',
  '<input id=a value="Typed"><button id=x aria-labelledby=a>t</button>',
  '<select id=a><option>One<option selected>Two</select><button id=x aria-labelledby=a>t</button>',
  '<h2 id=a>Files</h2><ul id=x aria-labelledby=a><li>One</ul>',
  // These pages test accessible names from label elements.
  '<label for=x>Size <select><option>S<option selected>M</select> wide</label><input id=x type=checkbox>',
  '<label for=x>Repeat <input type=number value=3> times</label><input id=x type=checkbox>',
  '<label for=x>Level <span role=slider aria-valuenow=4 aria-valuetext="four" tabindex=0></span> of 5</label><input id=x type=checkbox>',
  '<label for=x>Write <span role=textbox contenteditable>some text</span> here</label><input id=x type=checkbox>',
  '<label>Outer <label>Inner <input id=x></label></label>',
  '<label title="Tip"><input id=x type=radio></label>',
  '<label><img src="" alt="Visa"> <input id=x type=radio></label>',
  '<label>Name<input id=x aria-label="Label wins"></label>',
  '<label for=x>Text</label><input id=x aria-labelledby=gone>',
  '<label for=x><span>First</span><span>Second</span></label><input id=x>',
  '<label for=x>Line one<br>line two</label><textarea id=x></textarea>',
  '<label for=x><div>Block one</div><div>Block two</div></label><input id=x>',
  '<label for=x>Agree to <a href=#>the terms</a></label><input id=x type=checkbox>',
  // These pages test accessible names of inputs of all types.
  '<input id=x type=button value="Push">',
  '<input id=x type=button title="Tip">',
  '<input id=x type=image src="" alt="" title="Send it">',
  '<input id=x type=image src="">',
  '<input id=x type=file aria-label="Picture">',
  '<label>Born <input id=x type=date></label>',
  '<label>Colour <input id=x type=color></label>',
  '<input id=x type=email placeholder="you@example.com">',
  '<input id=x type=search aria-placeholder="Find" placeholder="Search">',
  '<input id=x type=password placeholder="Secret" title="Password">',
  '<textarea id=x placeholder="Your words"></textarea>',
  '<div id=x role=textbox contenteditable aria-placeholder="Message" tabindex=0></div>',
  '<button id=x><input type=submit value=inner hidden>Outer</button>',
  // These pages test accessible names from text alternatives such as alt.
  '<button id=x><svg role=img aria-label="Star"></svg> Rate</button>',
  '<button id=x><svg><title>Cog</title><path d=""/></svg><span> settings</span></button>',
  '<svg id=x role=img width=9 height=9><title>Chart</title><desc>Sales</desc></svg>',
  '<a id=x href=#><svg width=9 height=9><title>Home</title></svg></a>',
  '<img id=x src="" alt="" title="Tip" aria-label="Label">',
  '<button id=x><img src="" alt=""><img src="" title="From title"></button>',
  '<a id=x href=# title="Tip"><img src="" alt=""></a>',
  '<table id=x><caption>Sales <i>by month</i></caption><tr><td>1</table>',
  '<table id=x title="Tip" aria-label="Label"><caption>Caption</caption><tr><td>1</table>',
  '<fieldset id=x aria-label="Label"><legend>Legend</legend></fieldset>',
  '<fieldset id=x><legend>Ship <b>to</b></legend><input></fieldset>',
  '<fieldset id=x title="Tip"><input></fieldset>',
  '<iframe id=x title="Map" srcdoc="x"></iframe>',
  '<meter id=x title="Disk" value=.5></meter>',
  '<label>Volume <output id=x>5</output></label>',
  '<details open><summary id=x>More <b>facts</b></summary>x</details>',
  '<select aria-label=s><optgroup id=x label="Group"><option>a</optgroup></select>',
  '<select aria-label=s size=3><option id=x label="Label">Text</option></select>',
  // These pages test accessible names from content that CSS generates.
  '<style>#x::before{content:"New "}#x::after{content:" item"}</style><button id=x>order</button>',
  '<style>#x::before{content:url(data:,) / "Alt text"}</style><button id=x></button>',
  '<style>#x::before{content:"\\2605" / "starred"}</style><button id=x> mail</button>',
  '<style>#x::before{content:"hidden";display:none}</style><button id=x>Shown</button>',
  '<style>#x span::before{content:"in "}</style><button id=x><span>side</span></button>',
  '<style>#x::before{content:attr(data-n)}</style><button id=x data-n="7 "> left</button>',
  // These pages test accessible names with slots and shadow roots.
  '<x-host>Light text<template shadowrootmode=open><button id=x><slot></slot></button></template></x-host>',
  '<x-host><template shadowrootmode=open><button id=x><slot>Fallback</slot> now</button></template></x-host>',
  '<x-host><b slot=n>Named</b>rest<template shadowrootmode=open><button id=x><slot name=n></slot>: <slot></slot></button></template></x-host>',
  '<button id=x><x-host><template shadowrootmode=open><span>In shadow</span></template></x-host></button>',
  // These pages test accessible names with aria-owns and presentational content.
  '<div id=x role=button tabindex=0 aria-owns=o>Own </div><span id=o>owned</span>',
  '<button id=x><span role=presentation>Presented</span> <span role=none>none</span></button>',
  '<button id=x><ul><li>Item one</li><li>Item two</li></ul></button>',
  '<div role=listbox aria-label=l><div id=x role=option tabindex=0><span>A</span><span>B</span></div></div>',
  '<div id=x role=row tabindex=0><span role=cell>One</span><span role=cell>Two</span></div>',
  '<div role=tree aria-label=t><div id=x role=treeitem tabindex=0>Top</div></div>',
  '<div id=x role=menuitemcheckbox aria-checked=true tabindex=0>Wrap <kbd>Alt Z</kbd></div>',
  '<div id=x role=combobox tabindex=0 aria-label="City" aria-expanded=false>London</div>',
  '<div id=x role=heading aria-level=2>Chapter <a href=#>one</a></div>',
  '<div id=x role=tooltip>Tip <b>text</b></div>',
  '<div id=x role=alert>Saved</div>',
  '<div id=x role=progressbar title="Loading" aria-valuenow=3></div>',
  '<div id=x role=group title="Tip">Text</div>',
  '<span id=x role=img aria-label="Smile">:)</span>',
  '<math id=x aria-label="Sum"><mi>a</mi></math>',
  '<abbr id=x title="World Wide Web" tabindex=0>WWW</abbr>',
  '<button id=x>Copy<span style="position:absolute;left:-9999px"> to clipboard</span></button>',
  '<button id=x><span style="display:inline-block">in</span><span style="display:inline-block">line</span></button>',
  '<a id=x href=#>Read <span aria-label="more about cats">more</span></a>',
  '<button id=x style="font-variant:small-caps">Small <span style="text-transform:capitalize">caps</span></button>',
  '<th id=x>no table</th><p id=x tabindex=0 aria-label="Par">text</p>',
];

/** namesUnlikeChrome lists HTML for which the page script deliberately computes another accessible name than Chrome. */
const namesUnlikeChrome: readonly (readonly [html: string, name: string])[] = [
  // Unlike Chrome, the page script omits from a name the hidden parts of a hidden label.
  ['<div id=a hidden>Out <span hidden>in</span></div><button id=x aria-labelledby=a>t</button>', 'Out'],
  [
    '<div id=a style="display:none">Shown <span aria-hidden=true>hidden part</span></div><button id=x aria-labelledby=a></button>',
    'Shown',
  ],
  // The page script omits from an accessible name the characters that Chrome does not draw, such as soft hyphens.
  ['<button id=x>a<!-- c -->b<wbr>c&shy;d</button>', 'abcd'],
  // The specification HTML-AAM derives the name of a figure from its caption, and the name of a video from its title.
  ['<figure id=x><img src="" alt="Cat"><figcaption>A <b>cat</b></figcaption></figure>', 'A cat'],
  ['<video id=x title="Film" controls></video>', 'Film'],
];

test("some accessible names deliberately differ from Chrome's names", async () => {
  const page = await pageLab.openPage('<main></main>');
  for (const [html, name] of namesUnlikeChrome) {
    await page.evaluateInPage(`document.body.setHTMLUnsafe(${JSON.stringify(html)})`);
    const { matches } = await page.callOrThrow('find', { selector: '#x' });
    assert.equal((await page.callOrThrow('describe', { target: matches[0].ref })).elementName, name, html);
  }
});

test("accessible names in difficult cases equal Chrome's names", async (t) => {
  const page = await pageLab.openPage('<main></main>');
  const { equalNameCount, differentNames } = await compareNames(page, nameTestHtml);
  t.diagnostic(`${equalNameCount} of ${nameTestHtml.length} names equal`);
  if (differentNames.length > 0) t.diagnostic(differentNames.join('\n'));
  assert.ok(
    equalNameCount / nameTestHtml.length >= 0.95,
    `only ${equalNameCount} of ${nameTestHtml.length} names equal:\n${differentNames.join('\n')}`,
  );
});
