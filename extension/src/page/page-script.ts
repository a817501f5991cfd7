// The script that the worker injects into each frame in which browser tools work. The script serves the operations of
// operations.ts on ports of the worker, and runs nothing before the first operation.

import { onPagePort, type PagePort } from '../chrome-pages.ts';
import { type FromPage, readToPage } from '../page-message.ts';
import { splitText, TextJoiner } from '../text-pieces.ts';
import { beginAfter, lastNumbers, run } from './main.ts';
import type { PageOperation } from './operations.ts';

/** MARK is a property of the isolated world of a document in which the page script runs. */
const MARK = 'opentabsPage';

function serve(port: PagePort) {
  const running = new Map<number, AbortController>();
  const joiner = new TextJoiner();
  let isOpen = true;
  const send = (message: FromPage) => {
    if (isOpen) for (const piece of splitText(JSON.stringify(message))) port.post(piece);
  };
  const runOperation = async (id: number, operation: PageOperation) => {
    const controller = new AbortController();
    running.set(id, controller);
    send({ op: 'begun', id });
    const answer = await run(operation, (progress) => send({ op: 'progress', id, progress }), controller.signal);
    running.delete(id);
    send({ op: 'answer', id, answer, last: lastNumbers() });
  };
  return {
    onText(piece: unknown) {
      const text = joiner.add(piece);
      const message = text === undefined ? undefined : readToPage(text);
      if (message?.op === 'run') {
        beginAfter(message.after);
        void runOperation(message.id, message.operation);
      }
      if (message?.op === 'cancel') running.get(message.id)?.abort(message.reason);
      if (message?.op === 'ping') send({ op: 'pong' });
    },
    onDisconnect() {
      isOpen = false;
      // After a restart of the worker, no call waits for the operations of the old worker.
      for (const controller of running.values()) controller.abort('the worker of the extension has stopped');
    },
  };
}

// The worker may inject the script more than once, for example after its restart.
if (!Reflect.has(globalThis, MARK)) {
  Reflect.set(globalThis, MARK, true);
  onPagePort(serve);
}
