/** Measures the lower bound ("floor") for the duration of a browser tool, without daemon, permission checks and MCP. */
import type { Browser } from '../../harness/browser.ts';

export async function measureBaseline(
  browser: Browser,
  tabId: number,
  operation: { readonly name: string; readonly arguments: object },
  roundCount: number,
): Promise<readonly number[]> {
  const roundTimes = await browser.withWorkerSession((worker) =>
    worker.evaluate(`(async () => {
      const [{ documentId }] = await chrome.scripting.executeScript({ target: { tabId: ${tabId} }, files: ['page.js'], injectImmediately: true });
      const port = chrome.tabs.connect(${tabId}, { documentId, name: 'page' });
      const operation = ${JSON.stringify({ prefix: '', ...operation })};
      const times = [];
      for (let id = 1; id <= ${roundCount}; id++) {
        const beganMs = performance.now();
        await new Promise((resolve, reject) => {
          let text = '';
          const receive = (piece) => {
            text += piece.slice(1);
            if (piece[0] === '+') return;
            const { op, answer } = JSON.parse(text);
            text = '';
            if (op !== 'answer') return;
            port.onMessage.removeListener(receive);
            if (answer.ok) resolve();
            else reject(new Error(answer.error.message));
          };
          port.onMessage.addListener(receive);
          port.postMessage('.' + JSON.stringify({ op: 'run', id, operation, after: { ref: 0, snapshot: 0 }, hasInput: false }));
        });
        times.push(performance.now() - beganMs);
      }
      port.disconnect();
      return times;
    })()`),
  );
  if (!Array.isArray(roundTimes)) throw new Error('the worker returned no times');
  return roundTimes.map(Number);
}
