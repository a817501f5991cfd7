/** Tests browser tools on elements that users recognize only by their color, shape, cursor or movement. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { parseRef } from './agent-fixture.ts';
import { type FaultBrowserFixture, startFaultBrowserFixture } from './raw-fixture.ts';

for (const [level, installFlags] of [
  ['without the debugger', []],
  ['with the debugger', ['--debugger']],
] as const) {
  let fixture: FaultBrowserFixture;

  before(async () => {
    fixture = await startFaultBrowserFixture(...installFlags);
  });
  after(() => fixture?.close());

  async function openPage(path: string, html: string): Promise<string> {
    fixture.setPage(path, html);
    await fixture.callTool('browser_tabs', { action: 'new', url: `${fixture.shopOrigin}${path}` });
    return fixture.callTool('browser_snapshot');
  }

  test(`${level}, a drag by an offset moves a handle by the same number of pixels`, async () => {
    const snapshot = await openPage(
      '/offset',
      `<div id="knob" style="position: absolute; left: 100px; top: 100px; width: 20px; height: 20px; background: red;
         cursor: grab"></div><script>
         let grabbedAt;
         knob.onpointerdown = ({ clientX, clientY }) => { grabbedAt = [clientX - knob.offsetLeft, clientY - knob.offsetTop] };
         addEventListener('pointermove', ({ clientX, clientY }) => { if (!grabbedAt) return;
           knob.style.left = clientX - grabbedAt[0] + 'px'; knob.style.top = clientY - grabbedAt[1] + 'px' });
         addEventListener('pointerup', () => { grabbedAt = undefined })</script>`,
    );
    const startTarget = parseRef(snapshot, 'color=#ff0000');
    assert.match(snapshot, /\[draggable\]/);
    const answer = await fixture.callTool('browser_drag', { startTarget, offset: { x: 60, y: -35 } });
    assert.match(answer, /^Dragged e\d+ by 60, -35/);
    assert.deepEqual(await fixture.evaluateInPage('/offset', '[knob.offsetLeft, knob.offsetTop]'), [160, 65]);
    for (const [args, reason] of [
      [{ startTarget }, /needs endTarget, or an offset/],
      [{ startTarget, offset: { x: -900, y: 0 } }, /outside of the visible part.*smaller offset/s],
      [{ startTarget, endTarget: startTarget }, /use offset/],
    ] as const) {
      const outcome = await fixture.client.call('browser_drag', args);
      assert.equal(outcome.code, 'invalid_arguments', outcome.text);
      assert.match(outcome.text, reason);
    }
  });

  test(`${level}, boxes without text are listed with their color and clicked`, async () => {
    const snapshot = await openPage(
      '/boxes',
      `<style>.box { width: 30px; height: 30px }</style><div class="box" style="background: #00ff00"></div>
       <div class="box" style="border: 1px solid blue"></div><div class="box"></div>
       <script>window.clicked = []; for (const box of document.querySelectorAll('.box'))
         box.addEventListener('click', () => clicked.push(box.style.background || box.style.border))</script>`,
    );
    assert.equal(snapshot.match(/^ *-? ?box /gm)?.length, 2, snapshot);
    await fixture.callTool('browser_click', { target: parseRef(snapshot, 'color=#00ff00') });
    assert.deepEqual(await fixture.evaluateInPage('/boxes', 'clicked'), ['rgb(0, 255, 0)']);
  });

  test(`${level}, an element that moves all the time is clicked`, async () => {
    const snapshot = await openPage(
      '/ticker',
      `<button id="news" style="position: relative; width: 200px; height: 80px">News</button><p id="count">0</p><script>
         let x = 0; setInterval(() => { x = (x + 1) % 20; news.style.left = x + 'px' }, 20);
         news.onclick = () => { count.textContent = 'opened' }</script>`,
    );
    await fixture.callTool('browser_click', { target: parseRef(snapshot, 'button "News"') });
    assert.equal(await fixture.evaluateInPage('/ticker', 'count.textContent'), 'opened');
  });

  test(`${level}, a search finds one word in a line of words that are separate elements`, async () => {
    await openPage(
      '/words',
      `<p id="line"><span>Lorem</span> <span>ipsum</span> <span>dolor</span></p>
       <script>line.onclick = ({ target }) => { document.title = target.textContent }</script>`,
    );
    const matches = await fixture.callTool('browser_find', { text: 'ipsum' });
    await fixture.callTool('browser_click', { target: parseRef(matches, 'ipsum') });
    assert.equal(await fixture.evaluateInPage('/words', 'document.title'), 'ipsum');
  });
}
