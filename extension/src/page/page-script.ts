// The worker injects the page script into each frame in which browser tools work. The page script serves the operations
// of operations.ts on ports that the worker opens, and does nothing before the first operation.

import { listenToPagePorts, type PagePort } from '../chrome-pages.ts';
import {
  MaxOperationAgeMs,
  type PageToWorkerMessage,
  readMessageToPage,
  type WorkerToPageMessage,
} from '../page-message.ts';
import { splitText, TextJoiner } from '../text-pieces.ts';
import type { InputRequest } from './input-request.ts';
import { continueNumbering, executeOperation, readLastNumbers } from './main.ts';
import type { PageOperation, PageProgress } from './operations.ts';

/** PAGE_SCRIPT_MARK is a global variable in the isolated world of each document in which the page script runs. */
const PAGE_SCRIPT_MARK = 'opentabsPage';

type RunMessage = Extract<WorkerToPageMessage, { op: 'run' }>;

function serveOperations(port: PagePort) {
  const runningOperations = new Map<number, AbortController>();
  /** lateOperations contains the operations whose messages were late, until the worker confirms them. */
  const lateOperations = new Map<number, RunMessage>();
  const inputHandlers = new Map<number, (isDone: boolean) => void>();
  let lastInput = 0;
  const textJoiner = new TextJoiner();
  let isOpen = true;
  const sendMessage = (message: PageToWorkerMessage) => {
    if (isOpen) for (const textPiece of splitText(JSON.stringify(message))) port.post(textPiece);
  };
  /** The worker does not answer the input requests of a cancelled operation. */
  const askInput = async (id: number, request: InputRequest, signal: AbortSignal) => {
    if (signal.aborted || !isOpen) return false;
    const input = ++lastInput;
    return await new Promise<boolean>((resolve) => {
      inputHandlers.set(input, resolve);
      signal.addEventListener('abort', () => resolve(false), { once: true });
      sendMessage({ op: 'input', id, input, request });
    }).finally(() => inputHandlers.delete(input));
  };
  const runOperation = async (id: number, operation: PageOperation, hasInput: boolean) => {
    const controller = new AbortController();
    const { signal } = controller;
    runningOperations.set(id, controller);
    sendMessage({ op: 'begun', id });
    const report = (progress: PageProgress) => sendMessage({ op: 'progress', id, progress });
    const ask = hasInput ? (request: InputRequest) => askInput(id, request, signal) : undefined;
    const answer = await executeOperation(operation, report, signal, ask);
    runningOperations.delete(id);
    sendMessage({ op: 'answer', id, answer, last: readLastNumbers() });
  };
  const startUnlessLate = (message: RunMessage, atMs: number) => {
    const { id } = message;
    if (Date.now() - atMs > MaxOperationAgeMs) {
      lateOperations.set(id, message);
      sendMessage({ op: 'late', id });
      return;
    }
    lateOperations.delete(id);
    continueNumbering(message.after);
    void runOperation(id, message.operation, message.hasInput);
  };
  return {
    onText(textPiece: unknown) {
      const messageText = textJoiner.add(textPiece);
      const message = messageText === undefined ? undefined : readMessageToPage(messageText);
      if (message?.op === 'run') startUnlessLate(message, message.atMs);
      if (message?.op === 'start') {
        const lateOperation = lateOperations.get(message.id);
        if (lateOperation) startUnlessLate(lateOperation, message.atMs);
      }
      if (message?.op === 'inputDone') inputHandlers.get(message.input)?.(message.isDone);
      if (message?.op === 'cancel') {
        lateOperations.delete(message.id);
        runningOperations.get(message.id)?.abort(message.reason);
      }
      if (message?.op === 'ping') sendMessage({ op: 'pong' });
    },
    onDisconnect() {
      isOpen = false;
      // The port closes when the worker stops, and afterwards no call waits for the operations that the worker started.
      for (const controller of runningOperations.values()) controller.abort('the worker of the extension has stopped');
    },
  };
}

// The worker can inject the page script into a document more than once, for example after the worker has restarted.
if (!Reflect.has(globalThis, PAGE_SCRIPT_MARK)) {
  Reflect.set(globalThis, PAGE_SCRIPT_MARK, true);
  listenToPagePorts(serveOperations);
}
