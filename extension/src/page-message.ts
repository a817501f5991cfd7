// Defines the messages on the port between the worker and the page script of a frame. Each message is the JSON text of
// a WorkerToPageMessage or a PageToWorkerMessage, split into pieces (text-pieces.ts).

import type { InputRequest } from './page/input-request.ts';
import type { LastUsedNumbers, PageAnswer, PageOperation, PageOperationName, PageProgress } from './page/operations.ts';
import { isRecord } from './record.ts';

/**
 * MaxOperationAgeMs is the maximum age of a message that starts an operation, in milliseconds. The worker ends an
 * operation that has not begun no earlier than 2 s after the message.
 */
export const MaxOperationAgeMs = 1500;

export type WorkerToPageMessage =
  /**
   * Runs an operation in the page script, which answers with the messages 'begun', 'progress' and 'answer'. `after`
   * contains the highest element number and the highest snapshot number that earlier documents of the frame used.
   * `hasInput` is true if the operation can request trusted input. `atMs` is when the worker sent the message, in
   * milliseconds of Date.now(). If the message is older than MaxOperationAgeMs, the page script answers only with 'late',
   * because the worker may have ended the operation.
   */
  | {
      readonly op: 'run';
      readonly id: number;
      readonly operation: PageOperation;
      readonly after: LastUsedNumbers;
      readonly hasInput: boolean;
      readonly atMs: number;
    }
  /** Starts an operation whose message 'run' was late. `atMs` is defined as in 'run'. */
  | { readonly op: 'start'; readonly id: number; readonly atMs: number }
  /**
   * Answers the page script's message 'input'. `isDone` is false if the worker could not send the trusted input to the
   * page.
   */
  | { readonly op: 'inputDone'; readonly input: number; readonly isDone: boolean }
  | { readonly op: 'cancel'; readonly id: number; readonly reason: string }
  | { readonly op: 'ping' };

export type SerializedPageMessage =
  | Exclude<WorkerToPageMessage, { op: 'run' }>
  | {
      readonly op: 'run';
      readonly id: number;
      readonly operation: { readonly name: PageOperationName; readonly prefix: string; readonly arguments: object };
      readonly after: LastUsedNumbers;
      readonly hasInput: boolean;
      readonly atMs: number;
    };

export type PageToWorkerMessage =
  | { readonly op: 'begun'; readonly id: number }
  /** The worker sends the message 'start' if the operation has not ended. */
  | { readonly op: 'late'; readonly id: number }
  | { readonly op: 'progress'; readonly id: number; readonly progress: PageProgress }
  /** Asks the worker to send trusted input to the page: key presses and clicks that scripts cannot imitate. */
  | { readonly op: 'input'; readonly id: number; readonly input: number; readonly request: InputRequest }
  | { readonly op: 'answer'; readonly id: number; readonly answer: PageAnswer; readonly last: LastUsedNumbers }
  | { readonly op: 'pong' };

export type UnvalidatedPageMessage =
  | { readonly op: 'begun' | 'late' | 'pong'; readonly id: number }
  | { readonly op: 'progress'; readonly id: number; readonly progress: unknown }
  | { readonly op: 'input'; readonly id: number; readonly input: number; readonly request: unknown }
  | { readonly op: 'answer'; readonly id: number; readonly answer: unknown; readonly last: LastUsedNumbers };

/**
 * readMessageFromPage validates each answer of a page script, because an attacker could control the process of the
 * page.
 */
export function readMessageFromPage(messageText: string): UnvalidatedPageMessage | undefined {
  const parsedMessage = parseJson(messageText);
  if (!isRecord(parsedMessage)) return undefined;
  const { op, id = 0, progress, input, request, answer, last } = parsedMessage;
  if (typeof id !== 'number') return undefined;
  if (op === 'pong' || op === 'begun' || op === 'late') return { op, id };
  if (op === 'progress') return { op, id, progress };
  if (op === 'input') return typeof input === 'number' ? { op, id, input, request } : undefined;
  return op === 'answer' && isLastUsedNumbers(last) ? { op, id, answer, last } : undefined;
}

/**
 * readMessageToPage only checks the basic form of a WorkerToPageMessage message, because only the worker can send one.
 */
export function readMessageToPage(messageText: string): WorkerToPageMessage | undefined {
  const parsedMessage = parseJson(messageText);
  return isWorkerToPageMessage(parsedMessage) ? parsedMessage : undefined;
}

function isWorkerToPageMessage(value: unknown): value is WorkerToPageMessage {
  if (!isRecord(value)) return false;
  const { op, id, operation, reason, after, hasInput, atMs, input, isDone } = value;
  if (op === 'ping') return true;
  if (op === 'start') return typeof id === 'number' && typeof atMs === 'number';
  if (op === 'inputDone') return typeof input === 'number' && typeof isDone === 'boolean';
  if (op === 'cancel') return typeof id === 'number' && typeof reason === 'string';
  return (
    op === 'run' &&
    typeof id === 'number' &&
    isPageOperation(operation) &&
    isLastUsedNumbers(after) &&
    typeof hasInput === 'boolean' &&
    typeof atMs === 'number'
  );
}

export function isLastUsedNumbers(value: unknown): value is LastUsedNumbers {
  return isRecord(value) && Number.isSafeInteger(value.ref) && Number.isSafeInteger(value.snapshot);
}

function isPageOperation(value: unknown): value is PageOperation {
  if (!isRecord(value)) return false;
  const { name, prefix, arguments: args } = value;
  return (
    typeof name === 'string' && Object.hasOwn(operationNames, name) && typeof prefix === 'string' && isRecord(args)
  );
}

const operationNames: Readonly<Record<PageOperationName, true>> = {
  snapshot: true,
  find: true,
  read: true,
  click: true,
  type: true,
  fill: true,
  select: true,
  hover: true,
  drag: true,
  press: true,
  scroll: true,
  upload: true,
  waitFor: true,
  locate: true,
  describe: true,
  inspect: true,
  facts: true,
  watch: true,
  changes: true,
  lend: true,
  styles: true,
  frameAreas: true,
  storage: true,
  hit: true,
  framePoint: true,
  focusFrame: true,
};

function parseJson(messageText: string): unknown {
  try {
    return JSON.parse(messageText);
  } catch {
    return undefined;
  }
}
